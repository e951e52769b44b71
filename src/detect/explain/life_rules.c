/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life_rules.c - the rules that were asked with a packet, and what came of it. */
#include "base/memory/traffic_memory.h"
#include "detect/explain/life_private.h"
#include "detect/explain/notes.h"
#include "flow/flow.h"

#include <stdio.h>

static struct life_rule *rule_get(struct life *l, const struct rule *r)
{
    struct life_flow *f = l->at_flow;

    if (r->index >= l->set->plan->rule_count)
        return NULL;
    if (f->rule_at[r->index] == 0) {
        if (!ARRAY_HAS_SPACE(&f->rule, 1))
            return NULL;
        f->rule.at[f->rule.count++] = (struct life_rule){ .rule = r };
        f->rule_at[r->index] = (uint32_t)f->rule.count;
    }
    return &f->rule.at[f->rule_at[r->index] - 1];
}

static unsigned alerts_of(const struct packet *p, const struct rule *r, unsigned from)
{
    unsigned n = 0;

    for (unsigned i = from; i < detect_slot(p)->alert_count; i++)
        n += packet_alerts(p)[i].rule == r;
    return n;
}

/* More numbers are not read. */
#define SIDS_SHOWN 10

static void add_sid(struct buf *out, uint32_t sid, unsigned number)
{
    if (number < SIDS_SHOWN)
        buf_printf(out, "%s%u", number > 0 ? ", " : "", sid);
    else if (number == SIDS_SHOWN)
        BUF_LITERAL(out, " ...");
}

static void describe_held_back(struct buf *out, const struct rule *r, const struct inspection *in)
{
    const struct packet *p = in->packet;

    if (held_back_by_itself(r, out))
        return;
    if ((p->action & ACTION_PASS) || (p->flow != NULL && (p->flow->action & ACTION_PASS)))
        BUF_LITERAL(out, "a pass rule lets the packet go before");
    else if (!held_back_by_threshold(r, in, 0, out))
        BUF_LITERAL(out, "its action gives none, or the packet has too many alerts");
}

static void tell_held_back(struct life *l, const struct rule *r)
{
    struct buf why = { 0 };

    describe_held_back(&why, r, l->in);
    buf_add_u8(&why, '\0');
    if (!why.failed)
        life_number(life_log(l, LIFE_RULES, l->in->direction,
                             "rule %u matched, and there is no alert: %s", r->sid,
                             (char *)why.data), "sid", r->sid);
    buf_fini(&why);
}

static void tell_matches(struct life *l, unsigned before)
{
    const struct packet *p = l->in->packet;
    struct life_flow *f = l->at_flow;
    uint32_t asked = 0, matched = 0;
    struct life_record *r;

    buf_clear(&l->text);
    for (uint32_t i = 0; i < l->set->plan->rule_count; i++) {
        struct rule_profile *c = &l->profile[i];
        struct life_rule *rule = c->checks > 0 ? rule_get(l, l->set->plan->rule[i]) : NULL;

        if (rule == NULL)
            continue;
        asked++;
        f->asked += c->checks;
        rule->asked += (uint32_t)c->checks;
        rule->matched += (uint32_t)c->matches;
        if (c->matches > 0)
            add_sid(&l->text, rule->rule->sid, matched++);
        if (c->matches > 0 && alerts_of(p, rule->rule, before) == 0 && matched <= SIDS_SHOWN)
            tell_held_back(l, rule->rule);
        *c = (struct rule_profile){ 0 };        /* for the next packet */
    }
    if (asked == 0)
        return;
    buf_add_u8(&l->text, '\0');
    r = life_log(l, LIFE_RULES, l->in->direction, "%u of %u rules asked, %u matched%s%s", asked,
                 l->set->plan->rule_count, matched, matched > 0 ? ": " : "",
                 (char *)l->text.data);
    life_number(r, "asked", asked);
    life_number(r, "matched", matched);
    if (matched > 0)
        life_word(l, r, "sids", (char *)l->text.data);
    else if (r != NULL)
        r->is_plain = true;
}

static const char *action_word(uint8_t action)
{
    return action & ACTION_DROP     ? "drop"
           : action & ACTION_REJECT ? "reject"
           : action & ACTION_PASS   ? "pass"
                                    : "alert";
}

static void tell_alerts(struct life *l, unsigned before)
{
    const struct packet *p = l->in->packet;

    for (unsigned i = before; i < detect_slot(p)->alert_count; i++) {
        const struct packet_alert *a = &packet_alerts(p)[i];
        struct life_rule *rule = rule_get(l, a->rule);
        struct life_record *r;
        char about[64] = "";

        if (a->tx_id != ALERT_NO_TX)
            snprintf(about, sizeof(about), ", transaction %llu", (unsigned long long)a->tx_id);
        else if (a->flags & ALERT_STREAM)
            snprintf(about, sizeof(about), ", in the stream");
        r = life_log(l, LIFE_ALERT, packet_alert_side(p, a), "rule %u \"%s\" (%s)%s%s",
                     a->rule->sid, rule_info(a->rule)->msg != NULL ? rule_info(a->rule)->msg : "",
                     action_word(a->action), about,
                     a->flags & ALERT_SUPPRESSED ? ", suppressed: not logged" : "");
        life_number(r, "sid", a->rule->sid);
        life_word(l, r, "action", action_word(a->action));
        if (a->tx_id != ALERT_NO_TX)
            life_number(r, "tx_id", a->tx_id);
        if (rule != NULL)
            rule->alerts++;
        l->at_flow->alerts++;
    }
}

static void tell_packet_verdict(struct life *l)
{
    const struct packet *p = l->in->packet;
    const struct rule *by = detect_slot(p)->dropped_by;
    struct life_record *r;
    char rule[40] = "";

    if (!(p->action & (ACTION_DROP | ACTION_REJECT)) || (p->flags & PACKET_PSEUDO))
        return;
    if (by != NULL)
        snprintf(rule, sizeof(rule), ", by rule %u", by->sid);
    l->at_flow->dropped++;
    r = life_log(l, LIFE_VERDICT, packet_direction(p), "the packet is %s: %s%s",
                 p->action & ACTION_REJECT ? "rejected" : "dropped",
                 drop_reason_text((enum drop_reason)p->drop_reason), rule);
    life_word(l, r, "verdict", p->action & ACTION_REJECT ? "reject" : "drop");
    life_word(l, r, "reason", drop_reason_text((enum drop_reason)p->drop_reason));
    if (by != NULL)
        life_number(r, "sid", by->sid);
    else
        life_repeats(l, r, drop_reason_text((enum drop_reason)p->drop_reason));
}

static void tell_flow_verdict(struct life *l)
{
    static const struct { uint32_t request; const char *word, *text; } requests[] = {
        { FLOW_REQ_BYPASS, "bypass", "the flow is bypassed: later packets are only counted" },
        { FLOW_REQ_DROP, "drop", "all later packets of the flow are dropped" },
        { FLOW_REQ_PASS, "pass", "rules do not look at later packets of the flow" },
        { FLOW_REQ_NO_PAYLOAD, "no-payload", "later payload is not inspected: it is encrypted" },
    };
    struct life_flow *f = l->at_flow;
    uint32_t now = flow_requests(l->in->flow);

    for (unsigned i = 0; i < ARRAY_LEN(requests); i++)
        if (now & ~f->requests & requests[i].request)
            life_word(l, life_log(l, LIFE_VERDICT, l->in->direction, "%s", requests[i].text),
                      "verdict", requests[i].word);
    f->requests = now;
}

/* Rules that did not even look: why. */
static void tell_not_asked(struct life *l)
{
    static const char text[] = "no rule is asked: the flow is bypassed, passed or dropped";
    const struct packet *p = l->in->packet;

    if (!(p->flags & PACKET_NO_INSPECT) || (p->flags & PACKET_PSEUDO))
        return;
    life_repeats(l, life_log(l, LIFE_RULES, packet_direction(p), "%s", text), text);
}

void life_tell_rules(struct life *l, unsigned alerts_before)
{
    tell_not_asked(l);
    tell_matches(l, alerts_before);
    tell_alerts(l, alerts_before);
    tell_packet_verdict(l);
    if (l->in->flow != NULL)
        tell_flow_verdict(l);
}
