/* SPDX-License-Identifier: Apache-2.0
 *
 * json_text.h - texts of drivers as JSON strings.
 */
#ifndef CLATTN_CLI_JSON_TEXT_H
#define CLATTN_CLI_JSON_TEXT_H

#include <jansson.h>

/* Drivers may say anything, but JSON is UTF-8, and is shown in terminals: what
   is none, and controls, become "?".  NULL without memory. */
json_t *json_text(const char *text);

#endif
