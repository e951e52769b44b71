/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/held_back.c - all conditions of a rule hold, and yet there is no alert. */
#include "detect/explain/notes.h"

#include "detect/state/threshold.h"
#include "flow/flow.h"
#include "match/address.h"

static const char *const track_words[] = { "by_src", "by_dst", "by_both", "by_rule", "by_flow",
                                           "by_either" };

/* --- thresholds ------------------------------------------------------------------------------- */

/* The address that a line of suppress names; NULL: neither. */
static const struct ip *suppressed_end(const struct threshold_spec *t, const struct inspection *in)
{
    struct packet_ends ends = packet_ends(in->packet, in->direction);

    if (t->type != THRESHOLD_SUPPRESS)
        return NULL;
    if (t->track != TRACK_DST && address_set_has(t->addresses, ends.src))
        return ends.src;
    return t->track != TRACK_SRC && address_set_has(t->addresses, ends.dst) ? ends.dst : NULL;
}

static void add_file_line(const struct threshold_spec *t, struct buf *out)
{
    if (t->file != NULL)
        buf_printf(out, "%s:%u, ", t->file, t->line);
}

static void describe_suppress(const struct threshold_spec *t, const struct ip *end,
                              struct buf *out)
{
    char address[IP_TEXT_SIZE];

    ip_format(end, address);
    buf_printf(out, "suppress for %s (", address);
    add_file_line(t, out);
    buf_printf(out, "track %s) keeps the alert back", track_words[t->track]);
}

bool describe_threshold(const struct rule *r, struct buf *out)
{
    static const char *const types[] = { "limit", "threshold", "both", "detection_filter",
                                         "rate_filter", "backoff", "suppress" };
    const struct threshold_spec *t = r->threshold;

    while (t != NULL && t->type == THRESHOLD_SUPPRESS)
        t = t->next;
    if (t == NULL)
        return false;
    buf_add_string(out, t->type == THRESHOLD_FILTER ? "detection_filter: " : "threshold: ");
    add_file_line(t, out);
    buf_printf(out, "type %s, track %s, count %u, seconds %u", types[t->type],
               track_words[t->track], t->count, t->seconds);
    return true;
}

/* "4 of 10 within 60 s" */
static void add_count(const struct threshold_spec *t, uint32_t counted, struct buf *out)
{
    if (counted == 0)
        return;
    if (t->type == THRESHOLD_LIMIT)
        buf_printf(out, ": this is match %u within %u s", counted, t->seconds);
    else if (t->type == THRESHOLD_FILTER)
        buf_printf(out, ": %u of the %u within %u s that it lets pass in silence", counted,
                   t->count, t->seconds);
    else if (t->type == THRESHOLD_BACKOFF)
        buf_printf(out, ": %u of %u", counted, t->count);
    else
        buf_printf(out, ": %u of %u within %u s", counted, t->count, t->seconds);
}

bool held_back_by_threshold(const struct rule *r, const struct inspection *in, uint32_t counted,
                            struct buf *out)
{
    for (const struct threshold_spec *t = r->threshold; t != NULL; t = t->next) {
        const struct ip *end = suppressed_end(t, in);

        if (end != NULL) {
            describe_suppress(t, end, out);
            return true;
        }
        if (t->type == THRESHOLD_SUPPRESS || t->type == THRESHOLD_RATE)
            continue;
        describe_threshold(r, out);
        buf_add_string(out, " keeps the alert back");
        add_count(t, counted, out);
        return true;
    }
    return false;
}

/* --- pass rules ------------------------------------------------------------------------------- */

/* A pass rule whose conditions all held in this flow, for any of its transactions, or 0. */
static uint32_t passed_by(const struct explain *e, const struct packet *p)
{
    for (unsigned i = 0; i < e->wanted_count; i++) {
        const struct group *g = e->wanted[i].group;

        if (e->wanted[i].rule->action != RULE_PASS)
            continue;
        for (size_t k = 0; k < g->seen_count; k++) {
            const struct seen *s = g->list[k];

            if (s->distance == 0 && (p->flow != NULL ? s->flow == p->flow->id
                                                     : s->flow == 0 && s->item == p->number))
                return g->rule[0]->rule->sid;
        }
    }
    return 0;
}

/* rate_filter with new_action pass makes a pass rule of another one. */
static const struct threshold_spec *passes_by_rate(const struct rule *r)
{
    const struct threshold_spec *t = r->threshold;

    while (t != NULL && !(t->type == THRESHOLD_RATE && t->new_action == RATE_PASS))
        t = t->next;
    return t;
}

void describe_passed_by(const struct explain *e, const struct packet *p, struct buf *out)
{
    uint32_t sid = passed_by(e, p);

    for (unsigned i = 0; i < e->wanted_count && sid == 0; i++) {
        const struct rule *r = e->wanted[i].rule;
        const struct threshold_spec *t = passes_by_rate(r);

        if (t == NULL)
            continue;
        buf_printf(out, "the rate_filter of rule %u (", r->sid);
        add_file_line(t, out);
        buf_printf(out, "track %s, count %u, seconds %u, new_action pass)", track_words[t->track],
                   t->count, t->seconds);
        return;
    }
    if (sid != 0)
        buf_printf(out, "pass rule %u", sid);
    else
        buf_add_string(out, "a pass rule");
}

static bool describe_pass(const struct explain *e, const struct wanted *w,
                          const struct inspection *in, struct buf *out)
{
    const struct packet *p = in->packet;

    if (w->rule->action == RULE_PASS ||
        !((p->action & ACTION_PASS) || (p->flow != NULL && (p->flow->action & ACTION_PASS))))
        return false;
    describe_passed_by(e, p, out);
    buf_add_string(out, " lets the packet go before");
    return true;
}

/* --- the rest --------------------------------------------------------------------------------- */

bool held_back_by_itself(const struct rule *r, struct buf *out)
{
    if (r->action == RULE_PASS)
        buf_add_string(out, "it is a pass rule: it matches, and gives no alert");
    else if (r->flags & RULE_NOALERT)
        buf_add_string(out, "noalert: the rule matches, and gives no alert");
    return r->action == RULE_PASS || (r->flags & RULE_NOALERT);
}

bool held_back_in_short(const struct rule *r, struct buf *out)
{
    if (r->action == RULE_PASS)
        buf_add_string(out, "a pass rule");
    else if (r->flags & RULE_NOALERT)
        buf_add_string(out, "noalert");
    else
        return describe_threshold(r, out);
    return true;
}

static bool has_silent(const struct wanted *w)
{
    for (unsigned i = 0; i < w->count; i++)
        if (w->condition[i].silent)
            return true;
    return false;
}

static void describe(struct explain *e, const struct wanted *w, const struct inspection *in,
                     uint32_t counted, struct buf *out)
{
    const struct rule *r = w->rule;

    if (held_back_by_itself(r, out) || describe_pass(e, w, in, out))
        return;
    if (held_back_by_threshold(r, in, counted, out))
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
char *held_back_make(struct explain *e, const struct wanted *w, const struct inspection *in,
                     uint32_t counted)
{
    struct buf out = { 0 };
    char *text;

    describe(e, w, in, counted, &out);
    text = text_take(&out);
    buf_fini(&out);
    return text;
}
