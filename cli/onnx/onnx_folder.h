/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_folder.h - the cases of a folder by their names.
 */
#ifndef CLATTN_CLI_ONNX_FOLDER_H
#define CLATTN_CLI_ONNX_FOLDER_H

#include <stddef.h>

#include "failure.h"

typedef struct onnx_folder {
    char **name; /* in order */
    size_t count;
} onnx_folder;

/* Every folder in `root` whose name does not begin with '.' or '_' is a case;
   none is a failure.  To be freed in either case; *list begins as zeros. */
bool onnx_folder_list(onnx_folder *list, const char *root, failure *f);
void onnx_folder_free(onnx_folder *list);

#endif
