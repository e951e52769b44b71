/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/held_back.c - all conditions of a rule hold, and yet there is no alert. */
#include "detect/explain/private.h"

#include "detect/state/threshold.h"
#include "flow/flow.h"
#include "match/address.h"

static bool is_suppressed(const struct threshold_spec *t, const struct inspection *in)
{
    struct packet_ends ends = packet_ends(in->packet, in->direction);

    return t->type == THRESHOLD_SUPPRESS &&
           ((t->track != TRACK_DST && address_set_has(t->addresses, ends.src)) ||
            (t->track != TRACK_SRC && address_set_has(t->addresses, ends.dst)));
}

bool held_back_by_threshold(const struct rule *r, const struct inspection *in, struct buf *out)
{
    static const char *const types[] = { "limit", "threshold", "both", "detection_filter",
                                         "rate_filter", "backoff", "suppress" };
    static const char *const tracks[] = { "by_src", "by_dst", "by_both", "by_rule", "by_flow",
                                          "by_either" };

    for (const struct threshold_spec *t = r->threshold; t != NULL; t = t->next) {
        if (is_suppressed(t, in)) {
            buf_printf(out, "suppress (%s, track %s) keeps the alert back",
                       t->by_keyword ? "in the rule" : "threshold-file", tracks[t->track]);
            return true;
        }
        if (t->type == THRESHOLD_SUPPRESS || t->type == THRESHOLD_RATE)
            continue;
        buf_printf(out, "%s: type %s, track %s, count %u, seconds %u keeps the alert back",
                   t->type == THRESHOLD_FILTER ? "detection_filter" : "threshold", types[t->type],
                   tracks[t->track], t->count, t->seconds);
        return true;
    }
    return false;
}

/* A pass rule that has matched in this flow, or 0. */
static uint32_t passed_by(const struct explain *e, const struct flow *f)
{
    uint64_t key[2] = { f != NULL ? f->id : 0, UINT64_MAX };

    for (unsigned i = 0; i < e->wanted_count; i++) {
        const struct seen *s;

        if (e->wanted[i].rule->action != RULE_PASS)
            continue;
        s = map_get(&e->wanted[i].group->seen, key, sizeof(key));
        for (size_t k = 0; s == NULL && f != NULL && k < e->wanted[i].group->seen_count; k++)
            if (e->wanted[i].group->list[k]->flow == f->id)
                s = e->wanted[i].group->list[k];
        if (s != NULL && s->distance == 0)
            return e->wanted[i].rule->sid;
    }
    return 0;
}

static bool describe_pass(const struct explain *e, const struct wanted *w,
                          const struct inspection *in, struct buf *out)
{
    const struct packet *p = in->packet;
    uint32_t sid;

    if (w->rule->action == RULE_PASS ||
        !((p->action & ACTION_PASS) || (p->flow != NULL && (p->flow->action & ACTION_PASS))))
        return false;
    sid = passed_by(e, p->flow);
    if (sid != 0)
        buf_printf(out, "pass rule %u lets the packet go before", sid);
    else
        buf_add_string(out, "a pass rule lets the packet go before");
    return true;
}

bool held_back_by_itself(const struct rule *r, struct buf *out)
{
    if (r->action == RULE_PASS)
        buf_add_string(out, "it is a pass rule: it matches, and gives no alert");
    else if (r->flags & RULE_NOALERT)
        buf_add_string(out, "noalert: the rule matches, and gives no alert");
    return r->action == RULE_PASS || (r->flags & RULE_NOALERT);
}

static bool has_silent(const struct wanted *w)
{
    for (unsigned i = 0; i < w->count; i++)
        if (w->condition[i].silent)
            return true;
    return false;
}

static void describe(struct explain *e, const struct wanted *w, const struct inspection *in,
                struct buf *out)
{
    const struct rule *r = w->rule;

    if (held_back_by_itself(r, out) || describe_pass(e, w, in, out))
        return;
    if (held_back_by_threshold(r, in, out))
        return;
    if (r->action != RULE_ALERT && r->action > RULE_REJECT_BOTH)
        buf_add_string(out, "the action of the rule gives no alert");
    else if (has_silent(w))
        buf_add_string(out, "all else holds; its script, or its change of a set, does not");
    else if (detect_slot(in->packet)->alert_count >= e->shadow->alert_max)
        buf_printf(out, "packet-alert-max: the packet has %u alerts already",
                   detect_slot(in->packet)->alert_count);
}

/* NULL: not known with this packet. */
char *held_back_make(struct explain *e, const struct wanted *w, const struct inspection *in)
{
    struct buf out = { 0 };
    char *text;

    describe(e, w, in, &out);
    text = text_take(&out);
    buf_fini(&out);
    return text;
}
