/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_safetensors.c - any bytes as a .safetensors file and as a model in one:
 * read whole, or refused in words.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model.h"
#include "safetensors.h"

static void check_tensor(const safetensors *file, const safetensor *t)
{
    failure f = {.text = ""};
    fuzz_require(safetensors_find(file, t->name) == t, "a name finds its own");
    fuzz_require(t->rank <= SAFETENSORS_MAX_RANK, "a rank is within bounds");
    fuzz_require(strlen(t->dtype_name) > 0, "a dtype has a name");
    fuzz_look(t->data, t->bytes);
    float *values = safetensor_to_f32(t, &f);
    fuzz_require(
        values != NULL || f.text[0] != '\0', "a refused conversion says why");
    if (values)
        fuzz_look(values, t->count * sizeof *values);
    free(values);
}

static void check_file(const char *path)
{
    failure f = {.text = ""};
    safetensors *file = safetensors_open(path, &f);
    fuzz_require(
        file != NULL || f.text[0] != '\0', "a refused file has a reason");
    for (size_t i = 0; file && i < safetensors_count(file); ++i)
        check_tensor(file, safetensors_at(file, i));
    if (file)
        safetensors_metadata(file, "num_attention_heads");
    safetensors_close(file);
}

static void check_model(const char *path, size_t heads)
{
    failure f = {.text = ""};
    model_layer layer;
    const model_request request = {.path = path, .heads = heads};
    if (!model_load(&layer, &request, &f)) {
        fuzz_require(f.text[0] != '\0', "a refused model has a reason");
        return;
    }
    for (int p = 0; p < MODEL_PARTS; ++p) {
        const model_weight *w = &layer.part[p];
        if (w->w && w->n_in > 0 && w->n_out > 0)
            fuzz_look(w->w, sizeof(float));
    }
    model_free(&layer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    check_file(path);
    check_model(path, 0);
    check_model(path, 2);
    return 0;
}
