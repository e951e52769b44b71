/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/header_view.h - the conditions of rules on a packet's header, direction and
 * protocol, tested once for a flow. */
#ifndef DETECT_HEADER_VIEW_H
#define DETECT_HEADER_VIEW_H

#include "app/proto.h"
#include "detect/compile/compile.h"
#include "detect/inspect/flow_state.h"
#include "flow/flow.h"

/* Sender and receiver for header tests: those of the packet, or exchanged. */
struct header_view {
    const struct ip *src, *dst;
    uint16_t src_port, dst_port;
    uint8_t ip_proto;
    bool fragment;
    uint32_t refused;             /* enum rule_flag: rules with one of them do not fit the packet */
    struct header_cache *cache;   /* that of the flow, or `own` */
    struct header_cache own;
};

/* header.c: prepares header tests for data of direction d. */
void header_view_init(struct header_view *h, const struct packet *p, enum direction d);
bool rule_header_test(const struct rule *r, struct header_view *h);
/* The same for all rules with a header. */
bool plan_header_test(const struct detect_plan *plan, uint8_t header_id, struct header_view *h);
bool rule_packet_fits_rarely(const struct rule *r, const struct packet *p);

/* Twenty rules are asked for a packet, and nearly all have a header that was tested before. */
static inline bool rule_header_fits(const struct rule *r, struct header_view *h)
{
    uint64_t bit = 1ull << (r->header_id & 63);

    if (LIKELY(r->header_id != HEADER_ID_NONE && (h->cache->tested & bit)))
        return (h->cache->matched & bit) != 0;
    return rule_header_test(r, h);
}

/* Conditions on the packet that are flags in the rule. The direction needs no test: the rule was
 * found in the group of its direction. */
static inline bool rule_packet_fits(const struct rule *r, const struct header_view *h,
                                    const struct packet *p)
{
    if (r->flags & h->refused)
        return false;
    return LIKELY(r->hook != HOOK_FLOW_START && r->link == RULE_LINK_ANY &&
                  !(p->flags & PACKET_PSEUDO)) ||
           rule_packet_fits_rarely(r, p);
}

/* False: no rule with this header id can match. No rule is read. */
static inline bool header_may_fit(const struct detect_plan *plan, uint8_t header_id,
                                  struct header_view *h)
{
    uint64_t bit = 1ull << (header_id & 63);

    if (header_id == HEADER_ID_NONE)
        return true;
    if (LIKELY(h->cache->tested & bit))
        return (h->cache->matched & bit) != 0;
    return plan_header_test(plan, header_id, h);
}
/* The same for the rules of a section. */
static inline bool section_may_fit(const struct detect_plan *plan,
                                   const struct anchored_section *s, struct header_view *h)
{
    return s->header_id == HEADER_ID_NONE ? rule_header_fits(s->rule, h)
                                          : header_may_fit(plan, s->header_id, h);
}
/* True: the header is known to match. */
static inline bool header_is_known(uint8_t header_id, const struct header_view *h)
{
    uint64_t bit = 1ull << (header_id & 63);

    return header_id != HEADER_ID_NONE && (h->cache->tested & h->cache->matched & bit);
}

/* Before the flow's protocol is known a rule that names one does not match. */
static inline bool proto_fits(enum app_proto_id rule_proto, const struct packet *p)
{
    if (rule_proto == APP_PROTO_UNKNOWN)
        return true;
    return p->flow != NULL && app_proto_matches(rule_proto, p->flow->app_proto);
}

static inline enum transport packet_group(const struct packet *p)
{
    return UNLIKELY(p->src.version == 0) ? TRANSPORT_NONE : transport_of(p->ip_proto);
}

#endif
