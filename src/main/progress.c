/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/progress.c - shows bytes, packets per second and the time left while a file is
 * read. It prints nothing when standard error is not a terminal, and nothing in the first
 * second, so that short runs stay quiet. */
#include "config.h"

#include "main/progress.h"

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
    p->shown = setup->context.offline && setup->context.capture->progress != NULL &&
               !setup->options->daemon && isatty(STDERR_FILENO);
    p->started_ns = monotonic_ns();
    p->next_ns = p->started_ns + 1000000000u;
}

bool progress_is_shown(const struct progress *p)
{
    return p->shown;
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
    fprintf(stderr, ", %.0f packets/s  ", (double)at.packets / seconds);
    fflush(stderr);
    p->drawn = true;
}

/* Clears the line, so that the next message starts at its beginning. */
void progress_end(struct progress *p)
{
    if (p->drawn)
        fprintf(stderr, "\r%*s\r", 78, "");
}
