/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/dataset_rows.c - the memory that a set would take in Suricata, and the
 * order of the rows in its state files. So the same memcap holds the same values, and both
 * engines write the same files. */
#include "detect/state/dataset_rows.h"

#include <string.h>

#define ROW_SIZE 64u /* bytes of a row of Suricata's THash */

/* Bytes of an element in Suricata 8.0, by type, on a 64 bit machine. */
uint64_t dataset_element_size(enum dataset_type type)
{
    switch (type) {
    case DATASET_SHA256: return 120;
    case DATASET_IPV4:   return 96;
    default:             return 104;
    }
}

/* Suricata allocates DATASET_SET_ASIDE elements in advance. */
uint64_t dataset_empty_size(enum dataset_type type, uint32_t rows)
{
    return (uint64_t)rows * ROW_SIZE + DATASET_SET_ASIDE * dataset_element_size(type);
}

/* --- lookup3, Bob Jenkins, 2006 --------------------------------------------------------------- */

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

/* The steps of lookup3's mix() as a loop over three words. */
static void mix(uint32_t s[3])
{
    static const uint8_t bits[6] = { 4, 6, 8, 16, 19, 4 };

    for (unsigned i = 0; i < 6; i++) {
        uint32_t *to = &s[i % 3], *from = &s[(i + 2) % 3];

        *to -= *from;
        *to ^= rotate(*from, bits[i]);
        *from += s[(i + 1) % 3];
    }
}

/* Its final(). */
static void mix_last(uint32_t s[3])
{
    static const uint8_t bits[7] = { 14, 11, 25, 16, 4, 14, 24 };

    for (unsigned i = 0; i < 7; i++) {
        uint32_t *to = &s[(i + 2) % 3], from = s[(i + 1) % 3];

        *to ^= from;
        *to -= rotate(from, bits[i]);
    }
}

/* Adds the next 12 bytes of the key, with zeros after its end. */
static void add_words(uint32_t s[3], struct bytes *in)
{
    for (unsigned i = 0; i < 12 && bytes_have(in, 1); i++)
        s[i / 4] += (uint32_t)take_u8(in) << (i % 4 * 8);
}

/* hashlittle() with an initial value of 0. */
static uint32_t lookup3(struct slice key)
{
    struct bytes in = bytes_of(key.data, key.len);
    uint32_t s[3] = { 0xdeadbeef + key.len, 0xdeadbeef + key.len, 0xdeadbeef + key.len };

    if (key.len == 0)
        return s[2];
    while (bytes_left(&in) > 12) {
        add_words(s, &in);
        mix(s);
    }
    add_words(s, &in);
    mix_last(s);
    return s[2];
}

/* Suricata stores an IPv4 address of type ip as a mapped IPv6 address. */
uint32_t dataset_row(enum dataset_type type, struct slice value, uint32_t rows)
{
    uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff };

    if (type == DATASET_IP && value.len == 4) {
        memcpy(mapped + 12, value.data, 4);
        value = (struct slice){ mapped, sizeof(mapped) };
    }
    return lookup3(value) % rows;
}
