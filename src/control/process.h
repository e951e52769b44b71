/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/process.h - the process itself: background, pid file, core files, fewer privileges. */
#ifndef CONTROL_PROCESS_H
#define CONTROL_PROCESS_H

#include "conf/conf.h"

/* Forks. The child continues; the parent exits with status 0 when the child calls process_ready(),
 * with 1 if the child ends before. Until then the child writes errors to the parent's standard
 * error. Call it before threads exist. */
int process_daemonize(struct err *err);
void process_ready(void);

/* Applies the settings of the process: `umask`, `coredump.max-dump`, and, in the background,
 * `daemon-directory`. */
int process_apply_settings(const struct conf_node *root, bool daemon, struct err *err);
/* Enables core files again, if configured, after a change of user has disabled them. */
void process_allow_core(const struct conf_node *root);

int process_pid_file(const char *path, struct err *err);
/* Unless it is another process's by now. path may be NULL. */
void process_pid_file_remove(const char *path);

/* Checks that user and group exist, and gives them the directories that the process creates from
 * now on. Either may be NULL. */
int process_own_directories(const char *user, const char *group, struct err *err);
/* Changes to user and group (either may be NULL), and keeps the capabilities that capture needs
 * (libcap-ng). */
int process_drop_privileges(const char *user, const char *group, bool live, struct err *err);

/* Changes the owner of all files that this process has opened for writing, because logs must be
 * opened again without privileges. */
int process_chown_open_files(const char *user, const char *group, struct err *err);

/* Changes the owner of the file; user or group may be NULL. */
int process_chown_file(const char *path, const char *user, const char *group, struct err *err);

#endif
