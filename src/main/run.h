/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/run.h - one run of the engine, from configuration to the last log line. */
#ifndef MAIN_RUN_H
#define MAIN_RUN_H

#include "conf/conf.h"
#include "detect/detect.h"
#include "main/options.h"

/* Loads the configuration and applies the command line. NULL: the reason was logged. */
struct conf *run_configure(const struct options *o);

/* -T and --engine-analysis: does all but the packets. Returns an exit status. */
int run_check(const struct options *o, struct conf *conf);

/* --lint: loads the rules and prints what is wrong with them. EXIT_FAILURE also when something
 * is. */
int run_lint(const struct options *o, struct conf *conf);

/* Capture until its end or a signal. Exit status. */
int run_engine(const struct options *o, struct conf *conf);

/* Processes captures one after another, on command, until a signal. Returns an exit status. */
int run_jobs(const struct options *o, struct conf *conf);

/* --plan. Returns an exit status. */
int run_plan(const struct options *o, struct conf *conf);

#endif
