/* SPDX-License-Identifier: Apache-2.0
 *
 * version.c - what the library calls itself.
 */
#include "clattn/clattn.h"

#ifndef CLATTN_COMMIT
#define CLATTN_COMMIT "unknown commit"
#endif

#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)

uint32_t clattn_version(void)
{
    return 10000u * CLATTN_VERSION_MAJOR + 100u * CLATTN_VERSION_MINOR +
           CLATTN_VERSION_PATCH;
}

const char *clattn_version_text(void)
{
    return TEXT(CLATTN_VERSION_MAJOR) "." TEXT(CLATTN_VERSION_MINOR) "." TEXT(
        CLATTN_VERSION_PATCH) " (" CLATTN_COMMIT ")";
}
