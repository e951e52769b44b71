/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/log. */
#include "base/report/log.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(log_messages_are_one_line)
{
    struct memory_sink all = { 0 };
    enum log_level before = log_get_level();

    log_set_level(LOG_LEVEL_INFO);
    log_add_sink(&memory_ops, &all, LOG_LEVEL_DEBUG);
    log_info("pcap", "'%s'", "a\nError: pcap: \033[2Jb\tc\x7f");
    CHECK_STRING(all.last, "Info|pcap|-|0|'a?Error: pcap: ?[2Jb\tc?'");
    log_close();
    log_set_level(before);
}

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

/* What a child with its standard error in a pipe says. */
static void read_stderr(void (*emit)(void), char *out, size_t size)
{
    int fds[2];
    size_t len = 0;
    ssize_t n;
    pid_t child;

    out[0] = '\0';
    if (pipe(fds) != 0)
        return;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        emit();
        _exit(0);
    }
    close(fds[1]);
    while (len < size - 1 && (n = read(fds[0], out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    out[len] = '\0';
    close(fds[0]);
    waitpid(child, NULL, 0);
}

static void log_with_location(void)
{
    log_at(LOG_LEVEL_ERROR, "detect", (struct where){ "local.rules", 3, 12 }, "expected %d", 1);
    log_notice("detect", "done");
    log_info("detect", "not seen at the default level");
}

static void log_much(void)
{
    log_error("detect", "%05000d", 7);
}

TEST(log_lines_on_stderr)
{
    char text[4096];

    read_stderr(log_with_location, text, sizeof(text));
    CHECK_STRING(text, "Error: detect: local.rules:3:12: expected 1\nNotice: detect: done\n");
    read_stderr(log_much, text, sizeof(text));
    CHECK(strlen(text) > 2000 && text[strlen(text) - 1] == '\n');
}
