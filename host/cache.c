/* SPDX-License-Identifier: Apache-2.0
 *
 * cache.c - bytes kept in files between processes.
 *
 * A file is <SHA-256 of the key in hex>.bin and holds, integers little-endian:
 *
 *   offset  bytes
 *        0      8  magic "clattn\r\n"
 *        8      4  format, FORMAT
 *       12      4  K, bytes of the key
 *       16      8  N, bytes of the data
 *       24     32  SHA-256 of all that comes before and after it
 *       56      K  the key, text that tells a person what this is
 *     56+K      N  the data
 *
 * A change of it is a new FORMAT; whoever finds another one takes the file for
 * missing and replaces it.  Files are written under another name and renamed, so
 * that processes need no lock: the last one wins, and all of them are right.
 * The time of a file's last change is that of its last use.
 */
#include "cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "sha256.h"

enum {
    FORMAT = 1,
    FORMAT_AT = 8,
    KEY_BYTES_AT = 12,
    DATA_BYTES_AT = 16,
    DIGEST_AT = 24,
    HEADER_BYTES = DIGEST_AT + SHA256_BYTES,
    STALE_SECONDS = 3600 /* no write takes so long: who began it was killed */
};

#define SUFFIX ".bin"

static const unsigned char MAGIC[FORMAT_AT] = {
    'c', 'l', 'a', 't', 't', 'n', '\r', '\n'};

static void entry_name(char name[FOLDER_NAME], const char *key)
{
    char text[SHA256_TEXT];
    sha256_text(text, key, strlen(key));
    snprintf(name, FOLDER_NAME, "%s" SUFFIX, text);
}

/* Whether it is a name that entry_name makes. */
static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == SHA256_TEXT - 1 &&
           strcmp(name + SHA256_TEXT - 1, SUFFIX) == 0;
}

/* "the folder/name why", or nothing if there is nothing to say. */
static void make_note(
    char note[CACHE_NOTE], const cache *c, const char *name, const char *why)
{
    note[0] = '\0';
    if (why[0] != '\0')
        snprintf(note, CACHE_NOTE, "%s%s%s %s", c->folder,
            name[0] != '\0' ? "/" : "", name, why);
}

/* ---- One file ------------------------------------------------------------ */

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static void digest_of(unsigned char digest[SHA256_BYTES],
    const unsigned char *header, const void *key, size_t key_bytes,
    const void *data, size_t data_bytes)
{
    sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, header, DIGEST_AT);
    sha256_add(&hash, key, key_bytes);
    sha256_add(&hash, data, data_bytes);
    sha256_end(&hash, digest);
}

static void write_header(unsigned char header[HEADER_BYTES], const char *key,
    const void *data, size_t data_bytes)
{
    memcpy(header, MAGIC, sizeof MAGIC);
    put(header + FORMAT_AT, FORMAT, 4);
    put(header + KEY_BYTES_AT, strlen(key), 4);
    put(header + DATA_BYTES_AT, data_bytes, 8);
    digest_of(header + DIGEST_AT, header, key, strlen(key), data, data_bytes);
}

/* Why a file is not what was kept under `key`; "" if it is. */
static const char *fault_of(
    const unsigned char *file, size_t bytes, const char *key)
{
    unsigned char digest[SHA256_BYTES];
    const size_t key_bytes = strlen(key);

    if (bytes < HEADER_BYTES)
        return "is cut short";
    if (memcmp(file, MAGIC, sizeof MAGIC) != 0)
        return "is no file of the cache";
    if (get(file + FORMAT_AT, 4) != FORMAT)
        return "has another format";
    const size_t rest = bytes - HEADER_BYTES;
    const uint64_t key_told = get(file + KEY_BYTES_AT, 4);
    const uint64_t data_told = get(file + DATA_BYTES_AT, 8);
    if (key_told > rest || data_told > rest - key_told)
        return "is cut short";
    if (data_told < rest - key_told)
        return "has the wrong length";
    if (key_told != key_bytes ||
        memcmp(file + HEADER_BYTES, key, key_bytes) != 0)
        return "is for something else";
    const size_t data_bytes = rest - key_bytes;
    digest_of(
        digest, file, key, key_bytes, file + bytes - data_bytes, data_bytes);
    if (memcmp(file + DIGEST_AT, digest, SHA256_BYTES) != 0)
        return "is damaged";
    return "";
}

/* ---- All files ----------------------------------------------------------- */

static int by_last_use(const void *left, const void *right)
{
    const folder_file *a = left, *b = right;
    if (a->changed_s != b->changed_s)
        return a->changed_s < b->changed_s ? -1 : 1;
    if (a->changed_ns != b->changed_ns)
        return a->changed_ns < b->changed_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Also one that is from a future in which a clock once was. */
static bool is_stale(const folder_file *file, int64_t now)
{
    return folder_is_temporary(file->name) &&
           (now - file->changed_s > STALE_SECONDS ||
               file->changed_s - now > STALE_SECONDS);
}

/* Removes the stale and counts what remains beside the file `replaced`; files
   that are none of ours are neither removed nor counted. */
static uint64_t sweep(const folder *f, const folder_file *files, size_t count,
    const char *replaced)
{
    const int64_t now = folder_now();
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i) {
        if (is_stale(&files[i], now))
            folder_remove(f, files[i].name);
        else if (strcmp(files[i].name, replaced) != 0 &&
                 (is_entry(files[i].name) ||
                     folder_is_temporary(files[i].name)))
            bytes += files[i].bytes;
    }
    return bytes;
}

/* Until no more than `room` bytes are taken beside the file `replaced`, which a
   new one is about to take the place of. */
static void make_room(const folder *f, uint64_t room, const char *replaced)
{
    folder_file *files = NULL;
    size_t count = 0;
    if (!folder_list(f, &files, &count))
        return;
    uint64_t taken = sweep(f, files, count, replaced);
    if (taken > room)
        qsort(files, count, sizeof *files, by_last_use);
    for (size_t i = 0; i < count && taken > room; ++i) {
        if (!is_entry(files[i].name) || strcmp(files[i].name, replaced) == 0)
            continue;
        folder_remove(f, files[i].name);
        taken -= files[i].bytes;
    }
    free(files);
}

/* ---- What others call ---------------------------------------------------- */

unsigned char *cache_load(
    const cache *c, const char *key, size_t *bytes, char note[CACHE_NOTE])
{
    char name[FOLDER_NAME], words[FOLDER_WORDS];
    const char *why = words;
    size_t file_bytes = 0;
    folder f;

    if (!folder_open(&f, c->folder, false, words)) {
        make_note(note, c, "", words);
        return NULL;
    }
    entry_name(name, key);
    unsigned char *file =
        folder_read(&f, name, c->limit_bytes, &file_bytes, words);
    if (file) {
        why = fault_of(file, file_bytes, key);
        if (why[0] == '\0') {
            *bytes = file_bytes - HEADER_BYTES - strlen(key);
            memmove(file, file + file_bytes - *bytes, *bytes);
            folder_touch(&f, name);
        } else {
            free(file);
            file = NULL;
        }
    }
    make_note(note, c, name, why);
    folder_close(&f);
    return file;
}

void cache_store(const cache *c, const char *key, const void *data,
    size_t bytes, char note[CACHE_NOTE])
{
    unsigned char header[HEADER_BYTES];
    char name[FOLDER_NAME], why[FOLDER_WORDS];
    const size_t key_bytes = strlen(key);
    const uint64_t whole = (uint64_t)HEADER_BYTES + key_bytes + bytes;
    folder f;

    entry_name(name, key);
    if (whole > c->limit_bytes) {
        make_note(note, c, name, "would be larger than the cache may be");
        return;
    }
    if (!folder_open(&f, c->folder, true, why)) {
        make_note(note, c, "", why);
        return;
    }
    make_room(&f, c->limit_bytes - whole, name);
    write_header(header, key, data, bytes);
    const folder_part parts[] = {
        {header, sizeof header}, {key, key_bytes}, {data, bytes}};
    folder_write(&f, name, parts, sizeof parts / sizeof parts[0], why);
    make_note(note, c, name, why);
    folder_close(&f);
}

void cache_remove(const cache *c, const char *key)
{
    char name[FOLDER_NAME], why[FOLDER_WORDS];
    folder f;
    if (!folder_open(&f, c->folder, false, why))
        return;
    entry_name(name, key);
    folder_remove(&f, name);
    folder_close(&f);
}
