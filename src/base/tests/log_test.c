/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/log. */
#include "base/log.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

struct memory_sink {
    char last[500];
    unsigned written, reopened, closed;
};

static void memory_write(void *self, const struct log_message *m)
{
    struct memory_sink *s = self;

    snprintf(s->last, sizeof(s->last), "%s|%s|%s|%u|%s", log_level_name(m->level), m->module,
             m->at.file != NULL ? m->at.file : "-", m->at.line, m->text);
    s->written++;
}

static void memory_reopen(void *self)
{
    ((struct memory_sink *)self)->reopened++;
}

static void memory_close(void *self)
{
    ((struct memory_sink *)self)->closed++;
}

static const struct log_sink_ops memory_ops = {
    .write = memory_write,
    .reopen = memory_reopen,
    .close = memory_close,
};

TEST(log_reaches_sinks_by_level)
{
    struct memory_sink all = { 0 }, errors = { 0 };
    enum log_level before = log_get_level();
    unsigned count = log_error_count();
    struct err err;

    log_set_level(LOG_LEVEL_INFO);
    log_add_sink(&memory_ops, &all, LOG_LEVEL_DEBUG);
    log_add_sink(&memory_ops, &errors, LOG_LEVEL_ERROR);
    log_info("detect", "%d rules", 3);
    CHECK_STRING(all.last, "Info|detect|-|0|3 rules");
    log_perf("detect", "not seen");
    CHECK_INT(all.written, 1);
    err_at(&err, (struct where){ "x.rules", 4, 0 }, "broken");
    log_err(LOG_LEVEL_ERROR, "detect", &err);
    CHECK_STRING(errors.last, "Error|detect|x.rules|4|broken");
    CHECK_INT(errors.written, 1);
    CHECK_INT(all.written, 2);
    CHECK_INT(log_error_count(), count + 1);
    log_reopen();
    log_close();
    CHECK_INT(all.reopened, 1);
    CHECK_INT(errors.closed, 1);
    log_set_level(before);
}

TEST(log_level_names)
{
    enum log_level level;

    CHECK(log_level_parse("Perf", &level) && level == LOG_LEVEL_PERF);
    CHECK(!log_level_parse("loud", &level));
    CHECK_STRING(log_level_name(LOG_LEVEL_WARNING), "Warning");
}
