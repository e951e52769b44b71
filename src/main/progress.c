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
#include <string.h>
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

void progress_size(struct buf *out, uint64_t bytes)
{
    if (bytes < 1000)
        buf_printf(out, "%" PRIu64 " B", bytes);
    else if (bytes < 1000000)
        buf_printf(out, "%.1f kB", (double)bytes / 1e3);
    else
        buf_printf(out, "%.1f MB", (double)bytes / 1e6);
}

void progress_duration(struct buf *out, double seconds)
{
    if (seconds < 0.01)
        buf_printf(out, "%.1f ms", seconds * 1e3);
    else if (seconds < 1)
        buf_printf(out, "%.0f ms", seconds * 1e3);
    else
        buf_printf(out, "%.1f s", seconds);
}

/* The last column stays free: a terminal may break the line behind it. */
void progress_cut(struct buf *line, unsigned columns)
{
    const uint8_t *comma;

    if (line->len < columns)
        return;
    line->len = columns > 1 ? columns - 1 : 0;
    comma = memrchr(line->data, ',', line->len);
    if (comma != NULL)
        line->len = (size_t)(comma - line->data);
}

/* The time left is estimated from bytes. */
void progress_text(const struct capture_progress *at, const struct progress_sums *sums,
                   struct buf *out)
{
    progress_size(out, at->bytes);
    if (at->total_bytes > 0 && at->bytes > 0) {
        uint64_t done = MIN(at->bytes, at->total_bytes);        /* a file may have grown */
        double left = sums->seconds * (double)(at->total_bytes - done) / (double)done;

        buf_add_string(out, " of ");
        progress_size(out, at->total_bytes);
        buf_printf(out, ", %u %%, %u s left", (unsigned)(done * 100 / at->total_bytes),
                   (unsigned)left);
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
    progress_cut(&text, logging_columns());
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
    struct buf line = { 0 };

    if (!p->at_terminal)
        return;
    buf_printf(&line, "%" PRIu64 " packets, ", packets);
    progress_size(&line, sum_of("decoder.bytes"));
    buf_add_string(&line, " in ");
    progress_duration(&line, seconds);
    buf_printf(&line, " (%.0f packets/s), %" PRIu64 " dropped by the kernel, %" PRIu64 " alerts\n",
               (double)packets / (seconds > 0 ? seconds : 1), sum_of("capture.kernel_drops"),
               sum_of("detect.alert"));
    fwrite(line.data, 1, line.len, stderr);
    buf_fini(&line);
}
