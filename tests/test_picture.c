/* SPDX-License-Identifier: Apache-2.0
 *
 * test_picture.c - heat maps: files of each kind, and refusals.
 */
#define _XOPEN_SOURCE 600 /* symlink */
#include "picture.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* cairo's folder is on the include path exactly where the program draws. */
#ifdef __has_include
#if __has_include(<cairo.h>)
#include <cairo.h>
#define HAVE_CAIRO 1
#endif
#endif

#include "heat.h"
#include "scratch.h"
#include "suite.h"

/* The leak sanitizer asks for these by name.  fontconfig leaves 288 bytes lying
   about in every program that measures a word with pango, and cannot be told
   to clean up while pango's own thread may still use it. */
#ifdef __GNUC__
#define ASKED_FOR __attribute__((visibility("default")))
#else
#define ASKED_FOR
#endif
ASKED_FOR const char *__lsan_default_suppressions(void);
ASKED_FOR const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

/* ---- Refusals ------------------------------------------------------------ */

static bool build_draws(void)
{
    failure f;
    return picture_possible("a.png", 1, 1, &f);
}

static const struct {
    const char *about, *path;
    size_t rows, columns;
    const char *message; /* a part of it; NULL: possible */
} POSSIBLE[] = {
    {"PNG", "a.png", 14, 14, NULL},
    {"SVG", "a.svg", 14, 14, NULL},
    {"PDF", "a.pdf", 14, 14, NULL},
    {"capitals", "some.folder/A.PnG", 14, 14, NULL},
    {"as large as it gets", "a.png", 4000, 4000, NULL},
    {"another ending", "a.jpg", 14, 14,
        "a.jpg: a picture's name must end in .png, .svg or .pdf"},
    {"no ending", "png", 14, 14, "must end in .png, .svg or .pdf"},
    {"nothing but an ending", ".png", 14, 14, "must end in"},
    {"no name", "", 14, 14, "must end in"},
    {"an ending in the middle", "a.png.txt", 14, 14, "must end in"},
    {"20,000 words", "a.png", 20000, 20000,
        "a.png: a picture of 20000 x 20000 words is too large: at most 4000"},
    {"too many queries", "a.svg", 4001, 1, "4001 x 1 words is too large"},
    {"too many keys", "a.svg", 1, 4001, "1 x 4001 words is too large"},
    {"no queries", "a.png", 0, 5, "0 x 5 words has nothing to draw"},
    {"no keys", "a.png", 5, 0, "5 x 0 words has nothing to draw"},
};

START_TEST(what_cannot_be_drawn_is_refused_by_name)
{
    failure f = {.text = ""};
    const char *want = POSSIBLE[_i].message;
    const bool got = picture_possible(
        POSSIBLE[_i].path, POSSIBLE[_i].rows, POSSIBLE[_i].columns, &f);
    if (want == NULL && !build_draws())
        want = "a.png: this build draws no pictures";
    ck_assert_msg(got == (want == NULL), "%s: %s %s", POSSIBLE[_i].about,
        got ? "accepted" : "refused", f.text);
    if (want != NULL && build_draws())
        ck_assert_msg(strstr(f.text, want) != NULL, "%s: \"%s\"",
            POSSIBLE[_i].about, f.text);
    else if (want != NULL && POSSIBLE[_i].message == NULL)
        ck_assert_msg(strstr(f.text, "libpango1.0-dev") != NULL, "%s: \"%s\"",
            POSSIBLE[_i].about, f.text);
}
END_TEST

/* ---- Files --------------------------------------------------------------- */

enum {
    MOST = 600
};

typedef struct sentence {
    char letters[MOST][12];
    char *text[MOST];
    words queries, keys;
    float weight[MOST * MOST];
    reading r;
} sentence;

/* Each word reads the one before it; row 1 holds what no map should. */
static sentence *sentence_new(size_t rows, size_t columns)
{
    sentence *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    for (size_t i = 0; i < MOST; ++i) {
        s->text[i] = s->letters[i];
        snprintf(s->letters[i], sizeof s->letters[i], "word%zu", i);
    }
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j)
            s->weight[i * columns + j] = j + 1 == i ? 0.75f : 0.01f;
    s->queries = (words){rows, s->text};
    s->keys = (words){columns, s->text};
    s->r = (reading){
        rows, columns, s->weight, &s->queries, &s->keys, "layer 3, head 1"};
    return s;
}

/* A picture as the only output. */
static bool draw_alone(const char *path, const reading *r, failure *f)
{
    outputs alone = {.count = 0};
    return picture_write(&alone, path, r, f) && outputs_commit(&alone, f);
}

/* The file's bytes and a 0 behind them, the caller's to free. */
static char *drawn(const reading *r, const char *name, size_t *bytes)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    ck_assert_msg(
        draw_alone(scratch_path(path, name), r, &f), "%s: %s", name, f.text);
    char *data = scratch_read(path, bytes);
    ck_assert_msg(data != NULL, "%s was not written", name);
    return data;
}

static size_t big_endian(const char *bytes)
{
    size_t value = 0;
    for (size_t i = 0; i < 4; ++i)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static const struct {
    const char *about;
    size_t rows, columns;
} SENTENCES[] = {
    {"one word", 1, 1},
    {"a sentence", 14, 14},
    {"a paragraph", 95, 95},
    {"a page", 500, 500},
    {"one query, many keys", 1, 600},
    {"many queries, one key", 600, 1},
};

START_TEST(pictures_of_any_size_are_whole_and_small)
{
    static const char *const names[] = {"a.png", "a.svg", "a.pdf"};
    static const char *const begin[] = {"\x89PNG\r\n", "<?xml", "%PDF-"};
    static const char *const end[] = {
        "IEND\xAE\x42\x60\x82", "</svg>\n", "%%EOF\n"};
    if (!build_draws())
        return;
    sentence *s = sentence_new(SENTENCES[_i].rows, SENTENCES[_i].columns);
    for (size_t kind = 0; kind < 3; ++kind) {
        size_t bytes = 0;
        char *data = drawn(&s->r, names[kind], &bytes);
        const size_t last = strlen(end[kind]);
        ck_assert_msg(bytes > 1000 && bytes < 1000000, "%s: %s has %zu bytes",
            SENTENCES[_i].about, names[kind], bytes);
        ck_assert_msg(memcmp(data, begin[kind], strlen(begin[kind])) == 0 &&
                          memcmp(data + bytes - last, end[kind], last) == 0,
            "%s: %s is not what its name says", SENTENCES[_i].about,
            names[kind]);
        free(data);
    }
    ck_assert_uint_eq(scratch_count(""), 3); /* and nothing beside them */
    free(s);
}
END_TEST

START_TEST(a_png_has_room_for_its_cells)
{
    if (!build_draws())
        return;
    sentence *s = sentence_new(SENTENCES[_i].rows, SENTENCES[_i].columns);
    const heat_cell cell = heat_cell_of(s->r.rows, s->r.columns);
    size_t bytes = 0;
    char *data = drawn(&s->r, "b.png", &bytes);
    const size_t width = big_endian(data + 16), height = big_endian(data + 20);
    ck_assert_msg(width > s->r.columns * cell.width &&
                      height > s->r.rows * cell.height && width < 4000 &&
                      height < 4000,
        "%s: %zu x %zu pixels", SENTENCES[_i].about, width, height);
    free(data);
    free(s);
}
END_TEST

START_TEST(what_is_not_finite_is_drawn)
{
    if (!build_draws())
        return;
    sentence *s = sentence_new(4, 4);
    size_t bytes[2] = {0};
    char *without = drawn(&s->r, "c.svg", &bytes[0]);
    s->weight[1] = NAN;
    s->weight[2] = -INFINITY;
    s->weight[3] = -3.0f;
    s->weight[4] = 1e30f;
    char *with = drawn(&s->r, "d.svg", &bytes[1]);
    /* The colour of the entry beside the scale: 232, 84, 30 of 255. */
    ck_assert_ptr_null(
        strstr(without, "rgb(90.980392%,32.941176%,11.764706%)"));
    ck_assert_ptr_nonnull(
        strstr(with, "rgb(90.980392%,32.941176%,11.764706%)"));
    free(without);
    free(with);
    free(s);
}
END_TEST

#ifdef HAVE_CAIRO

typedef struct place {
    int x, y;
} place;

/* The uppermost of the leftmost pixels of a colour. */
static place leftmost(cairo_surface_t *image, heat_colour c)
{
    const uint32_t want =
        (uint32_t)c.red << 16 | (uint32_t)c.green << 8 | (uint32_t)c.blue;
    const unsigned char *data = cairo_image_surface_get_data(image);
    const int stride = cairo_image_surface_get_stride(image);
    for (int x = 0; x < cairo_image_surface_get_width(image); ++x)
        for (int y = 0; y < cairo_image_surface_get_height(image); ++y) {
            uint32_t pixel;
            memcpy(&pixel, data + (ptrdiff_t)y * stride + (ptrdiff_t)x * 4,
                sizeof pixel);
            if ((pixel & 0xFFFFFF) == want)
                return (place){x, y};
        }
    ck_abort_msg("no pixel has the colour %06x", (unsigned)want);
    return (place){0, 0};
}

/* Cells of 11 x 24: the largest weight at row 1, key 0, NaN at row 0, key 2. */
START_TEST(queries_run_down_a_picture_and_keys_across)
{
    char path[SCRATCH_PATH];
    if (!build_draws())
        return;
    sentence *s = sentence_new(2, 130);
    const heat_cell cell = heat_cell_of(2, 130);
    s->weight[2] = NAN;
    s->weight[130] = 0.9f;
    size_t bytes;
    free(drawn(&s->r, "g.png", &bytes));
    cairo_surface_t *image =
        cairo_image_surface_create_from_png(scratch_path(path, "g.png"));
    const place most = leftmost(image, heat_colour_of(1.0f));
    const place odd = leftmost(image, heat_colour_of(NAN));
    const int across = odd.x - most.x, down = most.y - odd.y;
    const int detail = down > (int)cell.height * 3 / 2 ? 2 : 1;
    ck_assert_uint_ne(cell.width, cell.height);
    /* The frame takes up to a pixel of the cells along it. */
    ck_assert_msg(abs(across - 2 * (int)cell.width * detail) <= 1 &&
                      abs(down - (int)cell.height * detail) <= 1,
        "NaN is %d pixels right of and %d above the largest, in cells of "
        "%zu x %zu",
        across, down, cell.width, cell.height);
    cairo_surface_destroy(image);
    free(s);
}
END_TEST

#endif

START_TEST(words_of_any_script_and_length_are_drawn)
{
    static char longest[20001];
    static char *const text[] = {"\u5c71\u7f8a", "\u0627\u0644\u0645\u0627",
        "\u092c\u0915\u0930\u0940", "\U0001F410", "e\u0301", "", " ", "\uFFFD",
        "<b>&amp;", longest};
    static float weight[COUNT(text) * COUNT(text)];
    if (!build_draws())
        return;
    for (size_t i = 0; i + 2 < sizeof longest; i += 2)
        memcpy(longest + i, "\u00e9", 2);
    const words names = {COUNT(text), (char **)(void *)text};
    const reading r = {
        COUNT(text), COUNT(text), weight, &names, &names, longest};
    size_t bytes = 0;
    char *data = drawn(&r, "e.png", &bytes);
    ck_assert_msg(
        big_endian(data + 16) < 4000, "%zu pixels wide", big_endian(data + 16));
    free(data);
}
END_TEST

START_TEST(the_same_reading_gives_the_same_picture)
{
    if (!build_draws())
        return;
    sentence *s = sentence_new(14, 14);
    size_t first = 0, second = 0;
    char *a = drawn(&s->r, "f.png", &first);
    char *b = drawn(&s->r, "f.png", &second);
    ck_assert_uint_eq(first, second);
    ck_assert_int_eq(memcmp(a, b, first), 0);
    s->weight[0] = 0.5f;
    char *c = drawn(&s->r, "f.png", &second);
    ck_assert_msg(first != second || memcmp(a, c, first) != 0,
        "another weight gives the same picture");
    free(a);
    free(b);
    free(c);
    free(s);
}
END_TEST

START_TEST(a_path_that_cannot_be_written_is_named)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    sentence *s = sentence_new(2, 2);
    scratch_path(path, "none/a.png");
    ck_assert(!draw_alone(path, &s->r, &f));
    ck_assert_msg(strstr(f.text, path) != NULL, "%s", f.text);
    ck_assert_uint_eq(scratch_count(""), 0);
    free(s);
}
END_TEST

START_TEST(a_full_disk_is_a_failure)
{
    failure f = {.text = ""};
    sentence *s = sentence_new(14, 14);
    FILE *full = fopen("/dev/full", "w");
    if (full != NULL && build_draws()) {
        /* The ending decides, so the device goes by another name. */
        char path[SCRATCH_PATH];
        scratch_path(path, "full.png");
        ck_assert_int_eq(symlink("/dev/full", path), 0);
        ck_assert_msg(!draw_alone(path, &s->r, &f), "written to /dev/full");
        ck_assert_msg(strstr(f.text, path) != NULL, "%s", f.text);
    }
    if (full != NULL)
        fclose(full);
    free(s);
}
END_TEST

START_TEST(a_disk_that_fills_up_leaves_nothing_behind)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    struct rlimit old, small;
    sentence *s = sentence_new(95, 95);
    scratch_path(path, "h.svg");
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 5000; /* bytes that a file may have */
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool written = draw_alone(path, &s->r, &f);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    ck_assert_msg(!written, "written in spite of the limit");
    ck_assert_msg(strstr(f.text, path) != NULL, "%s", f.text);
    ck_assert_uint_eq(scratch_count(""), 0);
    free(s);
}
END_TEST

static TCase *file_tests(void)
{
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, scratch_begin, scratch_end);
    tcase_set_timeout(files, 60); /* under a sanitizer, on a busy machine */
    tcase_add_loop_test(files, what_cannot_be_drawn_is_refused_by_name, 0,
        (int)COUNT(POSSIBLE));
    tcase_add_loop_test(files, pictures_of_any_size_are_whole_and_small, 0,
        (int)COUNT(SENTENCES));
    tcase_add_loop_test(
        files, a_png_has_room_for_its_cells, 0, (int)COUNT(SENTENCES));
    tcase_add_test(files, what_is_not_finite_is_drawn);
    tcase_add_test(files, words_of_any_script_and_length_are_drawn);
    tcase_add_test(files, the_same_reading_gives_the_same_picture);
    tcase_add_test(files, a_path_that_cannot_be_written_is_named);
    tcase_add_test(files, a_full_disk_is_a_failure);
    tcase_add_test(files, a_disk_that_fills_up_leaves_nothing_behind);
#ifdef HAVE_CAIRO
    tcase_add_test(files, queries_run_down_a_picture_and_keys_across);
#endif
    return files;
}

int main(void)
{
    Suite *suite = suite_create("picture");
    suite_add_tcase(suite, file_tests());
    return suite_main(suite, 0);
}
