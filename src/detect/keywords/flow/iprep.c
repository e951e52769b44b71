/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/iprep.c - iprep: the reputation of addresses in the lists that
 * reputation-files names. */
#include "detect/state/iprep.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"

/* In the order of side_parse(). */
enum { SIDE_ANY, SIDE_SRC, SIDE_DST, SIDE_BOTH };

/* `rep` belongs to the ruleset and is read-only after loading, so threads share it without
 * a lock. */
struct iprep_arg {
    const struct iprep *rep;
    unsigned category;
    uint8_t side;
    bool isnotset;
    struct int_match score;
};

/* Compares one address. An address that is listed in other categories has a score of 0 in
 * this one: Suricata's "isnotset" counts that as a score for "any" and "both", but not for
 * "src" and "dst". */
static bool address_fits(const struct iprep_arg *a, const struct ip *ip)
{
    int score = iprep_score(a->rep, ip, a->category);

    if (a->isnotset)
        return score < 0 || (score == 0 && (a->side == SIDE_SRC || a->side == SIDE_DST));
    return score >= 0 && int_match_has(&a->score, (uint64_t)score);
}

/* Packets without an IP header, such as ARP, have no addresses. */
static bool iprep_match(const struct match_input *in, const void *arg)
{
    const struct iprep_arg *a = arg;
    struct packet_ends ends = packet_ends(in->packet, match_side(in));

    if (ends.src->version == 0)
        return false;
    switch (a->side) {
    case SIDE_SRC: return address_fits(a, ends.src);
    case SIDE_DST: return address_fits(a, ends.dst);
    case SIDE_BOTH: return address_fits(a, ends.src) && address_fits(a, ends.dst);
    default: return address_fits(a, ends.src) || address_fits(a, ends.dst);
    }
}

static bool side_parse(struct text in, uint8_t *side)
{
    static const char *const names[] = { "any", "src", "dst", "both" };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal(in, names[i])) {
            *side = (uint8_t)i;
            return true;
        }
    }
    return false;
}

/* 127 is the highest score of a list, as in Suricata. */
static bool score_parse(struct text op, struct text value, struct int_match *out)
{
    return int_op_parse(op, &out->op) && text_to_u64(value, 127, &out->a);
}

/* A category that the categories file does not define is an error: the rule could never
 * match. */
static int iprep_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct iprep_arg *a = arg;
    struct text rest = in, side, category, op, value = { "", 0 };
    bool ok = text_split(&rest, ',', &side) && side_parse(side, &a->side) &&
              text_split(&rest, ',', &category) && text_split(&rest, ',', &op);

    if (ok && text_equal(op, "isset") && rest.n == 0)
        a->score.op = INT_GE;
    else if (ok && text_equal(op, "isnotset") && rest.n == 0)
        a->isnotset = true;
    else if (!ok || !text_split(&rest, ',', &value) || rest.n > 0 ||
             !score_parse(op, value, &a->score))
        return rule_error(p,
                          "iprep: expected any, src, dst or both, a category, an operator of < > "
                          "<= >= = != and 0-127, or isset or isnotset, found \"%.*s\"",
                          TEXT(in));
    if (rule_bind(p) < 0)
        return -1;
    a->rep = p->ruleset->iprep;
    a->category = iprep_category(a->rep, category);
    if (a->category == 0)
        return rule_error(p, "iprep: there is no category \"%.*s\" in reputation-categories-file",
                          TEXT(category));
    return 0;
}

static void tell_score(const struct iprep_arg *a, const struct ip *ip, struct buf *out)
{
    int score = iprep_score(a->rep, ip, a->category);
    char text[IP_TEXT_SIZE];

    ip_format(ip, text);
    if (score < 0)
        buf_printf(out, "%s has no score", text);
    else
        buf_printf(out, "the score of %s is %d", text, score);
}

static bool iprep_tell(const struct rule_test *test, const struct match_input *in, struct buf *out)
{
    const struct iprep_arg *a = test->arg;
    struct packet_ends ends = packet_ends(in->packet, match_side(in));

    if (ends.src->version == 0)
        return false;
    if (a->side != SIDE_DST)
        tell_score(a, ends.src, out);
    if (a->side == SIDE_ANY || a->side == SIDE_BOTH)
        buf_add_string(out, ", ");
    if (a->side != SIDE_SRC)
        tell_score(a, ends.dst, out);
    return true;
}

const struct keyword_ops keyword_iprep = {
    .name = "iprep",
    .doc = "score of an address in the reputation lists: < > <= >= = or !=",
    .syntax = "any|src|dst|both,<category>,<op>,<0-127>\n"
              "any|src|dst|both,<category>,isset|isnotset",
    .features = "compatible with IP only rule,supports firewall",
    .point = POINT_PACKET,
    .arg_size = sizeof(struct iprep_arg),
    .parse = iprep_parse,
    .match = iprep_match,
    .tell = iprep_tell,
};
