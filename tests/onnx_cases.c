/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_cases.c - runs a folder of cases of ONNX's operator Attention; their
 * format is described in data/onnx/README.md.
 */
#include <stdlib.h>
#include <string.h>

#include "onnx_folder.h"
#include "onnx_verdict.h"

enum {
    WRONG_USE = 2
};

static const char HELP[] =
    "onnx_cases DIR [--kernel ROW] [--path host|enqueue|reference]\n"
    "           [--device SPEC] [--verbose]\n"
    "\n"
    "Every folder in DIR whose name does not begin with '.' or '_' is a case.\n"
    "Prints a line for each: f32 outputs against the stored ones at 1e-5,\n"
    "absolute or relative; f16 and bf16 against the exact result at that and\n"
    "one ulp, and the exact result against the stored one at the case's own\n"
    "limit; present_key and present_value bit for bit.\n"
    "\n"
    "  --kernel ROW   a path or row of the library by name; a case that it\n"
    "                 does not compute is skipped\n"
    "  --path         host (the default), enqueue or reference\n"
    "  --device SPEC  as for clattn\n"
    "  --verbose      also the descriptor and the plan of each case\n"
    "\n"
    "Exit code 1 if a case fails or none runs, 2 for wrong use.\n";

/* ---- Arguments ----------------------------------------------------------- */

typedef struct request {
    const char *root, *kernel, *path, *device;
    bool verbose, help;
} request;

/* Takes `--name VALUE` or `--name=VALUE`, moving *at; false if it is another
   option. */
static bool take_value(
    const char **to, const char *name, char *const *arguments, int *at)
{
    const char *argument = arguments[*at];
    const size_t length = strlen(name);

    if (strncmp(argument, name, length) != 0)
        return false;
    if (argument[length] == '=') {
        *to = argument + length + 1;
        return true;
    }
    if (argument[length] != '\0' || arguments[*at + 1] == NULL)
        return false;
    *to = arguments[++*at];
    return true;
}

static bool parse(request *given, char *const *arguments, failure *f)
{
    for (int at = 1; arguments[at] != NULL; ++at) {
        const char *argument = arguments[at];
        if (strcmp(argument, "--verbose") == 0)
            given->verbose = true;
        else if (strcmp(argument, "--help") == 0)
            given->help = true;
        else if (argument[0] != '-' && given->root == NULL)
            given->root = argument;
        else if (!take_value(&given->kernel, "--kernel", arguments, &at) &&
                 !take_value(&given->path, "--path", arguments, &at) &&
                 !take_value(&given->device, "--device", arguments, &at))
            return fail(f,
                "'%s' is no argument, or lacks its value; --help "
                "lists what there is",
                argument);
    }
    return given->help || given->root != NULL ||
           fail(f, "which folder of cases?  --help lists all arguments");
}

static bool find_path(enum onnx_path *to, const request *given, failure *f)
{
    static const char *const NAMES[] = {
        [ONNX_HOST] = "host",
        [ONNX_ENQUEUE] = "enqueue",
        [ONNX_REFERENCE] = "reference",
    };
    size_t i = 0;

    while (i < 3 && given->path != NULL && strcmp(given->path, NAMES[i]) != 0)
        ++i;
    if (i == 3)
        return fail(f,
            "--path is '%s', but host, enqueue or reference is "
            "allowed",
            given->path);
    *to = (enum onnx_path)i;
    if (*to == ONNX_REFERENCE &&
        (given->kernel != NULL || given->device != NULL))
        return fail(f, "--kernel and --device have no effect on the reference");
    return true;
}

/* ---- Running ------------------------------------------------------------- */

static bool run_all(const onnx_runner *r, const request *given,
    const onnx_folder *list, size_t count[ONNX_VERDICTS])
{
    if (r->path != ONNX_REFERENCE && given->verbose)
        session_print_device(stdout, &r->device);
    for (size_t i = 0; i < list->count; ++i) {
        ++count[onnx_verdict_of(
            stdout, r, given->root, list->name[i], given->verbose)];
        fflush(stdout);
    }
    return count[ONNX_FAILED] + count[ONNX_NO_MEMORY] == 0 &&
           count[ONNX_PASSED] > 0;
}

static void print_totals(const size_t count[ONNX_VERDICTS])
{
    printf("%zu passed, %zu failed", count[ONNX_PASSED],
        count[ONNX_FAILED] + count[ONNX_NO_MEMORY]);
    if (count[ONNX_SKIPPED] > 0)
        printf(", %zu skipped", count[ONNX_SKIPPED]);
    printf("\n");
}

static int run(const request *given, enum onnx_path path, failure *f)
{
    size_t count[ONNX_VERDICTS] = {0};
    onnx_folder list = {NULL, 0};
    onnx_runner runner = {.path = path};
    bool ok = onnx_folder_list(&list, given->root, f) &&
              onnx_runner_open(&runner, path, given->kernel, given->device, f);

    if (ok)
        ok = run_all(&runner, given, &list, count);
    else
        fprintf(stderr, "onnx_cases: %s\n", f->text);
    print_totals(count);
    onnx_runner_close(&runner);
    onnx_folder_free(&list);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    request given = {.verbose = false};
    enum onnx_path path = ONNX_HOST;
    failure f = {.text = ""};

    if (argc < 1 || !parse(&given, argv, &f) || !find_path(&path, &given, &f)) {
        fprintf(stderr, "onnx_cases: %s\n", f.text);
        return WRONG_USE;
    }
    if (given.help) {
        fputs(HELP, stdout);
        return EXIT_SUCCESS;
    }
    return run(&given, path, &f);
}
