/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/alert.h - the alerts of a packet, for outputs. */
#ifndef DETECT_ALERT_H
#define DETECT_ALERT_H

#include "packet/packet.h"

struct rule;

/* One match of a rule. Alerts are in the order of evaluation; detect owns them until they are
 * rendered. */
/* Additional data of a match. detect owns the memory, which is valid until its next packet. */
struct alert_extra {
    struct slice context;               /* members of a JSON object, without braces; may be empty */
    struct slice payload;               /* stream data that matched; data NULL: not stored */
};
/* A named capture in this packet; the list begins with the latest. */
struct packet_var {
    const struct packet_var *next;
    uint32_t id;                        /* VAR_PKTVAR */
    struct slice key, value;
};

struct packet_alert {
    const struct rule *rule;            /* lives as long as the packet's ruleset reference */
    uint64_t tx_id;                     /* ALERT_NO_TX: not about a transaction */
    uint32_t frame_id;                  /* 0: not about a frame */
    uint8_t action;                     /* enum packet_action that was applied */
    uint8_t flags;                      /* ALERT_* */
    const struct alert_extra *extra;    /* NULL: nothing */
};
#define ALERT_NO_TX UINT64_MAX
#define ALERT_STREAM      0x01          /* matched in stream data, not in this packet alone */
#define ALERT_SUPPRESSED  0x02          /* a threshold suppresses the log */
#define ALERT_TX_GUESSED  0x04
#define ALERT_RATE_ACTION 0x08          /* rate_filter changed the action */
#define ALERT_APP_STATE   0x10
#define ALERT_TO_PACKET   0x40          /* firewall rule that decides about the entire packet */
#define ALERT_FIREWALLED  0x80          /* in firewall mode: the record shows the deciding rule */
#define ALERT_REVERSED    0x20          /* on a flow's last packet: found in the other direction */

struct detect_slot {
    uint16_t alert_count;               /* of packet_alerts() */
    uint32_t tenant_id;                 /* tenant whose rules inspected it; 0: none */
    const struct rule *dropped_by;  /* rule that drops the packet, whether logged or not; or NULL */
    const struct packet_var *vars;      /* valid until detect gets the next packet */
};
PACKET_SLOT_ACCESSOR(detect, PACKET_SLOT_DETECT)

static inline struct packet_alert *packet_alerts(const struct packet *p)
{
    return (void *)p->memory[PACKET_MEMORY_ALERTS].data;
}

/* The direction that the rule inspected when it matched. */
static inline enum direction packet_alert_side(const struct packet *p, const struct packet_alert *a)
{
    enum direction own = packet_direction(p);

    return a->flags & ALERT_REVERSED ? OTHER_DIRECTION(own) : own;
}

#endif
