/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/esp.c - encapsulating security payload, RFC 4303: the index and a sequence
 * number are all that can be read. */
#include "packet/decode/decode_private.h"

#define ESP_HEADER 8u

bool decode_esp(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, esp);
    if (!decode_layer(d, p))
        return false;
    if (UNLIKELY(len < ESP_HEADER))
        return decode_invalid(p, EVENT_ESP_PKT_TOO_SMALL);
    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    p->l4_header_len = ESP_HEADER;
    p->payload = (uint8_t *)at + ESP_HEADER;
    p->payload_len = len - ESP_HEADER;
    p->ip_proto = 50;
    p->esp.spi = get_be32(at);
    decode_set_flow(d, p);
    return true;
}
