/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/arp.c - the record type `arp`: requests and replies for Ethernet and IPv4
 * (RFC 826). */
#include "output/eve/eve.h"

#define ETHERTYPE_ARP 0x0806
#define ARP_LEN 28 /* 8 fixed bytes, two MAC and two IPv4 addresses */

/* Shorter packets are malformed; the decoder has counted them. */
static bool arp_condition(const struct packet *p)
{
    return p->ethertype == ETHERTYPE_ARP && p->l3 != NULL && p->src.version == 0 &&
           p->l3_len >= ARP_LEN;
}

/* IANA's operation codes; the words are Suricata's. Rows without a word are "unknown". */
static const char *arp_opcode(unsigned opcode)
{
    static const char *const names[] = {
        [1] = "request", [2] = "reply", [3] = "request_reverse", [4] = "reply_reverse",
        [8] = "inARP-request", [9] = "inARP-reply",
    };

    return opcode < ARRAY_LEN(names) && names[opcode] != NULL ? names[opcode] : "unknown";
}

static void arp_ip(struct json *j, const char *key, const uint8_t *p)
{
    struct ip ip = ip_v4(p);
    char text[IP_TEXT_SIZE];
    size_t n = ip_format(&ip, text);

    json_bytes(j, key, text, n);
}

/* The offsets are those of RFC 826 with addresses of 6 and 4 bytes. */
static void arp_packet(struct render *r, const struct eve *eve, void *settings, struct packet *p)
{
    const uint8_t *a = p->l3;
    struct json j;

    (void)settings;
    eve_begin(r, eve, &j, p, (struct eve_head){ EVE_AS_PACKET, "arp", EVE_NO_TX });
    json_object(&j, "arp");
    json_string(&j, "hw_type", "ethernet");
    json_string(&j, "proto_type", "ipv4");
    json_string(&j, "opcode", arp_opcode(get_be16(a + 6)));
    eve_mac(&j, "src_mac", a + 8);
    arp_ip(&j, "src_ip", a + 14);
    eve_mac(&j, "dest_mac", a + 18);
    arp_ip(&j, "dest_ip", a + 24);
    json_object_end(&j);
    eve_end_limited(r, eve, &j, p);
}

const struct eve_type eve_type_arp = {
    .name = "arp",
    .condition = arp_condition,
    .packet = arp_packet,
};
