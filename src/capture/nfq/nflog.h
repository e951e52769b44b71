/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/nflog.h - parses an NFLOG message. */
#ifndef CAPTURE_NFLOG_H
#define CAPTURE_NFLOG_H

#include "capture/device/netlink.h"

struct nflog_packet {
    struct slice payload;
    uint64_t time_us;                   /* 0: not given */
    uint32_t number, mark;
    uint16_t protocol;                  /* ETH_P_* */
    bool has_number;
};

/* The next packet of a received buffer, which may hold several messages; false: there is none. */
bool nflog_packet_read(struct bytes *rest, struct nflog_packet *out);

#endif
