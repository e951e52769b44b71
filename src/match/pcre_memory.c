/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_memory.c - counted allocation for PCRE2. */
#include "match/pcre_memory.h"

#include "base/array.h"
#include "base/memory/traffic_memory.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The match data itself is smaller, backtracking points take more (20 KiB at first). A thread that
 * starts at the limit gets its match data. */
#define NEVER_REFUSED ((size_t)4096)

static void *counted_malloc(PCRE2_SIZE size, void *unused UNUSED)
{
    void *block;

    if (size >= NEVER_REFUSED)
        return traffic_malloc(size);
    block = malloc(size);
    if (block != NULL)
        traffic_memory_add_block(block);
    return block;
}

static void counted_free(void *block, void *unused UNUSED)
{
    traffic_free(block);
}

/* The match data copies the functions, so the context need not live on. */
void *pcre_match_data_try(uint32_t pairs)
{
    pcre2_general_context *context = pcre2_general_context_create(counted_malloc, counted_free,
                                                                  NULL);
    pcre2_match_data *data = context != NULL ? pcre2_match_data_create(pairs, context) : NULL;

    pcre2_general_context_free(context);
    return data;
}

void *pcre_match_data_new(uint32_t pairs)
{
    void *data;

    while ((data = pcre_match_data_try(pairs)) == NULL)
        out_of_memory(pairs * 2 * sizeof(PCRE2_SIZE));
    return data;
}
