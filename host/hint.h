/* SPDX-License-Identifier: Apache-2.0
 *
 * hint.h - what a platform needs of its surroundings and does not say itself,
 * for messages alone: nothing is decided by it.
 */
#ifndef CLATTN_HOST_HINT_H
#define CLATTN_HOST_HINT_H

/* Of a platform, by its name, that shows no devices, and of one whose compiler
   fails without telling an error; "" where nothing is known. */
const char *hint_no_devices(const char *platform);
const char *hint_no_build(const char *platform);

#endif
