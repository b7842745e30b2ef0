# SPDX-License-Identifier: Apache-2.0
"""What tools/budget is made of."""
