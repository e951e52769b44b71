/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/header.c - the cheap half of a rule: header, direction, flow state, and tests on
 * the packet. */
#include "detect/inspect/part_cost.h"
#include "flow/flow.h"
#include "match/address.h"
#include "match/port.h"

#define ETHERTYPE_ARP 0x0806

/* The results for a flow's addresses and ports never change, so each header is tested once
 * for a flow. Fragments and ICMP errors about the flow have other headers. NULL: no cache
 * applies. */
static struct header_cache *cache_of(const struct packet *p, enum direction d)
{
    struct detect_flow *df = p->flow != NULL ? p->flow->detect : NULL;

    if (df == NULL || p->ip_proto != p->flow->key.proto || (p->flags & PACKET_FRAGMENT))
        return NULL;
    return &df->cache[(d == TO_CLIENT) != flow_is_swapped(p->flow)];
}

/* Of what a rule asks of the packet's flow and fragments: what does not hold. Rules are many and
 * the packet is one, so it is found out once. */
static uint32_t refused_flags(const struct packet *p)
{
    return (p->flow == NULL ? RULE_NEEDS_FLOW : 0u) |
           (p->flags & PACKET_ESTABLISHED ? RULE_FLOW_NOT_ESTABLISHED : RULE_FLOW_ESTABLISHED) |
           (p->flags & PACKET_REASSEMBLED ? RULE_NO_FRAG : RULE_ONLY_FRAG);
}

/* d may be the other direction than the packet's: a packet that acknowledges data leads to
 * the inspection of these data. */
void header_view_init(struct header_view *h, const struct packet *p, enum direction d)
{
    struct packet_ends ends = packet_ends(p, d);

    *h = (struct header_view){
        .src = ends.src,
        .dst = ends.dst,
        .src_port = ends.src_port,
        .dst_port = ends.dst_port,
        .ip_proto = p->ip_proto,
        .fragment = (p->flags & PACKET_FRAGMENT) != 0,
        .refused = refused_flags(p),
        .cache = cache_of(p, d),
    };
    if (h->cache == NULL)
        h->cache = &h->own;
}

/* TCP, UDP and SCTP. */
static bool has_ports(uint8_t ip_proto)
{
    return ip_proto == 6 || ip_proto == 17 || ip_proto == 132;
}

/* A fragment has no ports, so a rule that names some does not match it. */
static bool ports_fit(const struct rule *r, const struct header_view *h)
{
    bool any_src = r->src_port == NULL || r->src_port->any;
    bool any_dst = r->dst_port == NULL || r->dst_port->any;

    if (any_src && any_dst)
        return true;
    if (!has_ports(h->ip_proto) || h->fragment)
        return false;
    return (any_dst || port_set_has(r->dst_port, h->dst_port)) &&
           (any_src || port_set_has(r->src_port, h->src_port));
}

/* NULL is any address. */
static bool address_fits(const struct address_set *set, const struct ip *ip)
{
    return set == NULL || set->any || address_set_has(set, ip);
}

static bool header_fits(const struct rule *r, const struct header_view *h)
{
    if (r->ip_version != 0 && h->src->version != r->ip_version)
        return false;
    return rule_has_ip_proto(r, h->ip_proto) && ports_fit(r, h) &&
           address_fits(r->dst, h->dst) && address_fits(r->src, h->src);
}

/* The first rule with this header, or one whose header is too rare to have a number
 * (compile/header_id.c): the result for such a one is not cached. */
bool rule_header_test(const struct rule *r, struct header_view *h)
{
    uint64_t bit = 1ull << (r->header_id & 63);
    bool fits = header_fits(r, h);

    if (r->header_id == HEADER_ID_NONE)
        return fits;
    h->cache->tested |= bit;
    if (fits)
        h->cache->matched |= bit;
    return fits;
}

bool plan_header_test(const struct detect_plan *plan, uint8_t header_id, struct header_view *h)
{
    const struct plan_header *t = &plan->header[header_id];
    const uint64_t bit = 1ull << header_id;
    bool fits;

    if (UNLIKELY(h->ip_proto >= 64))
        return rule_header_test(t->rule, h);
    fits = (t->ip_version == 0 || t->ip_version == h->src->version) &&
           (t->ip_protos >> h->ip_proto & 1) != 0;
    if (t->src_port != NULL || t->dst_port != NULL)
        fits = fits && has_ports(h->ip_proto) && !h->fragment &&
               (t->dst_port == NULL || port_set_has(t->dst_port, h->dst_port)) &&
               (t->src_port == NULL || port_set_has(t->src_port, h->src_port));
    fits = fits && (t->dst == NULL || address_set_has(t->dst, h->dst)) &&
           (t->src == NULL || address_set_has(t->src, h->src));
    h->cache->tested |= bit;
    h->cache->matched |= fits ? bit : 0;
    return fits;
}

/* An ARP message that the decoder has accepted has a layer 3, and no addresses of IP. */
static bool link_fits(const struct rule *r, const struct packet *p)
{
    if (p->eth == NULL)
        return false;
    return r->link != RULE_LINK_ARP ||
           (p->ethertype == ETHERTYPE_ARP && p->l3 != NULL && p->src.version == 0);
}

/* A condition on single packets cannot hold for a packet that the engine has made. */
bool rule_packet_fits_rarely(const struct rule *r, const struct packet *p)
{
    if (r->link != RULE_LINK_ANY && !link_fits(r, p))
        return false;
    if ((r->flags & (RULE_NEEDS_PACKET | RULE_NEEDS_STREAM)) == RULE_NEEDS_PACKET &&
        (p->flags & PACKET_PSEUDO))
        return false;
    return r->hook != HOOK_FLOW_START || r->hook_in_app ||
           (p->flags & (PACKET_FLOW_START | PACKET_FIRST_IN_DIR));
}

static bool COLD tests_pass_timed(const struct rule *r, const struct match_input *in)
{
    bool pass = true;

    for (unsigned i = 0; pass && i < r->test_count - r->late_count; i++) {
        const struct rule_test *test = &r->test[i];

        test_begin(in->thread, test);
        pass = test->match(in, test->arg) != test->negated;
    }
    part_lap(in->thread, COST_KEYWORD, NULL);
    return pass;
}

/* Cheap tests first stop the evaluation of most candidates. */
bool rule_tests_pass(const struct rule *r, const struct match_input *in)
{
    const struct rule_test *test = r->test;     /* NULL without tests */

    if (UNLIKELY(in->thread->laps.on))
        return tests_pass_timed(r, in);
    for (unsigned left = r->test_count - r->late_count; left > 0; left--, test++)
        if (test->match(in, test->arg) == test->negated)
            return false;
    return true;
}

/* Expensive tests, as Lua scripts, only run when everything else has matched. */
bool rule_late_tests_pass(const struct rule *r, const struct match_input *in)
{
    for (unsigned i = r->test_count - r->late_count; i < r->test_count; i++) {
        test_begin(in->thread, &r->test[i]);
        if (r->test[i].match(in, r->test[i].arg) == r->test[i].negated)
            return false;
    }
    return true;
}
