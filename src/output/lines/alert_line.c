/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/alert_line.c - an alert in one line, for people. */
#include "output/lines/alert_line.h"

#include "base/array.h"
#include "output/log_limit.h"
#include "output/text.h"

/* Bytes; as in Suricata. */
#define RAW_MAX 32

/* "TCP", or "PROTO:254" for a number without a name. */
static void protocol(struct buf *out, const struct packet *p)
{
    const char *name = ip_proto_name(p->ip_proto);

    if (name != NULL)
        buf_add_string(out, name);
    else
        buf_printf(out, "PROTO:%03u", p->ip_proto);
}

/* IPv6 addresses have no brackets here: scripts that read fast.log expect Suricata's form. */
static void endpoint(struct buf *out, const struct ip *ip, uint16_t port)
{
    text_address(out, ip);
    buf_printf(out, ":%u", port);
}

/* For ICMP, type and code replace the ports, as in Suricata. */
static void add_ends(struct buf *out, const struct packet *p, enum direction side)
{
    struct packet_ends ends = packet_ends(p, side);
    bool icmp = (p->ip_proto == 1 || p->ip_proto == 58) && p->l4 != NULL;

    BUF_LITERAL(out, " {");
    protocol(out, p);
    BUF_LITERAL(out, "} ");
    endpoint(out, ends.src, icmp ? p->icmp.type : ends.src_port);
    BUF_LITERAL(out, " -> ");
    endpoint(out, ends.dst, icmp ? p->icmp.code : ends.dst_port);
}

/* A packet without addresses shows its first bytes and its number in the capture file. */
static void raw(struct buf *out, const struct packet *p)
{
    BUF_LITERAL(out, " [**] [Raw pkt: ");
    for (uint32_t i = 0; p->data != NULL && i < MIN(p->len, RAW_MAX); i++)
        buf_printf(out, "%02X ", p->data[i]);
    BUF_LITERAL(out, "]");
    if (p->number != 0)
        buf_printf(out, " [pcap file packet: %llu]", (unsigned long long)p->number);
}

/* [Drop]: dropped. [wDrop]: would be dropped in IPS mode. fast.log has the time and more asterisks;
 * syslog adds its own time. */
static void line(const struct alert_lines *lines, struct buf *out, const struct packet *p,
                 const struct packet_alert *a)
{
    const char *stars = lines->is_dated ? "[**] " : "";
    const struct rule *rule = a->rule;
    const struct rule_info *info = rule_info(rule);

    if (lines->is_dated) {
        text_time(out, p->time_us);
        BUF_LITERAL(out, "  ");
    }
    if (a->action & (ACTION_DROP | ACTION_REJECT))
        buf_add_string(out, lines->is_inline ? "[Drop] " : "[wDrop] ");
    buf_printf(out, "%s[%u:%u:%u] %s %s[Classification: %s] [Priority: %d]", stars, rule->gid,
               rule->sid, rule->rev,
               info->msg != NULL && info->msg[0] != '\0' ? info->msg : "(null)", stars,
               info->class_text != NULL ? info->class_text : "(null)", rule->priority);
    if (p->src.version != 0)
        add_ends(out, p, packet_alert_side(p, a));
    else
        raw(out, p);
    buf_add_u8(out, '\n');
}

/* ALERT_REVERSED: found in data of the other direction, so its addresses are swapped for
 * the line. */
void alert_lines_packet(struct render *r, void *self, struct packet *p)
{
    const struct alert_lines *lines = self;

    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++) {
        if (packet_alerts(p)[i].flags & ALERT_SUPPRESSED)
            continue;
        if (UNLIKELY(log_limit_is_used(r, p, LOG_LIMIT_LEAST))) {
            log_limit_count(r, p, LEFT_OUT_LINE, NULL);
            continue;
        }
        record_begin(r, lines->sink);
        line(lines, r->out, p, &packet_alerts(p)[i]);
        record_end_line(r, p);
    }
}
