/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ntp/ntp.h - the fields of an NTP datagram that are retained. */
#ifndef APP_NTP_H
#define APP_NTP_H

#include "app/tx.h"

struct ntp_tx {
    struct app_tx tx;
    enum direction direction;
    uint8_t version, mode, stratum;
    uint8_t reference[4];
};

static inline struct ntp_tx *ntp_tx_of(const struct app_tx *tx)
{
    return (struct ntp_tx *)(uintptr_t)tx;
}

#endif
