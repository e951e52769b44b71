/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/captures.c - capture files that clients add with ids --unix-socket. The main
 * thread has them read, one after another or several at once. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
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

/* The sandbox leaves fork(2) out unless the configuration wants several captures at once. */
static bool has_processes(const struct control_conf *conf)
{
    return conf->parallel_jobs > 1 || !conf_bool(conf->root, "security.limit-noproc", false);
}

/* 0 without the argument: the setting decides. */
static bool read_parallel(const struct command *c, unsigned *out)
{
    int64_t n = 0;

    *out = 0;
    if (!request_has(c->request, "parallel"))
        return true;
    if (!request_int(c->request, "parallel", &n) || n < 1 || n > JOBS_PARALLEL_MAX)
        return false;
    *out = (unsigned)n;
    return true;
}

/* Without the argument the setting decides. */
static bool read_share(const struct command *c, struct flow_share *out)
{
    const char *text = request_string(c->request, "flow-share");

    return text == NULL || flow_share_parse(text, out);
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

    if (!read_parallel(c, &job.parallel))
        return command_nok(c, "parallel is not a number from 1 to %d", JOBS_PARALLEL_MAX);
    if (!read_share(c, &job.share))
        return command_nok(c, "flow-share is not NUMBER/COUNT with a count up to %d",
                           FLOW_SHARES_MAX);
    if (job.parallel > 1 && !has_processes(&c->control->conf))
        return command_nok(c, "parallel needs processes, which security.limit-noproc refuses: set "
                           "unix-command.parallel-jobs");
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
              { "delay", ARG_INT, true }, { "poll-interval", ARG_INT, true },
              { "parallel", ARG_INT, true }, { "flow-share", ARG_STRING, true } },
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
              { "poll-interval", ARG_INT, true }, { "parallel", ARG_INT, true } },
    .run = pcap_file_continuous_run,
};

/* Files that are being read do not wait, so they do not count. */
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

/* Ends what is being read, or the named file alone; the next one is then read. Without a file
 * that is being read it is no error, as in Suricata. */
static enum command_status interrupt_run(struct command *c)
{
    struct control *control = c->control;
    const char *file = request_string(c->request, "filename");

    if (jobs_signal(control->jobs, file, SIGTERM) == 0 && control->engine != NULL &&
        file == NULL) {
        __atomic_store_n(control->stop, 1, __ATOMIC_RELAXED);
        engine_stop(control->engine);
    }
    return command_ok(c, "Interrupted");
}

const struct command_ops command_pcap_interrupt = {
    .name = "pcap-interrupt", .doc = "ends the files that are being read, or the named one",
    .mode = COMMAND_JOBS, .args = { { "filename", ARG_STRING, true } }, .run = interrupt_run,
};

/* Memory that the process has, shared pages included; 0: it has just ended. */
static uint64_t memory_kb(pid_t pid)
{
    unsigned long long size, resident = 0;
    char path[32];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/statm", (long)pid);
    f = fopen(path, "re");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void write_running(const struct job *job, void *arg)
{
    struct json *j = arg;

    json_object(j, NULL);
    write_file(j, "filename", job->file);
    write_file(j, "output-dir", job->log_dir);
    json_u64(j, "seconds", (clock_ns() - job->started_ns) / 1000000000u);
    if (job->pid > 0) {
        json_u64(j, "pid", (uint64_t)job->pid);
        json_u64(j, "memory-kb", memory_kb(job->pid));
    }
    json_object_end(j);
}

/* The first is the oldest. */
struct oldest { struct json *j; bool told; };
static void write_oldest(const struct job *job, void *arg)
{
    struct oldest *oldest = arg;

    if (!oldest->told)
        write_file(oldest->j, "message", job->file);
    oldest->told = true;
}

/* Clients of Suricata expect one name, so all that run are a member beside "message". */
static enum command_status current_run(struct command *c)
{
    struct oldest oldest = { .j = c->j };

    jobs_each_running(c->control->jobs, write_oldest, &oldest);
    if (!oldest.told)
        return command_ok(c, "None");
    json_array(c->j, "running");
    jobs_each_running(c->control->jobs, write_running, c->j);
    json_array_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_pcap_current = {
    .name = "pcap-current", .doc = "the file that is being read; `running`: all of them",
    .mode = COMMAND_JOBS, .run = current_run,
};

static enum command_status running_run(struct command *c)
{
    json_array(c->j, "message");
    jobs_each_running(c->control->jobs, write_running, c->j);
    json_array_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_pcap_file_running = {
    .name = "pcap-file-running", .doc = "the files that are being read, with process and memory",
    .mode = COMMAND_JOBS, .run = running_run,
};
