/* SPDX-License-Identifier: Apache-2.0
 *
 * guard_page.c - buffers that end where a page ends which has none behind it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "guard_page.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opencl.h"

typedef struct pages {
    char *first;
    size_t bytes; /* with the one that nobody may touch */
} pages;

/* Returns where `bytes` bytes begin that end before the last page. */
static char *pages_map(pages *p, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t data = (bytes + page - 1) / page * page;
    p->bytes = data + page;
    p->first = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(p->first != MAP_FAILED);
    ck_assert_int_eq(mprotect(p->first + data, page, PROT_NONE), 0);
    return p->first + data - bytes;
}

static void CL_CALLBACK pages_unmap(cl_mem buffer, void *user)
{
    pages *p = user;
    (void)buffer;
    munmap(p->first, p->bytes);
    free(p);
}

cl_mem guard_page_buffer(const void *data, size_t bytes)
{
    cl_int code = CL_SUCCESS;
    pages *p = malloc(sizeof *p);
    ck_assert_ptr_nonnull(p);
    char *begin = pages_map(p, bytes);
    cl_mem buffer = clCreateBuffer(opencl_get()->cl,
        CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, bytes, begin, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    code = clSetMemObjectDestructorCallback(buffer, pages_unmap, p);
    ck_assert_int_eq(code, CL_SUCCESS);
    /* Through OpenCL: oclgrind takes what it has not seen written for unset. */
    code = clEnqueueWriteBuffer(
        opencl_get()->in_order, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    return buffer;
}
