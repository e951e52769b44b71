/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/checksum_sample.c - counts wrong checksums among the first packets of a capture. */
#include "modules/checksum_sample.h"

#include "base/report/log.h"
#include "packet/checksum.h"

#include <string.h>

/* Suricata's numbers: of 1,000 packets more than a tenth with a wrong checksum means offloading. */
#define SAMPLE_SIZE 1000
#define SAMPLE_RATIO 10

/* Of the live captures, only libpcap does not mark packets whose checksum the card fills in. */
static bool is_auto_live(const struct run_context *ctx)
{
    if (strcmp(ctx->capture->name, "pcap") != 0)
        return false;
    CONF_EACH(item, conf_find(ctx->conf, "pcap"))
        if (!text_equal_nocase(text_of(conf_string(item, "checksum-checks", "auto")), "auto"))
            return false;
    return true;
}

static enum checksum_mode mode_of(const struct run_context *ctx)
{
    const char *value = conf_string(ctx->conf, "pcap-file.checksum-checks", "auto");

    if (ctx->capture->asks_checksums)
        return CHECKSUM_ASK;
    if (ctx->offline && !conf_bool(ctx->conf, "stream.checksum-validation", true))
        return CHECKSUM_AS_IS;      /* no counter depends on it */
    if (ctx->offline ? text_equal_nocase(text_of(value), "auto") : is_auto_live(ctx))
        return CHECKSUM_SAMPLING;
    return CHECKSUM_AS_IS;
}

void checksum_sample_begin(struct checksum_sample *s, const struct run_context *ctx, bool logs)
{
    *s = (struct checksum_sample){ .mode = mode_of(ctx), .offline = ctx->offline, .logs = logs };
}

void checksum_ignore(struct packet *p)
{
    p->flags |= PACKET_NO_CHECKSUM;
    p->flags &= ~(uint32_t)PACKET_BAD_CHECKSUM;
}

/* After the sample: either ignore all checksums or check them as usual. */
static COLD void sample_without_verdict(struct checksum_sample *s)
{
    s->mode = s->bad > 0 && SAMPLE_SIZE / s->bad < SAMPLE_RATIO ? CHECKSUM_OFF : CHECKSUM_AS_IS;
    if (s->logs && s->mode == CHECKSUM_OFF)
        log_info("pcap", "%u of the first %u packets have a wrong checksum: offloading is "
                 "assumed, checksums are not looked at", s->bad, SAMPLE_SIZE);
}

COLD void checksum_sample_add(struct checksum_sample *s, struct packet *p)
{
    if (s->mode == CHECKSUM_SAMPLING && p->root == NULL && ++s->sampled == SAMPLE_SIZE)
        sample_without_verdict(s);
    if (s->mode == CHECKSUM_SAMPLING && packet_is_tcp(p))
        s->bad += !packet_l4_checksum_ok(p);
    /* Live, offloading is likely until the sample shows otherwise. */
    if (s->mode == CHECKSUM_OFF || (s->mode == CHECKSUM_SAMPLING && !s->offline))
        checksum_ignore(p);
}
