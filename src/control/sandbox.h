/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/sandbox.h - what the process gives up for good before packets start: other processes
 * (security.limit-noproc), and the file system but for what it needs (security.landlock). */
#ifndef CONTROL_SANDBOX_H
#define CONTROL_SANDBOX_H

#include "base/array.h"
#include "conf/conf.h"

/* Files and directories; what does not exist is passed over. Texts borrowed. */
struct sandbox_paths {
    ARRAY_OF(const char *) read, write;
};

/* On the thread from which all others are started. `needed`: besides those of the settings. */
int sandbox_enter(const struct conf_node *root, const struct sandbox_paths *needed,
                  struct err *err);

#endif
