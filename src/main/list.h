/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/list.h - the --list-... and --build-info options, which print to standard output. */
#ifndef MAIN_LIST_H
#define MAIN_LIST_H

#include "conf/conf.h"

/* These return exit statuses. */
int list_keywords(const char *which);
int list_run_modes(const struct conf_node *root);       /* root NULL: only built-in run modes */
int list_protos(void);
int list_rule_protos(void);
int list_hooks(void);
int list_frames(void);
int list_version(void);
int list_build_info(void);
int list_features(void);
int list_config(const struct conf *conf);

#endif
