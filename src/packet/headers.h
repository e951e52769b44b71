/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/headers.h - flags and options of IP and TCP headers, as decode stores them. */
#ifndef PACKET_HEADERS_H
#define PACKET_HEADERS_H

#include "base/base.h"

/* TCP options that later modules use; a bit in `has` says that the option was present and valid. */
struct tcp_options {
    uint32_t ts_value, ts_echo;
    uint16_t mss;
    uint8_t window_scale;
    uint8_t has;                        /* TCP_HAS_* */
    uint8_t sack_count;
    uint8_t fastopen_len;
    const uint8_t *sack;                /* sack_count x 8 bytes, network order */
};
#define TCP_HAS_TS       0x01
#define TCP_HAS_MSS      0x02
#define TCP_HAS_WSCALE   0x04
#define TCP_HAS_SACK_OK  0x08
#define TCP_HAS_SACK     0x10
#define TCP_HAS_FASTOPEN 0x20
#define TCP_HAS_MD5      0x40
#define TCP_HAS_AO       0x80

/* Bits of packet.ip_options. */
enum ip_option {
    IP_OPTION_EOL    = 1u << 0,
    IP_OPTION_NOP    = 1u << 1,
    IP_OPTION_RR     = 1u << 2,
    IP_OPTION_TS     = 1u << 3,
    IP_OPTION_QS     = 1u << 4,
    IP_OPTION_LSRR   = 1u << 5,
    IP_OPTION_SSRR   = 1u << 6,
    IP_OPTION_SID    = 1u << 7,
    IP_OPTION_SEC    = 1u << 8,
    IP_OPTION_CIPSO  = 1u << 9,
    IP_OPTION_RTRALT = 1u << 10,
    IP_OPTION_ESEC   = 1u << 11,
};

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10
#define TCP_URG 0x20
#define TCP_ECE 0x40
#define TCP_CWR 0x80

#endif
