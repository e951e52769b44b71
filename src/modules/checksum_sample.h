/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/checksum_sample.h - whether a capture was taken with checksum offloading.
 *
 * checksum-checks: auto. If more than one in ten of the first thousand packets is wrong, the sender
 * left checksums to its network card. */
#ifndef MODULES_CHECKSUM_SAMPLE_H
#define MODULES_CHECKSUM_SAMPLE_H

#include "modules/context.h"

enum checksum_mode { CHECKSUM_AS_IS, CHECKSUM_SAMPLING, CHECKSUM_OFF, CHECKSUM_ASK };

struct checksum_sample {
    enum checksum_mode mode;
    bool offline;
    bool logs;                          /* it logs the result; of several threads one does */
    unsigned sampled, bad;
};

/* Also when another capture begins. */
void checksum_sample_begin(struct checksum_sample *s, const struct run_context *ctx, bool logs);
/* Adds the next packet of the sample. */
void checksum_sample_add(struct checksum_sample *s, struct packet *p);
void checksum_ignore(struct packet *p);

#endif
