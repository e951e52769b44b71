/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/checksum_sample.h - whether a capture was taken with checksum offloading.
 *
 * checksum-checks: auto. More than one in ten of the first thousand packets wrong means that the
 * sender's card was to fill the checksums in. */
#ifndef MODULES_CHECKSUM_SAMPLE_H
#define MODULES_CHECKSUM_SAMPLE_H

#include "modules/context.h"

enum checksum_mode { CHECKSUM_AS_IS, CHECKSUM_SAMPLING, CHECKSUM_OFF, CHECKSUM_ASK };

struct checksum_sample {
    enum checksum_mode mode;
    bool offline;
    bool logs;                          /* the result; one thread of several does */
    unsigned sampled, bad;
};

/* Also where another capture begins. */
void checksum_sample_begin(struct checksum_sample *s, const struct run_context *ctx, bool logs);
/* The next packet of the sample. */
void checksum_sample_add(struct checksum_sample *s, struct packet *p);
void checksum_ignore(struct packet *p);

#endif
