/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/logging.h - the engine's own messages, to the outputs of `logging:`. */
#ifndef MAIN_LOGGING_H
#define MAIN_LOGGING_H

#include "conf/conf.h"

/* Applies SC_LOG_LEVEL at once, for messages before the configuration is read. */
void logging_begin(void);

/* Opens the outputs of `logging:`. verbose: number of -v options. daemon: the console shows only
 * errors, until the engine is in the background. SC_LOG_LEVEL, SC_LOG_FORMAT and
 * SC_LOG_OP_FILTER in the environment win over the configuration; SC_LOG_OP_IFACE, SC_LOG_FILE
 * and SC_LOG_FACILITY apply if it has no outputs. */
int logging_setup(const struct conf_node *root, const char *log_dir, unsigned verbose,
                  bool daemon, struct err *err);

/* A line that has no end yet, such as progress, is on standard error. The next message clears it
 * first, or who drew it. */
void logging_open_line(void);
void logging_clear_line(void);
/* Returns the width of the terminal at standard error; 80 if it does not tell. */
unsigned logging_columns(void);

#endif
