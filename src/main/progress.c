/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/progress.c - shows the progress of a run on a terminal.
 *
 * While a file is read it shows the share that is done, packets per second, alerts and the time
 * left; at the end a line with the sums, after a live capture too. It prints nothing when
 * standard error is not a terminal, and no progress in the first second, so that short runs
 * print no more than that line. */
#include "config.h"

#include "main/progress.h"

#include "base/report/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Needs a capture that reports its progress; the total is unknown for standard input. */
void progress_start(struct progress *p, const struct setup *setup)
{
    *p = (struct progress){ .setup = setup };
    p->at_terminal = !setup->options->daemon && isatty(STDERR_FILENO);
    p->shown = p->at_terminal && setup->context.offline &&
               setup->context.capture->progress != NULL;
    p->started_ns = monotonic_ns();
    p->next_ns = p->started_ns + 1000000000u;
}

bool progress_is_shown(const struct progress *p)
{
    return p->shown;
}

/* Packet threads register these names; asking registers them, too, with the same kind. */
static uint64_t sum_of(const char *counter)
{
    return counter_total(counter_register(counter, COUNTER_SUM));
}

/* Called by the main loop; prints twice a second at most. The time left is estimated from
 * bytes. */
void progress_show(struct progress *p)
{
    const struct run_context *ctx = &p->setup->context;
    struct capture_progress at = { 0 };
    uint64_t now = monotonic_ns();
    double seconds = (double)(now - p->started_ns) / 1e9;

    if (!p->shown || now < p->next_ns)
        return;
    p->next_ns = now + 500000000u;
    ctx->capture->progress(ctx->capture_handle, &at);
    fprintf(stderr, "\r%.1f MB", (double)at.bytes / 1e6);
    if (at.total_bytes > 0 && at.bytes > 0) {
        double left = seconds * (double)(at.total_bytes - MIN(at.bytes, at.total_bytes)) /
                      (double)at.bytes;

        fprintf(stderr, " of %.1f MB, %u %%, %u s left", (double)at.total_bytes / 1e6,
                (unsigned)(at.bytes * 100 / at.total_bytes), (unsigned)left);
    }
    fprintf(stderr, ", %.0f packets/s, %" PRIu64 " alerts  ", (double)at.packets / seconds,
            sum_of("detect.alert"));
    fflush(stderr);
    p->drawn = true;
}

/* Clears the line, so that the next message starts at its beginning. */
void progress_clear(struct progress *p)
{
    if (p->drawn)
        fprintf(stderr, "\r%*s\r", 78, "");
    p->drawn = false;
}

/* After all threads have ended, when the sums are final. */
void progress_end(const struct progress *p)
{
    double seconds = (double)(monotonic_ns() - p->started_ns) / 1e9;
    uint64_t packets = sum_of("decoder.pkts");

    if (!p->at_terminal)
        return;
    fprintf(stderr, "%" PRIu64 " packets, %.1f MB in %.1f s (%.0f packets/s), %" PRIu64
            " dropped by the kernel, %" PRIu64 " alerts\n", packets,
            (double)sum_of("decoder.bytes") / 1e6, seconds,
            (double)packets / (seconds > 0 ? seconds : 1), sum_of("capture.kernel_drops"),
            sum_of("detect.alert"));
}
