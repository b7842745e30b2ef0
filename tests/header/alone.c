/* SPDX-License-Identifier: Apache-2.0
 *
 * alone.c - the public header, included alone, by strict C11 and by C++.
 */
#include "clattn/clattn.h"

#ifdef __cplusplus
#define SAME_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#else
#define SAME_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#endif

/* A binding repeats these structs by hand, so padding must not creep in. */
SAME_SIZE(clattn_error, 2 * 4 + 504);
SAME_SIZE(clattn_tensor, 3 * sizeof(size_t) + 2 * 4);
SAME_SIZE(clattn_mask, 8 * sizeof(size_t) + 2 * 4);

int main(void)
{
    clattn_attention attention;
    clattn_attention_init(&attention, sizeof attention);
    return clattn_attention_supported(NULL, &attention, NULL) == CLATTN_OK;
}
