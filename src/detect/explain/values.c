/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/values.c - what a test on a packet or flow looked at, as text. */
#include "app/core/file.h"
#include "app/proto.h"
#include "detect/explain/notes.h"
#include "detect/rule/flowbits.h"
#include "flow/flow.h"
#include "flow/vars.h"

#include <string.h>

static bool ttl(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the time to live is %u", packet_hop_limit(in->packet));
    return in->packet->src.version != 0;
}

static bool tos(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the type of service is %u", packet_tos(in->packet));
    return in->packet->src.version != 0;
}

static bool ip_id(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the IP id is %u", packet_ip_id(in->packet));
    return in->packet->src.version != 0;
}

static bool dsize(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the payload of the packet has %u byte%s", in->packet->payload_len,
               in->packet->payload_len == 1 ? "" : "s");
    return true;
}

static bool ip_proto(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the IP protocol is %u", in->packet->ip_proto);
    return in->packet->src.version != 0;
}

/* In the order of the rule language, from the lowest bit on. */
static bool tcp_flags(const struct match_input *in, struct buf *out)
{
    static const char letters[] = "FSRPAUEC";
    uint8_t flags = in->packet->tcp.flags;

    if (in->packet->ip_proto != 6)
        return false;
    buf_add_string(out, "the flags are ");
    for (unsigned i = 0; i < 8; i++)
        if (flags & 1u << i)
            buf_add_u8(out, (uint8_t)letters[i]);
    if (flags == 0)
        buf_add_string(out, "none");
    return true;
}

static bool tcp_seq(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the sequence number is %u", in->packet->tcp.seq);
    return in->packet->ip_proto == 6;
}

static bool tcp_ack(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the acknowledgement number is %u", in->packet->tcp.ack);
    return in->packet->ip_proto == 6;
}

static bool tcp_window(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the window is %u", in->packet->tcp.window);
    return in->packet->ip_proto == 6;
}

static bool icmp_type(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the ICMP type is %u", in->packet->icmp.type);
    return in->packet->ip_proto == 1 || in->packet->ip_proto == 58;
}

static bool icmp_code(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the ICMP code is %u", in->packet->icmp.code);
    return in->packet->ip_proto == 1 || in->packet->ip_proto == 58;
}

static bool fragments(const struct match_input *in, struct buf *out)
{
    const struct packet *p = in->packet;

    buf_printf(out, "the fragment offset is %u, %smore fragments follow", p->fragment.offset,
               p->fragment.more ? "" : "no ");
    return p->src.version == 4;
}

static bool vlan(const struct match_input *in, struct buf *out)
{
    const struct packet *p = in->packet;

    buf_add_string(out, p->vlan_count == 0 ? "the packet has no VLAN" : "the VLANs are");
    for (unsigned i = 0; i < p->vlan_count; i++)
        buf_printf(out, " %u", p->vlan[i]);
    return true;
}

static bool app_layer(const struct match_input *in, struct buf *out)
{
    if (in->flow == NULL)
        buf_add_string(out, "the packet has no flow");
    else
        buf_printf(out, "the protocol of the flow is %s",
                   app_proto_name((enum app_proto_id)in->flow->app_proto));
    return true;
}

static bool flow_counts(const struct match_input *in, struct buf *out)
{
    const struct flow *f = in->flow;

    if (f == NULL)
        return false;
    buf_printf(out, "the flow has %llu packets and %llu bytes to the server, %llu and %llu to the "
               "client", (unsigned long long)f->packets[0], (unsigned long long)f->bytes[0],
               (unsigned long long)f->packets[1], (unsigned long long)f->bytes[1]);
    return true;
}

static bool flow_age(const struct match_input *in, struct buf *out)
{
    if (in->flow == NULL)
        return false;
    buf_printf(out, "the flow is %llu seconds old",
               (unsigned long long)((in->packet->time_us - in->flow->start_us) / 1000000));
    return true;
}

static bool ip_addresses(const struct match_input *in, struct buf *out)
{
    struct packet_ends ends = packet_ends(in->packet, in->direction);
    char src[IP_TEXT_SIZE], dst[IP_TEXT_SIZE];

    if (in->packet->src.version == 0)
        return false;
    ip_format(ends.src, src);
    ip_format(ends.dst, dst);
    buf_printf(out, "the addresses are %s and %s", src, dst);
    return true;
}

struct bits { struct buf *out; unsigned count; };

static bool name_bit(const struct flow_var_view *v, void *arg)
{
    struct bits *b = arg;

    if (v->kind == VAR_FLOWBIT)
        buf_printf(b->out, "%s%s", b->count++ > 0 ? ", " : "", var_name(VAR_FLOWBIT, v->id));
    return true;
}

static bool flowbits(const struct match_input *in, struct buf *out)
{
    struct bits b = { out, 0 };

    if (in->flow == NULL) {
        buf_add_string(out, "the packet has no flow");
        return true;
    }
    buf_add_string(out, "the flow's bits are: ");
    flow_vars_each(in->flow, name_bit, &b);
    if (b.count == 0)
        buf_add_string(out, "none");
    return true;
}

static bool name_int(const struct flow_var_view *v, void *arg)
{
    struct bits *b = arg;

    if (v->kind == VAR_FLOWINT)
        buf_printf(b->out, "%s%s=%u", b->count++ > 0 ? ", " : "", var_name(VAR_FLOWINT, v->id),
                   v->number);
    return true;
}

static bool flowints(const struct match_input *in, struct buf *out)
{
    struct bits b = { out, 0 };

    if (in->flow == NULL)
        return false;
    buf_add_string(out, "the flow's integers are: ");
    flow_vars_each(in->flow, name_int, &b);
    if (b.count == 0)
        buf_add_string(out, "none");
    return true;
}

static bool tcp_mss(const struct match_input *in, struct buf *out)
{
    if (in->packet->ip_proto != 6)
        return false;
    if (in->packet->tcp_options.has & TCP_HAS_MSS)
        buf_printf(out, "the maximum segment size is %u", in->packet->tcp_options.mss);
    else
        buf_add_string(out, "the packet has no maximum segment size");
    return true;
}

static bool tcp_wscale(const struct match_input *in, struct buf *out)
{
    if (in->packet->ip_proto != 6)
        return false;
    if (in->packet->tcp_options.has & TCP_HAS_WSCALE)
        buf_printf(out, "the window scale is %u", in->packet->tcp_options.window_scale);
    else
        buf_add_string(out, "the packet has no window scale");
    return true;
}

static bool icmp_seq(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the sequence number is %u", in->packet->icmp.seq);
    return in->packet->ip_proto == 1 || in->packet->ip_proto == 58;
}

static bool icmp_id(const struct match_input *in, struct buf *out)
{
    buf_printf(out, "the identifier is %u", in->packet->icmp.id);
    return in->packet->ip_proto == 1 || in->packet->ip_proto == 58;
}

static bool filesize(const struct match_input *in, struct buf *out)
{
    static const char *const states[] = { "so far", "", "and was cut there", "before an error" };
    unsigned count = 0;

    for (const struct app_file *f = in->tx != NULL ? in->tx->files[in->direction] : NULL;
         f != NULL && count < 4; f = f->next)
        buf_printf(out, "%sthe file has %llu bytes%s%s", count++ > 0 ? ", " : "",
                   (unsigned long long)f->size, f->state != FILE_CLOSED ? " " : "",
                   states[f->state]);
    if (count == 0)
        buf_add_string(out, "there is no file");
    return true;
}

/* What a protocol's own test looked at. */
static bool match_value(const struct rule_test *test, const struct match_input *in,
                        struct buf *out)
{
    const struct app_match *const *m = in->tx != NULL ? in->tx->flow->proto->matches : NULL;

    while (m != NULL && *m != NULL && strcmp((*m)->name, test->keyword->name) != 0)
        m++;
    return m != NULL && *m != NULL && (*m)->tell != NULL &&
           (*m)->tell(in->tx, in->direction, out);
}

static const struct { const char *keyword; bool (*get)(const struct match_input *, struct buf *); }
values[] = {
    { "ttl", ttl }, { "tos", tos }, { "id", ip_id }, { "dsize", dsize }, { "ip_proto", ip_proto },
    { "tcp.flags", tcp_flags }, { "seq", tcp_seq }, { "tcp.seq", tcp_seq }, { "ack", tcp_ack },
    { "tcp.ack", tcp_ack }, { "window", tcp_window }, { "tcp.window", tcp_window },
    { "itype", icmp_type }, { "icode", icmp_code }, { "fragbits", fragments },
    { "fragoffset", fragments }, { "vlan.id", vlan }, { "vlan.layers", vlan },
    { "app-layer-protocol", app_layer }, { "flow.age", flow_age }, { "flow.pkts", flow_counts },
    { "flow.bytes", flow_counts }, { "flow.pkts_toserver", flow_counts },
    { "flow.pkts_toclient", flow_counts }, { "flow.bytes_toserver", flow_counts },
    { "flow.bytes_toclient", flow_counts },
    { "sameip", ip_addresses }, { "geoip", ip_addresses },
    { "flowbits", flowbits }, { "flowint", flowints }, { "tcp.mss", tcp_mss },
    { "tcp.wscale", tcp_wscale }, { "icmp_seq", icmp_seq }, { "icmp_id", icmp_id },
    { "filesize", filesize },
};

bool test_value(const struct rule_test *test, const struct match_input *in, struct buf *out)
{
    size_t before = out->len;

    if (test->keyword->tell != NULL && test->keyword->tell(test, in, out))
        return true;
    out->len = before;
    if (match_value(test, in, out))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        if (strcmp(values[i].keyword, test->keyword->name) != 0)
            continue;
        if (values[i].get(in, out))
            return true;
        out->len = before;
        return false;
    }
    return false;
}
