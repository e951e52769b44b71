/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/quiet.h - messages about wrong inputs are made, but go nowhere. */
#ifndef QA_FUZZ_QUIET_H
#define QA_FUZZ_QUIET_H

#include "base/report/log.h"

static inline void quiet_discard(void *self, const struct log_message *m)
{
    (void)self;
    (void)m;
}

/* With each input. */
static inline void quiet(void)
{
    static const struct log_sink_ops silent = { .write = quiet_discard };
    static int is_quiet;

    if (!is_quiet)
        log_add_sink(&silent, (void *)0, LOG_LEVEL_WARNING);
    is_quiet = 1;
}

#endif
