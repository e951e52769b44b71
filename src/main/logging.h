/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/logging.h - the engine's own messages, to where `logging:` says. */
#ifndef MAIN_LOGGING_H
#define MAIN_LOGGING_H

#include "conf/conf.h"

/* verbose: how many -v. daemon: nothing on the console. */
int logging_setup(const struct conf_node *root, const char *log_dir, unsigned verbose,
                  bool daemon, struct err *err);

#endif
