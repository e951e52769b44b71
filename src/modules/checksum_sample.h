/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/checksum_sample.h - detects captures that were taken with checksum offloading.
 *
 * This is checksum-checks: auto. If more than one in ten of the first thousand checksums is
 * wrong, the sender left them to its network card. */
#ifndef MODULES_CHECKSUM_SAMPLE_H
#define MODULES_CHECKSUM_SAMPLE_H

#include "modules/context.h"

enum checksum_mode { CHECKSUM_AS_IS, CHECKSUM_SAMPLING, CHECKSUM_OFF, CHECKSUM_ASK };

struct checksum_sample {
    enum checksum_mode mode;
    bool offline;
    bool logs;                          /* this thread logs the result; one of several threads
                                         * does */
    unsigned sampled, bad;
};

/* Starts a sample; also when another capture begins. */
void checksum_sample_begin(struct checksum_sample *s, const struct run_context *ctx, bool logs);
/* Adds the next packet of the sample. */
void checksum_sample_add(struct checksum_sample *s, struct packet *p);
void checksum_ignore(struct packet *p);

#endif
