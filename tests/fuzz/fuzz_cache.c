/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_cache.c - any bytes as a file of the program cache: given out if it is to
 * the last bit what keeping the same data writes, else a miss with a reason, and
 * then replaced.
 *
 * An input is two bytes and then the file.  The first byte chooses the key that
 * is looked for, and whether the file's digest is made right before, so that what
 * it guards is reached; the second is the limit of the cache.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "fuzz.h"
#include "sha256.h"

enum {
    CHOICE = 2,
    DIGEST_AT = 24,
    HEADER = 56, /* see cache.c */
    PATH = 300
};

static const char *const KEYS[] = {
    "library: 1\noptions: -DD=64\n", "library: 1\n", ""};

static char folder[PATH - 100];
static char last[PATH]; /* the file in it */

static void remove_folder(void)
{
    unlink(last);
    rmdir(folder);
}

/* In memory, if there is such a place. */
static void make_folder(void)
{
    static const char *const PLACES[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < 2 && folder[0] == '\0'; ++i) {
        char path[40];
        snprintf(path, sizeof path, "%s/clattn-fuzz-XXXXXX", PLACES[i]);
        if (mkdtemp(path))
            strcpy(folder, path);
    }
    fuzz_require(folder[0] != '\0', "a folder can be made");
    atexit(remove_folder);
}

static void make_digest_right(uint8_t *file, size_t size)
{
    sha256 hash;
    if (size < HEADER)
        return;
    sha256_begin(&hash);
    sha256_add(&hash, file, DIGEST_AT);
    sha256_add(&hash, file + HEADER, size - HEADER);
    sha256_end(&hash, file + DIGEST_AT);
}

static void write_file(const char *key, const uint8_t *data, size_t size)
{
    char name[SHA256_TEXT];
    unlink(last);
    sha256_text(name, key, strlen(key));
    snprintf(last, sizeof last, "%s/%s.bin", folder, name);
    FILE *file = fopen(last, "wb");
    fuzz_require(file && fwrite(data, 1, size, file) == size &&
                     fclose(file) == 0 && chmod(last, 0600) == 0,
        "a file can be written");
}

/* Whether the file holds just these bytes. */
static int file_is(const uint8_t *data, size_t size)
{
    FILE *file = fopen(last, "rb");
    uint8_t *now = malloc(size + 1);
    const int same = file && now && fread(now, 1, size + 1, file) == size &&
                     memcmp(now, data, size) == 0;
    if (file)
        fclose(file);
    free(now);
    return same;
}

static void check_hit(const cache *c, const char *key, const unsigned char *got,
    size_t bytes, const uint8_t *file, size_t size)
{
    char note[CACHE_NOTE];
    fuzz_look(got, bytes);
    fuzz_require(size <= c->limit_bytes, "what is given out is within limits");
    fuzz_require(bytes == size - HEADER - strlen(key) &&
                     memcmp(got, file + size - bytes, bytes) == 0,
        "what is given out is the end of the file");
    unlink(last);
    cache_store(c, key, got, bytes, note);
    fuzz_require(note[0] == '\0' && file_is(file, size),
        "what is given out is what keeping it writes");
}

static void check_miss(const cache *c, const char *key, const char *why)
{
    static const char data[] = "in its place";
    char note[CACHE_NOTE];
    size_t bytes = 0;
    fuzz_require(strncmp(why, last, strlen(last)) == 0,
        "the reason of a miss names the file");
    cache_store(c, key, data, sizeof data, note);
    if (HEADER + strlen(key) + sizeof data > c->limit_bytes) {
        fuzz_require(strstr(note, "larger than the cache") != NULL,
            "what cannot fit is not kept");
        return;
    }
    unsigned char *got = cache_load(c, key, &bytes, note);
    fuzz_require(got && bytes == sizeof data && memcmp(got, data, bytes) == 0,
        "what was no hit is replaced");
    free(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char note[CACHE_NOTE];
    size_t bytes = 0;
    if (size < CHOICE)
        return 0;
    const char *key = KEYS[data[0] % 4 % (sizeof KEYS / sizeof KEYS[0])];
    const cache c = {
        .folder = folder, .limit_bytes = HEADER + 4 * (uint64_t)data[1]};
    uint8_t *file = malloc(size);
    fuzz_require(file != NULL, "there is memory for a file");
    size -= CHOICE;
    memcpy(file, data + CHOICE, size);
    if (data[0] & 4)
        make_digest_right(file, size);

    if (folder[0] == '\0')
        make_folder();
    write_file(key, file, size);
    unsigned char *got = cache_load(&c, key, &bytes, note);
    fuzz_require((got == NULL) == (note[0] != '\0'), "a miss has a reason");
    if (got)
        check_hit(&c, key, got, bytes, file, size);
    else
        check_miss(&c, key, note);
    free(got);
    free(file);
    return 0;
}
