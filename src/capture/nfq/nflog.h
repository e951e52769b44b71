/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/nflog.h - a message of the firewall's log taken apart. */
#ifndef CAPTURE_NFLOG_H
#define CAPTURE_NFLOG_H

#include "capture/device/netlink.h"

struct nflog_packet {
    struct slice payload;
    uint64_t time_us;                   /* 0: not told */
    uint32_t number, mark;
    uint16_t protocol;                  /* ETH_P_* */
    bool has_number;
};

/* The next packet of what was received at once, several messages perhaps; false: there is none. */
bool nflog_packet_read(struct bytes *rest, struct nflog_packet *out);

#endif
