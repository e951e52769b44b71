/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/drop.c - the record type `drop`: packets that were not let through, in IPS
 * mode. */
#include <stdlib.h>

#include "base/array.h"
#include "output/eve/alert.h"
#include "output/log_limit.h"

struct drop_settings {
    bool alerts, verdict, first_only, firewall;
};

/* In firewall mode a drop shows the verdict: most drops come from a policy, not from a rule. As in
 * Suricata 8.0.6 a bare "- drop" does not. */
static void *drop_configure(const struct conf_node *node, const struct eve *eve, struct err *err)
{
    static const char *const flows[] = { "start", "all", NULL };
    struct drop_settings *s = xcalloc(1, sizeof(*s));

    (void)err;
    s->alerts = conf_bool(node, "alerts", false);
    s->firewall = conf_bool(eve->request->conf, "firewall.enabled", false);
    s->verdict = conf_bool(node, "verdict", false) || (s->firewall && node->kind != CONF_SCALAR);
    s->first_only = conf_choice(node, "flows", flows, 0) == 0;
    return s;
}

static void drop_headers(struct json *j, const struct packet *p)
{
    eve_ip_header(j, p);
    if (packet_is_tcp(p)) {
        eve_tcp_header(j, p, p->tcp.seq);
    } else if (packet_is_udp(p)) {
        json_u64(j, "udplen", get_be16(p->l4 + 4));
    } else if (p->ip_proto == 1 && p->l4 != NULL) {         /* not ICMPv6, as in Suricata */
        json_u64(j, "icmp_id", p->icmp.id);
        json_u64(j, "icmp_seq", p->icmp.seq);
    }
}

/* The alert that decided about the packet, or NULL. */
static const struct packet_alert *drop_alert(const struct packet *p)
{
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++)
        if (packet_alerts(p)[i].action & (ACTION_DROP | ACTION_REJECT))
            return &packet_alerts(p)[i];
    return NULL;
}

/* A pseudo packet was never on the wire. */
static bool drop_condition(const struct packet *p)
{
    return (p->action & (ACTION_DROP | ACTION_REJECT)) != 0 && !(p->flags & PACKET_PSEUDO);
}

/* True if the drop covers the rest of the flow. */
static bool flow_goes(const struct packet *p)
{
    return (p->action & ACTION_DROP_FLOW) || (p->flow->action & ACTION_DROP);
}

/* "flows: start": logs only the first packet of each direction of a dropped flow. A packet that a
 * rule drops is always logged. */
static bool is_logged(const struct packet *p, uint8_t logged)
{
    if (p->flow == NULL || detect_slot(p)->dropped_by != NULL)
        return true;
    return flow_goes(p) && !(p->flow->inspect_flags & logged);
}

/* A rule with noalert has no alert to show; `silent` replaces it. */
static void drop_packet(struct render *r, const struct eve *eve, void *settings, struct packet *p)
{
    const struct drop_settings *s = settings;
    const struct rule *dropped_by = detect_slot(p)->dropped_by;
    const struct packet_alert silent = { .rule = dropped_by, .tx_id = ALERT_NO_TX,
                                         .action = ACTION_DROP,
                                         .flags = s->firewall ? ALERT_FIREWALLED : 0 };
    const struct packet_alert *a = drop_alert(p);
    uint8_t logged = packet_direction(p) == TO_SERVER ? FLOW_INSPECT_DROP_LOGGED_TS
                                                      : FLOW_INSPECT_DROP_LOGGED_TC;
    struct json j;

    if (!eve->request->is_inline)
        return;
    if (a == NULL && dropped_by != NULL)
        a = &silent;
    if (s->first_only && !is_logged(p, logged))
        return;
    if (p->flow != NULL && flow_goes(p))
        p->flow->inspect_flags |= logged;
    if (eve_is_left_out(r, p))
        return;
    eve_begin(
        r, eve, &j, p,
        (struct eve_head){ EVE_AS_PACKET, "drop", s->alerts && a != NULL ? a->tx_id : EVE_NO_TX });
    if (p->flow != NULL)
        json_string(&j, "direction",
                    packet_direction(p) == TO_SERVER ? "to_server" : "to_client");
    json_object(&j, "drop");
    drop_headers(&j, p);
    json_string(&j, "reason", drop_reason_text(p->drop_reason));
    json_object_end(&j);
    if (s->verdict)
        eve_verdict(&j, eve, p);
    if (s->alerts && a != NULL)
        eve_alert_object(r, &j, eve, p, &(struct eve_alert){
            .alert = a, .side = packet_direction(p), .metadata = true });
    eve_end_limited(r, eve, &j, p);
}

const struct eve_type eve_type_drop = {
    .name = "drop",
    .configure = drop_configure,
    .condition = drop_condition,
    .only_notable = true,
    .packet = drop_packet,
};
