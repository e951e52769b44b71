/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow.c - keys, names and ids of flows, and state that few flows need. */
#include "flow/flow.h"
#include "flow/flow_export.h"

#include "base/system/digest.h"
#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"
#include "flow/rate.h"
#include "packet/icmp_pair.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

enum {
    PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ESP = 50, PROTO_ICMPV6 = 58,
    PROTO_SCTP = 132,
};

/* The code separates ICMPv6 flows, but not ICMPv4 ones, because some ICMPv4 messages vary it within
 * one exchange. It is above the type, so src_port holds both. */
static void key_icmp(const struct packet *p, struct flow_key *key)
{
    int other = icmp_counterpart(p->ip_proto, p->icmp.type);

    key->src_port = p->icmp.type;
    if (p->ip_proto == PROTO_ICMPV6)
        key->src_port |= (uint16_t)(p->icmp.code << 8);
    key->dst_port = other == ICMP_NO_COUNTERPART ? 0 : (uint16_t)other;
}

/* Unused bytes of the key are zero, so that keys can be compared as memory. */
void flow_key_of_packet(const struct packet *p, struct flow_key *key)
{
    memset(key, 0, sizeof(*key));
    key->src = p->src;
    key->dst = p->dst;
    key->proto = p->ip_proto;
    key->recursion = p->recursion;
    memcpy(key->vlan, p->vlan, sizeof(key->vlan));
    if (p->ip_proto == PROTO_TCP || p->ip_proto == PROTO_UDP || p->ip_proto == PROTO_SCTP) {
        key->src_port = p->src_port;
        key->dst_port = p->dst_port;
    } else if (p->ip_proto == PROTO_ICMP || p->ip_proto == PROTO_ICMPV6) {
        key_icmp(p, key);
    } else if (p->ip_proto == PROTO_ESP) {
        /* ESP: one flow per security association, which has one direction */
        key->src_port = (uint16_t)(p->esp.spi >> 16);
        key->dst_port = (uint16_t)p->esp.spi;
    }
}

#define FLOW_ID_MASK ((UINT64_C(1) << 53) - 1)      /* JSON readers keep 53 bits */

/* The hash, and above it bits that separate a flow from a later one with the same addresses and
 * ports. Depends on the first packet only, so it is the same in every run mode. */
uint64_t flow_id_make(const struct flow_key *key, uint32_t hash, uint64_t start_us)
{
    const struct hash_keys *keys = hash_keys();
    struct hash_sum sum = { 0 };
    uint64_t id;

    hash_pair(&sum, keys, 0, key->src.q[0], key->src.q[1]);
    hash_pair(&sum, keys, 1, key->dst.q[0], key->dst.q[1]);
    hash_pair(&sum, keys, 2, (uint64_t)key->src_port << 48 | (uint64_t)key->dst_port << 32 |
                                 (uint64_t)key->proto << 24 | key->src.version, start_us);
    hash_pair(&sum, keys, 3, (uint64_t)key->recursion << 16 | key->vlan[0],
              (uint64_t)key->vlan[1] << 16 | key->vlan[2]);
    id = ((uint64_t)hash_finish(&sum, keys) << 32 & FLOW_ID_MASK) | hash;
    return id != 0 ? id : 1;
}

const char *flow_state_name(enum flow_state state)
{
    static const char *const names[] = {
        [FLOW_NEW] = "new",
        [FLOW_ESTABLISHED] = "established",
        [FLOW_CLOSED] = "closed",
        [FLOW_LOCAL_BYPASSED] = "bypassed",
        [FLOW_CAPTURE_BYPASSED] = "bypassed",
    };

    return (unsigned)state < ARRAY_LEN(names) ? names[state] : "unknown";
}

const char *flow_end_reason_name(enum flow_end_reason reason)
{
    static const char *const names[] = {
        [FLOW_END_NONE] = "unknown",
        [FLOW_END_TIMEOUT] = "timeout",
        [FLOW_END_FORCED] = "forced",
        [FLOW_END_SHUTDOWN] = "shutdown",
        [FLOW_END_TCP_REUSE] = "tcp_reuse",
    };

    return (unsigned)reason < ARRAY_LEN(names) ? names[reason] : "unknown";
}

/* Community ID v1: base64 of SHA-1 over seed, lower address, higher address, protocol, 0, ports.
 * The end that sorts first comes first, so that both directions agree. ICMP types replace ports,
 * and are sorted even if the type has no reply, as consumers of EVE expect. The lower half of an
 * ESP SPI replaces the source port. */
static uint16_t community_port(const struct flow_key *key, bool source)
{
    bool is_icmp = key->proto == PROTO_ICMP || key->proto == PROTO_ICMPV6;
    uint16_t port = source ? key->src_port : key->dst_port;

    if (key->proto == PROTO_ESP)
        return source ? key->dst_port : 0;
    return is_icmp ? port & 0xff : port;
}

#define COMMUNITY_TEXT_MAX (2 + 16 + 16 + 2 + 4)

static size_t community_text(const struct flow_key *key, uint16_t seed, uint8_t *out)
{
    uint16_t src_port = community_port(key, true);
    uint16_t dst_port = community_port(key, false);
    size_t address = key->src.version == 4 ? 4 : 16, n = 2;
    int order = memcmp(key->src.b, key->dst.b, address);
    bool swap = order > 0 || (order == 0 && src_port > dst_port);

    put_be16(out, seed);
    memcpy(out + n, swap ? key->dst.b : key->src.b, address);
    memcpy(out + n + address, swap ? key->src.b : key->dst.b, address);
    n += 2 * address;
    out[n++] = key->proto;
    out[n++] = 0;
    put_be16(out + n, swap ? dst_port : src_port);
    put_be16(out + n + 2, swap ? src_port : dst_port);
    return n + 4;
}

/* 0: the flow has no addresses. */
size_t flow_community_id(const struct flow_key *key, uint16_t seed, char *out, size_t size)
{
    uint8_t text[COMMUNITY_TEXT_MAX], digest[DIGEST_MAX];
    struct digest_stream sha1;
    unsigned char base64[4 * ((DIGEST_MAX + 2) / 3) + 1];

    if (key->src.version == 0)
        return 0;
    digest_begin(&sha1, DIGEST_SHA1);
    digest_add(&sha1, text, community_text(key, seed, text));
    EVP_EncodeBlock(base64, digest, (int)digest_end(&sha1, digest));
    return (size_t)snprintf(out, size, "1:%s", (const char *)base64);
}

/* Called by the inspecting thread. The request includes the states, because later packets may
 * change them before the stream thread sees it. */
void flow_drop(struct flow *f, const struct packet *p, enum drop_reason reason)
{
    uint32_t requests = FLOW_REQ_DROP;

    if (f->action & ACTION_DROP)
        return;
    f->action = (uint8_t)((f->action | ACTION_DROP) & ~ACTION_ACCEPT);
    f->drop_reason = (uint8_t)reason;
    if (reason == DROP_FW_FLOW)
        requests |= FLOW_REQ_DROP_FIREWALL;
    if (reason == DROP_EXCEPTION_FLOW)
        requests |= FLOW_REQ_DROP_EXCEPTION;
    if (!(p->flags & PACKET_PSEUDO))
        requests |= FLOW_REQ_DROP_STATES |
                  (uint32_t)flow_slot(p)->flow_state << FLOW_REQ_FLOW_STATE |
                  (uint32_t)flow_slot(p)->tcp_state << FLOW_REQ_TCP_STATE;
    flow_request(f, requests);
}

/* NULL without memory; the caller then goes without. */
struct flow_ext *flow_ext_make(struct flow *f)
{
    if (f->ext == NULL)
        f->ext = lib_calloc(1, sizeof(*f->ext));
    return f->ext;
}

struct flow_macs *flow_macs_make(struct flow *f)
{
    if (flow_ext_make(f) == NULL)
        return NULL;
    if (f->ext->macs == NULL)
        f->ext->macs = lib_calloc(1, sizeof(*f->ext->macs));
    return f->ext->macs;
}

void flow_ext_free(struct flow *f)
{
    if (LIKELY(f->ext == NULL))
        return;
    lib_free(f->ext->macs);
    flow_rate_free(f->ext->rate);
    lib_free(f->ext->elephant);
    lib_free(f->ext->replay);
    flow_tail_drop(f, TO_SERVER);
    flow_tail_drop(f, TO_CLIENT);
    lib_free(f->ext);
    f->ext = NULL;
}
