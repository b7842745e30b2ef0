/* SPDX-License-Identifier: Apache-2.0
 *
 * source.h - the text of a kernel file with its includes put in.
 */
#ifndef CLATTN_HOST_SOURCE_H
#define CLATTN_HOST_SOURCE_H

#include "clattn/clattn.h"

/*
 * *text is the caller's to free.  Lines `#include "x"` are replaced by file x
 * of the same origin: the sources in the library or, if `directory` is not
 * empty, that folder.  #line directives make a build log point into the files.
 */
clattn_status source_assemble(
    char **text, const char *file, const char *directory, clattn_error *error);

#endif
