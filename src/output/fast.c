/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/fast.c - `fast`: an alert a line, for people. */
#include <stdlib.h>

#include "base/array.h"
#include "output/logger.h"
#include "output/text.h"

struct fast {
    struct sink *sink;
    bool is_inline;
};

static void *fast_open(const struct output_request *request, struct output_conf *conf,
                       const struct conf_node *node, struct err *err)
{
    struct sink *sink = sink_open(request, conf, node, "fast.log", err);
    struct fast *fast;

    if (sink == NULL)
        return NULL;
    fast = xcalloc(1, sizeof(*fast));
    fast->sink = sink;
    fast->is_inline = request->is_inline;
    return fast;
}

static void fast_proto(struct buf *out, const struct packet *p)
{
    switch (p->ip_proto) {
    case 1: BUF_LITERAL(out, "ICMP"); break;
    case 6: BUF_LITERAL(out, "TCP"); break;
    case 17: BUF_LITERAL(out, "UDP"); break;
    case 58: BUF_LITERAL(out, "IPv6-ICMP"); break;
    case 132: BUF_LITERAL(out, "SCTP"); break;
    default: buf_printf(out, "PROTO:%03u", p->ip_proto); break;
    }
}

static void fast_endpoint(struct buf *out, const struct ip *ip, uint16_t port)
{
    text_address(out, ip);
    buf_printf(out, ":%u", port);
}

static void fast_alert(const struct fast *fast, struct buf *out, const struct packet *p,
                       const struct packet_alert *a)
{
    const struct rule *rule = a->rule;
    bool icmp = (p->ip_proto == 1 || p->ip_proto == 58) && p->l4 != NULL;

    text_time(out, p->time_us);
    BUF_LITERAL(out, "  ");
    if (a->action & (ACTION_DROP | ACTION_REJECT))
        buf_add_string(out, fast->is_inline ? "[Drop] " : "[wDrop] ");
    buf_printf(out, "[**] [%u:%u:%u] %s [**] [Classification: %s] [Priority: %u] {", rule->gid,
               rule->sid, rule->rev,
               rule->msg != NULL && rule->msg[0] != '\0' ? rule->msg : "(null)",
               rule->class_text != NULL ? rule->class_text : "(null)", rule->priority);
    fast_proto(out, p);
    BUF_LITERAL(out, "} ");
    fast_endpoint(out, &p->src, icmp ? p->icmp.type : p->src_port);
    BUF_LITERAL(out, " -> ");
    fast_endpoint(out, &p->dst, icmp ? p->icmp.code : p->dst_port);
    buf_add_u8(out, '\n');
}

static void fast_packet(struct render *r, void *self, struct packet *p)
{
    const struct fast *fast = self;

    for (unsigned i = 0; i < p->alert.count; i++) {
        if (p->alert.at[i].flags & ALERT_SUPPRESSED || p->src.version == 0)
            continue;
        if (p->alert.at[i].flags & ALERT_REVERSED)
            packet_turn(p);
        record_begin(r, fast->sink);
        fast_alert(fast, r->out, p, &p->alert.at[i]);
        record_end(r);
        if (p->alert.at[i].flags & ALERT_REVERSED)
            packet_turn(p);
    }
}

static void fast_close(void *self)
{
    free(self);
}

const struct logger_ops logger_fast = {
    .name = "fast",
    .doc = "alerts, one a line",
    .open = fast_open,
    .close = fast_close,
    .packet = fast_packet,
};
