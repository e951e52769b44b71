/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/main.c - the program: reads the command line and runs the job that it names. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/proto.h"
#include "base/report/log.h"
#include "base/system/cpu.h"
#include "main/list.h"
#include "main/logging.h"
#include "main/options.h"
#include "main/run.h"
#include "main/plugin_guard.h"
#include "output/logger.h"
#include "plugins/load.h"

/* Runs a job that needs the configuration. */
static int with_config(const struct options *o, int (*job)(const struct options *, struct conf *))
{
    struct conf *conf = run_configure(o);
    int status;

    if (conf == NULL)
        return EXIT_FAILURE;
    status = job(o, conf);
    log_close();
    conf_free(conf);
    return status;
}

static int dump_config(const struct options *o, struct conf *conf)
{
    (void)o;
    return list_config(conf);
}

static int list_modes(const struct options *o, struct conf *conf)
{
    (void)o;
    return list_run_modes(conf_root(conf));
}

/* Lists are made without a configuration, so only --plugin adds to them. */
static int load_for_lists(const struct options *o)
{
    struct err err = { 0 };
    int status;

    switch (o->job) {
    case JOB_LIST_KEYWORDS: case JOB_LIST_PROTOS: case JOB_LIST_HOOKS: case JOB_LIST_FRAMES:
        break;
    case JOB_LIST_RUN_MODES:
        if (o->config == NULL)
            break;
        return 0;
    default:
        return 0;
    }
    plugin_guard_begin();
    status = plugins_load(o->plugins.at, o->plugins.count, NULL, &err);
    plugin_guard_end();
    if (status == 0)
        return 0;
    log_err(LOG_LEVEL_ERROR, "plugins", &err);
    return -1;
}

/* -T and --engine-analysis are the same run without packets; run_check() tells them apart. */
static int do_job(const struct options *o, const char *program)
{
    switch (o->job) {
    case JOB_RUN: return with_config(o, run_engine);
    case JOB_HELP: options_help(program); return EXIT_SUCCESS;
    case JOB_VERSION: return list_version();
    case JOB_BUILD_INFO: return list_build_info();
    case JOB_DUMP_CONFIG: return with_config(o, dump_config);
    case JOB_DUMP_FEATURES: return list_features();
    case JOB_TEST: return with_config(o, run_check);
    case JOB_PLAN: return with_config(o, run_plan);
    case JOB_LIST_KEYWORDS: return list_keywords(o->job_argument);
    case JOB_LIST_RUN_MODES:
        return o->config != NULL ? with_config(o, list_modes) : list_run_modes(NULL);
    case JOB_LIST_PROTOS: return list_protos();
    case JOB_LIST_RULE_PROTOS: return list_rule_protos();
    case JOB_LIST_HOOKS: return list_hooks();
    case JOB_LIST_FRAMES: return list_frames();
    case JOB_ENGINE_ANALYSIS: return with_config(o, run_check);
    case JOB_LINT: return with_config(o, run_lint);
    case JOB_UNIX_SOCKET: return with_config(o, run_jobs);
    }
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err = { 0 };
    int status;

    app_protos_init();
    loggers_init();
    logging_begin();
    if (options_parse(&options, argc, argv, &err) < 0 || cpu_choose(options.cpu, &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[0], err.text);
        options_free(&options);
        return EXIT_FAILURE;
    }
    status = load_for_lists(&options) == 0 ? do_job(&options, argv[0]) : EXIT_FAILURE;
    options_free(&options);
    return status;
}
