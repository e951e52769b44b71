/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/captures.c - capture files that clients add with ids --unix-socket. The main
 * thread reads them one after another. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/private.h"

#define DELAY_S 30 /* Suricata's default, in seconds */
#define POLL_S 5   /* as above: between two looks at a directory */

/* A negative number counts as missing. */
static uint64_t seconds(const struct command *c, const char *name, uint64_t otherwise)
{
    int64_t n;

    return request_int(c->request, name, &n) && n >= 0 ? (uint64_t)n : otherwise;
}

/* Checked when the file is added: the client is no longer there when the file's turn
 * comes. */
static bool can_log_to(const char *dir)
{
    struct stat st;

    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && access(dir, W_OK | X_OK) == 0;
}

/* jobs_add() takes over the two strings. */
static enum command_status add(struct command *c, bool continuous)
{
    const char *file = request_string(c->request, "filename");
    const char *dir = request_string(c->request, "output-dir");
    struct job job = {
        .continuous = continuous,
        .delete_when_done = request_is_true(c->request, "delete-when-done"),
        .delay_s = seconds(c, "delay", DELAY_S),
        .poll_s = seconds(c, "poll-interval", POLL_S),
        .tenant = (uint32_t)seconds(c, "tenant", 0),
    };

    if (access(file, F_OK) < 0)
        return command_nok(c, "filename does not exist");
    if (access(file, R_OK) < 0)
        return command_nok(c, "filename cannot be read");
    if (access(dir, F_OK) < 0)
        return command_nok(c, "output-dir does not exist");
    if (!can_log_to(dir))
        return command_nok(c, "output-dir is not a directory that can be written to");
    job.file = xstrdup(file);
    job.log_dir = xstrdup(dir);
    jobs_add(c->control->jobs, &job);
    return command_ok(c, "Successfully added file to list");
}

static enum command_status pcap_file_run(struct command *c)
{
    return add(c, request_is_true(c->request, "continuous"));
}

#define FILE_ARGS { "filename", ARG_STRING, false }, { "output-dir", ARG_STRING, false },          \
                  { "tenant", ARG_INT, true }

const struct command_ops command_pcap_file = {
    .name = "pcap-file", .doc = "reads a file or a directory, with its own directory for logs",
    .mode = COMMAND_JOBS,
    .args = { FILE_ARGS, { "continuous", ARG_BOOL, true }, { "delete-when-done", ARG_BOOL, true },
              { "delay", ARG_INT, true }, { "poll-interval", ARG_INT, true } },
    .run = pcap_file_run,
};

static enum command_status pcap_file_continuous_run(struct command *c)
{
    return add(c, true);
}

const struct command_ops command_pcap_file_continuous = {
    .name = "pcap-file-continuous", .doc = "reads a directory, and what comes into it later",
    .mode = COMMAND_JOBS,
    .args = { FILE_ARGS, { "delete-when-done", ARG_BOOL, true }, { "delay", ARG_INT, true },
              { "poll-interval", ARG_INT, true } },
    .run = pcap_file_continuous_run,
};

/* The file that is being read does not wait, so it does not count. */
static enum command_status number_run(struct command *c)
{
    json_u64(c->j, "message", jobs_each(c->control->jobs, NULL, NULL));
    return COMMAND_OK;
}

const struct command_ops command_pcap_file_number = {
    .name = "pcap-file-number", .doc = "how many files wait", .mode = COMMAND_JOBS,
    .run = number_run,
};

static void write_file(struct json *j, const char *key, const char *file)
{
    struct text t = text_of(file);

    json_lossy(j, key, (struct slice){ .data = (const uint8_t *)t.p, .len = (uint32_t)t.n });
}

static void list_job(const struct job *job, void *arg)
{
    write_file(arg, NULL, job->file);
}

static enum command_status list_run(struct command *c)
{
    unsigned count;

    json_object(c->j, "message");
    json_array(c->j, "files");
    count = jobs_each(c->control->jobs, list_job, c->j);
    json_array_end(c->j);
    json_u64(c->j, "count", count);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_pcap_file_list = {
    .name = "pcap-file-list", .doc = "the files that wait", .mode = COMMAND_JOBS, .run = list_run,
};

/* 0 until a file has been read. */
static enum command_status last_run(struct command *c)
{
    json_u64(c->j, "message", jobs_last_ms(c->control->jobs));
    return COMMAND_OK;
}

const struct command_ops command_pcap_last_processed = {
    .name = "pcap-last-processed", .doc = "when the latest file was done, in ms since 1970",
    .mode = COMMAND_JOBS, .run = last_run,
};

/* The last failure only: a list would grow without a limit. */
static void write_failed(const struct jobs_failed *f, void *arg)
{
    struct json *j = arg;

    json_object(j, "message");
    json_u64(j, "count", f->count);
    if (f->count > 0) {
        write_file(j, "last-file", f->file);
        write_file(j, "last-error", f->error);
        json_u64(j, "last-time", f->wall_ms);
    }
    json_object_end(j);
}

static enum command_status failed_run(struct command *c)
{
    jobs_failed(c->control->jobs, write_failed, c->j);
    return COMMAND_OK;
}

const struct command_ops command_pcap_file_failed = {
    .name = "pcap-file-failed", .doc = "how many files were not read, the latest, and why",
    .mode = COMMAND_JOBS, .run = failed_run,
};

/* Ends the current file; the next one is then read. Without a file it is no error, as in
 * Suricata. */
static enum command_status interrupt_run(struct command *c)
{
    struct control *control = c->control;

    if (control->engine != NULL) {
        __atomic_store_n(control->stop, 1, __ATOMIC_RELAXED);
        engine_stop(control->engine);
    }
    return command_ok(c, "Interrupted");
}

const struct command_ops command_pcap_interrupt = {
    .name = "pcap-interrupt", .doc = "ends the file that is being read", .mode = COMMAND_JOBS,
    .run = interrupt_run,
};

static void write_current(const struct job *job, void *arg)
{
    write_file(arg, "message", job->file);
}

static enum command_status current_run(struct command *c)
{
    if (!jobs_current(c->control->jobs, write_current, c->j))
        return command_ok(c, "None");
    return COMMAND_OK;
}

const struct command_ops command_pcap_current = {
    .name = "pcap-current", .doc = "the file that is being read", .mode = COMMAND_JOBS,
    .run = current_run,
};
