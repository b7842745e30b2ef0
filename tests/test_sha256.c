/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sha256.c - SHA-256 against the standard's examples, and in pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "suite.h"

/* The examples that NIST publishes with the standard; and by coreutils' sha256sum
   the lengths around the one whose padding needs a block of its own. */
static const struct {
    const char *about, *piece;
    size_t times;
    const char *digest;
} VECTORS[] = {
    {"nothing", "", 1,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"one block", "abc", 1,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"two blocks", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        1, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"a million a", "a", 1000000,
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {"room for the length", "x", 55,
        "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
    {"none for the length", "x", 56,
        "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
    {"none for the one bit", "x", 64,
        "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
};

static char *repeated(const char *piece, size_t times, size_t *bytes)
{
    const size_t length = strlen(piece);
    char *data = calloc(1, length * times + 1);
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < times; ++i)
        memcpy(data + i * length, piece, length);
    *bytes = length * times;
    return data;
}

START_TEST(the_standards_examples_have_their_digests)
{
    char text[SHA256_TEXT];
    size_t bytes = 0;
    char *data = repeated(VECTORS[_i].piece, VECTORS[_i].times, &bytes);
    sha256_text(text, data, bytes);
    ck_assert_msg(strcmp(text, VECTORS[_i].digest) == 0, "%s: %s, not %s",
        VECTORS[_i].about, text, VECTORS[_i].digest);
    free(data);
}
END_TEST

/* Every length up to three blocks, cut at every place. */
START_TEST(pieces_have_the_digest_of_the_whole)
{
    unsigned char data[3 * SHA256_BLOCK], whole[SHA256_BYTES],
        pieces[SHA256_BYTES];
    for (size_t i = 0; i < sizeof data; ++i)
        data[i] = (unsigned char)(37 * i);
    for (size_t bytes = 0; bytes <= sizeof data; ++bytes) {
        sha256 hash;
        sha256_begin(&hash);
        sha256_add(&hash, data, bytes);
        sha256_end(&hash, whole);
        for (size_t cut = 0; cut <= bytes; ++cut) {
            sha256_begin(&hash);
            sha256_add(&hash, data, cut);
            sha256_add(&hash, data + cut, bytes - cut);
            sha256_end(&hash, pieces);
            ck_assert_msg(memcmp(whole, pieces, sizeof whole) == 0,
                "%zu bytes cut at %zu", bytes, cut);
        }
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sha256");
    tcase_add_loop_test(
        t, the_standards_examples_have_their_digests, 0, (int)COUNT(VECTORS));
    tcase_add_test(t, pieces_have_the_digest_of_the_whole);

    Suite *suite = suite_create("sha256");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
