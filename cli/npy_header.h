/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_header.h - the header of an .npy file: a Python dict literal that names
 * dtype, order and shape.
 */
#ifndef CLATTN_CLI_NPY_HEADER_H
#define CLATTN_CLI_NPY_HEADER_H

#include "npy.h"

typedef struct npy_header {
    char descr[48]; /* "<f4": printable, cut where it is too long to be known */
    bool fortran_order;
    size_t rank;
    size_t size[NPY_MAX_RANK];
} npy_header;

/*
 * Read {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }: the three
 * keys once each in any order, either quotes, white space and last commas as
 * Python allows them, sizes with the L of Python 2.  Everything else is
 * refused.  `text` needs no terminating 0.
 */
bool npy_header_parse(npy_header *header, const char *text, size_t bytes,
    const char *path, failure *f);

#endif
