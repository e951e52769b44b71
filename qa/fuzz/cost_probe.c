/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/cost_probe.c - a target that is costly on purpose: the test of cost.c. The first byte of
 * the input chooses: `q` work that grows with the square of the input, `m` one block of memory far
 * larger than it, `s` many small ones, `o` a block once, on first use. Others cost one look at each
 * byte. qa/fuzz/cost-test runs it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

#define SMALL 1000u

static volatile uint32_t seen;

static void look(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        seen = seen * 31 + data[i];
}

static void square(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < 16 * size; i++)
        look(data, size);
}

static void fill(size_t size)
{
    uint8_t *block = malloc(size);

    if (block != NULL)
        memset(block, 1, size);
    look(block, block != NULL ? 1 : 0);
    free(block);
}

static void small_ones(size_t count)
{
    void **list = NULL;

    for (size_t i = 0; i < count; i++) {
        void **block = malloc(SMALL);

        if (block == NULL)
            break;
        memset(block, 1, SMALL);
        *block = list;
        list = block;
    }
    while (list != NULL) {
        void **next = *list;

        free(list);
        list = next;
    }
}

int fuzz_input(const uint8_t *data, size_t size)
{
    static int is_warm;

    switch (size > 0 ? data[0] : 0) {
    case 'q': square(data, size); break;
    case 'm': fill(size * 20000); break;
    case 's': small_ones(size * 20); break;
    case 'o':
        if (!is_warm++)
            fill(size * 20000);
        break;
    default: look(data, size);
    }
    return 0;
}
