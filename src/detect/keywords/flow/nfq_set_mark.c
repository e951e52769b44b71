/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfq_set_mark - the mark that a queued packet goes on with, for netfilter's rules behind us. */
#include "detect/rule/keyword.h"

struct nfq_mark { uint32_t mark, mask; };

#define DEFAULT_MASK 0xffff

static int nfq_set_mark_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct text rest = in, word;
    struct nfq_mark *m = arg;
    uint64_t mark = 0, mask = DEFAULT_MASK;
    bool good = text_split(&rest, '/', &word) && text_to_u64(word, UINT32_MAX, &mark);

    if (good && text_split(&rest, '/', &word))
        good = text_to_u64(word, UINT32_MAX, &mask) && rest.n == 0;
    if (!good)
        return rule_error(
            p, "nfq_set_mark: expected MARK or MARK/MASK, 32 bits each, found \"%.*s\"", TEXT(in));
    m->mark = (uint32_t)mark;
    m->mask = (uint32_t)mask;
    return 0;
}

/* Of a tunnel's packets only one could be meant, and its mark would be that of all. Fragments were
 * one packet; the last of them waits for this one, and nobody else writes its mark. */
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
    .doc = "set the mark of a packet from NFQ: mark[/mask]",
    .point = POINT_POST,
    .arg_size = sizeof(struct nfq_mark),
    .parse = nfq_set_mark_parse,
    .match = nfq_set_mark_match,
};
