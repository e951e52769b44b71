/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/process.h - the process itself: background, pid file, core files, fewer privileges. */
#ifndef CONTROL_PROCESS_H
#define CONTROL_PROCESS_H

#include "conf/conf.h"

/* The child goes on; the parent ends with status 0 once the child says process_ready(), with 1
 * when it ends before. Until then the child's errors go where the parent's went. Threads must not
 * exist yet. */
int process_daemonize(struct err *err);
void process_ready(void);

/* What the configuration says of a process: `umask`, `coredump.max-dump`, and, in the background,
 * `daemon-directory`. */
int process_apply_settings(const struct conf_node *root, bool daemon, struct err *err);
/* A change of user takes core files away; this gives them back where they are configured. */
void process_allow_core(const struct conf_node *root);

int process_pid_file(const char *path, struct err *err);
void process_pid_file_remove(const char *path);

/* Do they exist? Either may be NULL. */
int process_check_user(const char *user, const char *group, struct err *err);
/* To user and group (either may be NULL), keeping what capture needs (libcap-ng). */
int process_drop_privileges(const char *user, const char *group, bool live, struct err *err);

/* What this process itself has opened for writing becomes theirs: logs must be opened again when
 * the rights are gone. */
int process_chown_open_files(const char *user, const char *group, struct err *err);

/* The file becomes theirs (either may be NULL). */
int process_chown_file(const char *path, const char *user, const char *group, struct err *err);

#endif
