/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ssh/kex.c - HASSH: the algorithms that a side offers in SSH_MSG_KEXINIT (RFC 4253
 * section 7.1), those for its own direction, joined by semicolons; and the MD5 of that text. */
#include "app/proto/ssh/ssh.h"

#include <string.h>

#define COOKIE_LEN 16   /* bytes, random */

/* Name lists of the message, in its order. Client-to-server lists are even and come directly before
 * their server-to-client ones; join() depends on that. */
enum {
    KEX, HOST_KEY, CIPHERS_TS, CIPHERS_TC, MACS_TS, MACS_TC, COMPRESSION_TS, COMPRESSION_TC,
    LANGUAGES_TS, LANGUAGES_TC, LIST_COUNT,
};

/* The lists must all be there, also those that HASSH does not use: a cut message has no HASSH.
 * Lengths are the sender's; take_slice fails when one is too large. */
static bool take_lists(struct bytes in, struct slice lists[LIST_COUNT])
{
    take_skip(&in, COOKIE_LEN);
    for (unsigned i = 0; i < LIST_COUNT; i++)
        lists[i] = take_slice(&in, take_be32(&in));
    take_skip(&in, 1 + 4);          /* first_kex_packet_follows, reserved */
    return !in.failed;
}

/* Key exchange, ciphers, MACs and compression: the order that HASSH defines. The host key
 * algorithms and the languages are not part of it. */
static struct slice join(const struct slice lists[LIST_COUNT], enum direction d,
                         struct arena *arena)
{
    const unsigned order[] = { KEX, CIPHERS_TS + (unsigned)d, MACS_TS + (unsigned)d,
                               COMPRESSION_TS + (unsigned)d };
    size_t space = ARRAY_LEN(order);    /* the semicolons, and one more byte */
    uint8_t *text;
    uint32_t n = 0;

    for (unsigned i = 0; i < ARRAY_LEN(order); i++)
        space += lists[order[i]].len;
    text = arena_alloc(arena, space);
    if (text == NULL)
        return (struct slice){ 0 };
    for (unsigned i = 0; i < ARRAY_LEN(order); i++) {
        const struct slice *list = &lists[order[i]];

        if (i > 0)
            text[n++] = ';';
        if (list->len > 0)
            memcpy(text + n, list->data, list->len);
        n += list->len;
    }
    return (struct slice){ text, n };
}

/* Only the first key exchange of a side counts: later ones are encrypted, and a second one in clear
 * text would let a client replace its own fingerprint. No hash where the build has no MD5. */
void ssh_hassh(struct app_flow *af, struct ssh_tx *tx, struct bytes body, enum direction d)
{
    struct ssh_dir *ds = &tx->ds[d];
    struct slice lists[LIST_COUNT];
    uint8_t hash[DIGEST_MAX];
    unsigned len;
    char *text;

    if (ds->hassh_string.data != NULL || !take_lists(body, lists))
        return;
    ds->hassh_string = join(lists, d, &tx->tx.arena);
    len = digest(af->thread_data, DIGEST_MD5, ds->hassh_string.data, ds->hassh_string.len,
                 hash);
    if (len == 0)
        return;
    text = arena_alloc(&tx->tx.arena, 2 * (size_t)len); /* two digits for a byte, without a NUL */
    if (text == NULL)
        return;
    hex_text(hash, len, '\0', HEX_LOWER, text);
    ds->hassh = (struct slice){ (const uint8_t *)text, 2 * len };
}
