/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfq_set_mark - sets the mark of a queued packet, for netfilter rules that see it after
 * the verdict. */
#include "detect/rule/keyword.h"

struct nfq_mark { uint32_t mark, mask; }; /* only bits of `mask` change */

/* MARK/MASK, decimal or 0x. */
static int nfq_set_mark_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct text rest = in, word;
    struct nfq_mark *m = arg;
    uint64_t mark = 0, mask = 0;
    bool good = text_split(&rest, '/', &word) && text_to_u64(word, UINT32_MAX, &mark) &&
                text_split(&rest, '/', &word) && text_to_u64(word, UINT32_MAX, &mask) &&
                rest.n == 0;

    if (!good)
        return rule_error(p, "nfq_set_mark: expected MARK/MASK, 32 bits each, found \"%.*s\"",
                          TEXT(in));
    m->mark = (uint32_t)mark;
    m->mask = (uint32_t)mask;
    return 0;
}

/* Skips packets inside a tunnel: several may share one outer packet, and its mark would
 * apply to all. Reassembled fragments are one packet. Its last fragment waits for the
 * verdict, and no other packet writes that mark. */
static bool nfq_set_mark_match(const struct match_input *in, const void *arg)
{
    const struct nfq_mark *m = arg;
    struct packet *p = in->packet;

    if (p->root != NULL && p->root != p) {
        if (!(p->flags & PACKET_REASSEMBLED))
            return true;
        p = p->root;
    }
    p->mark = (m->mark & m->mask) | (p->mark & ~m->mask);
    return true;
}

const struct keyword_ops keyword_nfq_set_mark = {
    .name = "nfq_set_mark",
    .doc = "set the bits of the mask in the mark of a packet from NFQ",
    .syntax = "<mark>/<mask>",
    .point = POINT_POST,
    .arg_size = sizeof(struct nfq_mark),
    .parse = nfq_set_mark_parse,
    .match = nfq_set_mark_match,
};
