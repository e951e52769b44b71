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
#include "main/logging.h"

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

static void explain_threads(const struct plan *plan)
{
    struct buf names = { 0 };

    plan_print_names(plan, &names);
    fwrite(names.data, 1, names.len, stderr);
    buf_fini(&names);
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
    if (p->at_terminal)
        explain_threads(setup->plan);
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

/* The time left is estimated from bytes. */
void progress_text(const struct capture_progress *at, const struct progress_sums *sums,
                   struct buf *out)
{
    buf_printf(out, "%.1f MB", (double)at->bytes / 1e6);
    if (at->total_bytes > 0 && at->bytes > 0) {
        uint64_t done = MIN(at->bytes, at->total_bytes);        /* a file may have grown */
        double left = sums->seconds * (double)(at->total_bytes - done) / (double)done;

        buf_printf(out, " of %.1f MB, %u %%, %u s left", (double)at->total_bytes / 1e6,
                   (unsigned)(done * 100 / at->total_bytes), (unsigned)left);
    }
    buf_printf(out, ", %.0f packets/s, %" PRIu64 " alerts", (double)sums->packets / sums->seconds,
               sums->alerts);
}

/* Called by the main loop; prints twice a second at most. */
void progress_show(struct progress *p)
{
    const struct run_context *ctx = &p->setup->context;
    struct capture_progress at = { 0 };
    uint64_t now = monotonic_ns();
    struct progress_sums sums = { (double)(now - p->started_ns) / 1e9, sum_of("decoder.pkts"),
                                  sum_of("detect.alert") };
    struct buf text = { 0 };

    if (!p->shown || now < p->next_ns)
        return;
    p->next_ns = now + 500000000u;
    ctx->capture->progress(ctx->capture_handle, &at);
    progress_text(&at, &sums, &text);
    logging_clear_line();
    fprintf(stderr, "%.*s", (int)text.len, (const char *)text.data);
    fflush(stderr);
    logging_open_line();
    buf_fini(&text);
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
