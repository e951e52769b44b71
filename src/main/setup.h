/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/setup.h - the parts of a run, built in order and freed in reverse. */
#ifndef MAIN_SETUP_H
#define MAIN_SETUP_H

#include "base/system/clock.h"
#include "control/control.h"
#include "engine/engine.h"
#include "main/options.h"
#include "modules/context.h"

struct setup {
    const struct options *options;
    struct conf *conf;
    const struct conf_node *root;
    struct capture_names sources;       /* expanded: see capture_ops.sources */
    const char *log_dir;
    char config_dir[4096];
    struct run_context context;
    struct ruleset_request rules_request;
    struct ruleset_report rules_report;

    struct decode_conf *decode;
    struct flow_conf *flow;
    struct stream_conf *stream;
    struct app_conf *app;
    struct rule_profile_conf rule_profile;
    struct rule_cost_file rule_costs;   /* --rule-profile */

    struct run_modes *modes;
    struct topology *topology;
    struct clock_fast clock;            /* of setup_machine() */
    bool has_clock;
    struct plan *plan;
    int stop;
    bool ending;                        /* the user stops the engine, not only a job */
    bool goes_on;                       /* another process failed to take over: once more */
    bool takes_jobs;                    /* captures come by command */
    struct flow_share job_share;        /* count 0: as configured */
    struct control *control;            /* NULL: none */
    struct web *web;                        /* the HTTP listener; NULL: there is none */
    struct take_over *take_over;        /* main/take_over.h; NULL: no --take-over */
    struct flow_imports *imports;       /* flows that others have begun; NULL: none */
};

/* Settings, rules and outputs: all that -T checks. -1: *err or errors already logged. */
int setup_libraries(struct setup *s, const struct options *o, struct conf *conf, struct err *err);
/* Finds the sources of packets; setup_libraries() calls it. */
int setup_sources(struct setup *s, struct err *err);
/* Makes the plan, then the capture, which must know how many threads read each source. */
int setup_plan(struct setup *s, const char *topology, struct err *err);
int setup_capture(struct setup *s, struct err *err);
/* Passes facts of new rules to other parts, before the rules become active. */
void setup_rules_changed(struct setup *s, const struct ruleset *rules,
                         const struct ruleset_report *report);
/* The request for the rules that belong to no tenant. */
struct ruleset_request setup_rules_request(const struct setup *s);
/* Opens the control socket, if it is configured. */
int setup_control(struct setup *s, struct err *err);
/* Captures by command that are read at once, unless their command says it. */
unsigned setup_parallel_jobs(const struct setup *s);
/* Before captures by command: what all of them need to know of the machine. */
int setup_machine(struct setup *s, struct err *err);
/* What belongs to one capture, when others follow: made for one file, and taken down. */
int setup_job(struct setup *s, const struct job *job, struct err *err);
void setup_job_free(struct setup *s);
void setup_free(struct setup *s);

/* Logs the error and returns EXIT_FAILURE. */
int setup_fail(const struct err *err);
/* Returns the user and group to run as: the command line wins over run-as. NULL: no change. */
const char *setup_user(const struct options *o, const struct conf_node *root);
const char *setup_group(const struct options *o, const struct conf_node *root);
/* NULL: none. */
const char *setup_pid_file(const struct options *o, const struct conf_node *root);

/* Returns the capture method of the command line, or pcap-file. NULL: *err. */
const struct capture_ops *setup_capture_ops(const struct options *o, struct err *err);

#endif
