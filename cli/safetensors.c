/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors.c - named tensors in Hugging Face's .safetensors files.
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clattn/clattn.h"
#include "text.h"
#include "safetensors_entry.h"
#include "to_f32.h"

/* As the format's reference has it. */
#define MAX_HEADER_BYTES 100000000u
#define LENGTH_BYTES     8u

struct safetensors {
    void *map;
    size_t map_bytes;
    json_t *header;
    const json_t *metadata; /* an object of strings, or NULL */
    safetensor *tensor;
    size_t count;
};

/* What the steps of opening share. */
typedef struct reader {
    safetensors *file;
    entry_reader in;
} reader;

/* ---- The file ------------------------------------------------------------ */

static bool check_size(reader *r, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail(
            r->in.f, "%s: cannot be read: %s", r->in.path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail(
            r->in.f, "%s: is a folder, not a .safetensors file", r->in.path);
    if (!S_ISREG(status.st_mode))
        return fail(r->in.f,
            "%s: is no regular file, and only such a one can be mapped",
            r->in.path);
    if (status.st_size < (off_t)LENGTH_BYTES)
        return fail(r->in.f,
            "%s: has %jd bytes, but a .safetensors file has 8 and a header",
            r->in.path, (intmax_t)status.st_size);
    if ((uintmax_t)status.st_size > PTRDIFF_MAX)
        return fail(r->in.f, "%s: has %jd bytes, more than can be mapped",
            r->in.path, (intmax_t)status.st_size);
    r->file->map_bytes = (size_t)status.st_size;
    return true;
}

static bool map_file(reader *r)
{
    /* Without O_NONBLOCK a named pipe would wait for its writer. */
    int fd = open(r->in.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return fail(
            r->in.f, "%s: cannot be read: %s", r->in.path, strerror(errno));
    bool ok = check_size(r, fd);
    if (ok) {
        void *map =
            mmap(NULL, r->file->map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = map != MAP_FAILED;
        if (ok)
            r->file->map = map;
        else
            fail(r->in.f, "%s: cannot be mapped: %s", r->in.path,
                strerror(errno));
    }
    close(fd);
    return ok;
}

static bool find_header(reader *r, const char **text, size_t *bytes)
{
    const unsigned char *map = r->file->map;
    uint64_t length = 0;
    for (size_t i = LENGTH_BYTES; i-- > 0;)
        length = length << 8 | map[i];
    size_t rest = r->file->map_bytes - LENGTH_BYTES;
    if (length > MAX_HEADER_BYTES)
        return fail(r->in.f,
            "%s: the header is to have %" PRIu64
            " bytes, but at most %u are allowed",
            r->in.path, length, MAX_HEADER_BYTES);
    if (length > rest)
        return fail(r->in.f,
            "%s: the header is to have %" PRIu64
            " bytes, but %zu follow its length",
            r->in.path, length, rest);
    *text = (const char *)map + LENGTH_BYTES;
    *bytes = (size_t)length;
    r->in.data = *text + *bytes;
    r->in.data_bytes = rest - *bytes;
    if (length == 0 || **text != '{')
        return fail(
            r->in.f, "%s: the header does not begin with '{'", r->in.path);
    return true;
}

static bool parse_header(reader *r)
{
    json_error_t error;
    const char *text = NULL;
    size_t bytes = 0;
    if (!find_header(r, &text, &bytes))
        return false;
    errno = 0;
    r->file->header = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    if (r->file->header)
        return true;
    /* What the parser says then blames the file, or is empty. */
    if (errno == ENOMEM)
        return fail(r->in.f, "%s: no memory for a header of %zu bytes",
            r->in.path, bytes);
    text_clean(error.text); /* it may quote the file */
    return fail(r->in.f, "%s: damaged header: %s, at byte %d of it", r->in.path,
        error.text, error.position);
}

/* ---- All tensors --------------------------------------------------------- */

static bool read_metadata(const reader *r, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return fail(r->in.f, "%s: __metadata__ is no object", r->in.path);
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return fail(r->in.f,
                "%s: __metadata__ holds something else than "
                "strings",
                r->in.path);
    }
    r->file->metadata = metadata;
    return true;
}

static bool read_entries(const reader *r)
{
    const char *name;
    json_t *entry;
    safetensors *file = r->file;
    file->tensor =
        calloc(json_object_size(file->header) + 1, sizeof *file->tensor);
    if (!file->tensor)
        return fail(r->in.f, "%s: no memory for %zu tensors", r->in.path,
            json_object_size(file->header));
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            if (!read_metadata(r, entry))
                return false;
        } else if (safetensors_entry_read(
                       &file->tensor[file->count], &r->in, name, entry)) {
            ++file->count;
        } else {
            return false;
        }
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const safetensor *left = a, *right = b;
    if (left->data != right->data)
        return (const char *)left->data < (const char *)right->data ? -1 : 1;
    return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static int by_name(const void *a, const void *b)
{
    const safetensor *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* The format wants every byte in one tensor: what overlaps is a trick, and a
   hole may hide something. */
static bool check_coverage(const reader *r)
{
    const safetensors *file = r->file;
    size_t covered = 0;
    for (size_t i = 0; i < file->count; ++i) {
        const safetensor *t = &file->tensor[i];
        size_t begin = (size_t)((const char *)t->data - r->in.data);
        if (begin < covered)
            return fail(r->in.f, "%s: tensors \"%s\" and \"%s\" overlap",
                r->in.path, file->tensor[i - 1].name, t->name);
        if (begin > covered)
            return fail(r->in.f,
                "%s: bytes %zu to %zu of the data belong to no tensor",
                r->in.path, covered, begin);
        covered = begin + t->bytes;
    }
    if (covered != r->in.data_bytes)
        return fail(r->in.f,
            "%s: the tensors take %zu bytes, but the file has %zu bytes of "
            "data",
            r->in.path, covered, r->in.data_bytes);
    return true;
}

safetensors *safetensors_open(const char *path, failure *f)
{
    reader r = {.in = {.path = path, .f = f}};
    r.file = calloc(1, sizeof *r.file);
    if (!r.file) {
        fail(f, "%s: no memory", path);
        return NULL;
    }
    bool ok = map_file(&r) && parse_header(&r) && read_entries(&r);
    if (ok) {
        qsort(r.file->tensor, r.file->count, sizeof *r.file->tensor, by_place);
        ok = check_coverage(&r);
    }
    if (!ok) {
        safetensors_close(r.file);
        return NULL;
    }
    qsort(r.file->tensor, r.file->count, sizeof *r.file->tensor, by_name);
    return r.file;
}

void safetensors_close(safetensors *file)
{
    if (!file)
        return;
    if (file->map)
        munmap(file->map, file->map_bytes);
    json_decref(file->header);
    free(file->tensor);
    free(file);
}

/* ---- Reading ------------------------------------------------------------- */

size_t safetensors_count(const safetensors *file)
{
    return file->count;
}

const safetensor *safetensors_at(const safetensors *file, size_t index)
{
    return index < file->count ? &file->tensor[index] : NULL;
}

const safetensor *safetensors_find(const safetensors *file, const char *name)
{
    const safetensor key = {.name = name};
    return bsearch(
        &key, file->tensor, file->count, sizeof *file->tensor, by_name);
}

const char *safetensors_metadata(const safetensors *file, const char *key)
{
    return json_string_value(json_object_get(file->metadata, key));
}

float *safetensor_to_f32(const safetensor *tensor, failure *f)
{
    char owner[512];
    snprintf(owner, sizeof owner, "tensor \"%s\"", tensor->name);
    if (!tensor->dtype) {
        fail(f, "%s: dtype %s, but F32, F16, BF16 or F64 is needed", owner,
            tensor->dtype_name);
        return NULL;
    }
    float *values = calloc(tensor->count ? tensor->count : 1, sizeof *values);
    if (!values) {
        fail(f, "%s: no memory for %zu f32 values", owner, tensor->count);
        return NULL;
    }
    if (!to_f32(values, tensor->data, tensor->dtype, tensor->count, owner, f)) {
        free(values);
        return NULL;
    }
    return values;
}
