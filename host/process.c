/* SPDX-License-Identifier: Apache-2.0
 *
 * process.c - the mark of a process that uses OpenCL.
 *
 * A child may have its parent's process id: the first of a new namespace, or
 * long after the parent's end.  So the mark lies in a page that the kernel wipes
 * in children.  The id tells where there is no such page (Linux before 4.14), and
 * after vfork(), whose child has its parent's memory.
 */
#define _GNU_SOURCE /* madvise */
#include "process.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LARGEST_PAGE = 1 << 16,
    MARKED = 1
};

enum page {
    PAGE_UNKNOWN,
    PAGE_KEPT, /* children get a copy */
    PAGE_WIPED
};

/* Holds a whole page wherever it lies. */
static volatile unsigned char room[2 * LARGEST_PAGE];

static volatile unsigned char *mark_at(size_t page_bytes)
{
    return room + (page_bytes - (uintptr_t)room % page_bytes) % page_bytes;
}

/* The same however often it is done. */
static enum page mark_page(size_t page_bytes)
{
#ifdef MADV_WIPEONFORK
    volatile unsigned char *const mark = mark_at(page_bytes);
    if (page_bytes <= LARGEST_PAGE &&
        madvise((void *)mark, page_bytes, MADV_WIPEONFORK) == 0) {
        *mark = MARKED;
        return PAGE_WIPED;
    }
#endif
    return PAGE_KEPT;
}

static bool has_mark(void)
{
    static atomic_int page = PAGE_UNKNOWN;
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (atomic_load(&page) == PAGE_UNKNOWN)
        atomic_store(&page, (int)mark_page(page_bytes));
    return atomic_load(&page) != PAGE_WIPED || *mark_at(page_bytes) == MARKED;
}

bool process_may_use_opencl(void)
{
    static atomic_long first = 0;
    long none = 0;
    const long self = (long)getpid();
    if (!atomic_compare_exchange_strong(&first, &none, self) && none != self)
        return false;
    return has_mark();
}
