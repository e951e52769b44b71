/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/alert.h - what rules found in a packet, for outputs. */
#ifndef DETECT_ALERT_H
#define DETECT_ALERT_H

#include "packet/packet.h"

struct rule;

/* One match of a rule, ordered as found; owned by detect until rendered. */
/* What a match brought to light; the memory is detect's until its next packet. */
struct alert_extra {
    struct slice context;               /* members of a JSON object, without braces; may be empty */
    struct slice payload;               /* stream data it was found in; data NULL: not kept */
};
/* Captured in this packet by name; the latest first. */
struct packet_var {
    const struct packet_var *next;
    uint32_t id;                        /* VAR_PKTVAR */
    struct slice key, value;
};

struct packet_alert {
    const struct rule *rule;            /* lives as long as the packet's ruleset reference */
    uint64_t tx_id;                     /* ALERT_NO_TX: not about a transaction */
    uint32_t frame_id;                  /* 0: not about a frame */
    uint8_t action;                     /* enum packet_action as it applied */
    uint8_t flags;                      /* ALERT_* */
    const struct alert_extra *extra;    /* NULL: nothing */
};
#define ALERT_NO_TX UINT64_MAX
#define ALERT_STREAM      0x01          /* matched in stream data, not in this packet alone */
#define ALERT_SUPPRESSED  0x02          /* threshold says: do not log */
#define ALERT_TX_GUESSED  0x04
#define ALERT_RATE_ACTION 0x08          /* rate_filter gave it another action */
#define ALERT_APP_STATE   0x10
#define ALERT_TO_PACKET   0x40          /* of the firewall: decides about the packet as a whole */
#define ALERT_FIREWALLED  0x80          /* in firewall mode: the record says who spoke */
#define ALERT_REVERSED    0x20          /* on a flow's last packet: found looking the other way */

struct detect_slot {
    uint16_t alert_count;               /* of packet_alerts() */
    uint32_t tenant_id;                 /* whose rules looked at it; 0: no tenant's */
    const struct rule *dropped_by;      /* the rule whose alert, logged or not, drops it; or NULL */
    const struct packet_var *vars;      /* good until detect gets the next packet */
};
PACKET_SLOT_ACCESSOR(detect, PACKET_SLOT_DETECT)

static inline struct packet_alert *packet_alerts(const struct packet *p)
{
    return (void *)p->memory[PACKET_MEMORY_ALERTS].data;
}

/* Of what the rule looked at when it matched. */
static inline enum direction packet_alert_side(const struct packet *p, const struct packet_alert *a)
{
    enum direction own = packet_direction(p);

    return a->flags & ALERT_REVERSED ? OTHER_DIRECTION(own) : own;
}

#endif
