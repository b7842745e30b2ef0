/* SPDX-License-Identifier: Apache-2.0
 *
 * operations.h - the launches of each operation, on a call whose operands lie
 * in device memory and whose workspace is in place.
 */
#ifndef CLATTN_HOST_OPERATIONS_H
#define CLATTN_HOST_OPERATIONS_H

#include "call.h"

clattn_status attention_chain(call *c, clattn_error *error);
clattn_status linear_chain(call *c, clattn_error *error);
clattn_status layer_chain(call *c, clattn_error *error);

#endif
