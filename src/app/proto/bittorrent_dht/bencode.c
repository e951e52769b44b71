/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/bittorrent_dht/bencode.c - bencode (BEP 3): i42e, 4:text, l...e, d...e.
 *
 * Only the canonical form is accepted: no leading zeros, no "-0", keys in order. */
#include "app/proto/bittorrent_dht/bencode.h"

#define DEPTH_CHECKED 16        /* levels; such values passed the caller's own limit before */

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Takes digits and the byte behind them. At most 18 digits, which always fit in 63 bits, and no
 * leading zeros. */
static uint64_t take_digits(struct bytes *in, uint8_t stop)
{
    uint64_t value = 0;
    unsigned n = 0;
    uint8_t first = peek_u8(in);

    while (is_digit(peek_u8(in))) {
        value = value * 10 + (take_u8(in) - (uint8_t)'0');
        if (++n > 18)
            in->failed = true;
    }
    if (n == 0 || (first == '0' && n > 1) || take_u8(in) != stop)
        in->failed = true;
    return in->failed ? 0 : value;
}

/* "i" has been taken: an optional minus, digits, "e". */
static void take_integer(struct bytes *in, struct bencode *out)
{
    bool negative = peek_u8(in) == '-';

    out->kind = BENCODE_INT;
    take_skip(in, negative);
    out->number = (int64_t)take_digits(in, 'e');
    if (negative && out->number == 0)
        in->failed = true;
    if (negative)
        out->number = -out->number;
}

/* The length is the sender's: take_slice fails when there are fewer bytes. */
static void take_string(struct bytes *in, struct bencode *out)
{
    uint64_t len = take_digits(in, ':');

    out->kind = BENCODE_BYTES;
    out->bytes = take_slice(in, len);
}

/* Takes a list or dictionary up to its "e", which is taken, too. Every nested value is checked, so
 * that later walks over out->bytes cannot fail. Keys of a dictionary must ascend as raw bytes (BEP
 * 3), which also excludes double keys. `depth` limits the recursion: a datagram of "llll..." would
 * otherwise use up the stack. */
static void take_inside(struct bytes *in, unsigned depth, bool is_dict, struct bencode *out)
{
    const uint8_t *start = in->next;
    struct slice last = { NULL, 0 };
    struct bencode value;

    out->kind = is_dict ? BENCODE_DICT : BENCODE_LIST;
    if (depth == 0)
        in->failed = true;
    while (!in->failed && peek_u8(in) != 'e') {
        if (is_dict) {
            struct bencode key;
            int order;

            take_string(in, &key);
            if (in->failed)
                return;
            order = last.data == NULL ? -1  /* -1: there is no key before the first */
                                      : memcmp(last.data, key.bytes.data,
                                               MIN(last.len, key.bytes.len));
            /* A prefix comes before the longer key. */
            if (order > 0 || (order == 0 && last.len >= key.bytes.len))
                in->failed = true;
            last = key.bytes;
        }
        bencode_take(in, depth - 1, &value);
    }
    /* Without the "l" or "d" and the "e". */
    out->bytes = (struct slice){ start, in->failed ? 0 : (uint32_t)(in->next - start) };
    take_skip(in, 1);
}

/* A digit begins a string; the other kinds have a letter. */
bool bencode_take(struct bytes *in, unsigned depth, struct bencode *out)
{
    uint8_t first = peek_u8(in);

    *out = (struct bencode){ 0 };
    if (is_digit(first)) {
        take_string(in, out);
        return !in->failed;
    }
    take_skip(in, 1);
    if (first == 'i')
        take_integer(in, out);
    else if (first == 'l' || first == 'd')
        take_inside(in, depth, first == 'd', out);
    else
        in->failed = true;
    return !in->failed;
}

/* `in` is the content of a dictionary that bencode_take() has checked. */
bool bencode_take_pair(struct bytes *in, struct slice *key, struct bencode *value)
{
    struct bencode k;

    if (bytes_left(in) == 0 || in->failed)
        return false;
    take_string(in, &k);
    *key = k.bytes;
    return bencode_take(in, DEPTH_CHECKED, value);
}
