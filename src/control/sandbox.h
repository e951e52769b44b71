/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/sandbox.h - the rights that the process gives up before packets start: to create
 * processes (security.limit-noproc), and to use other parts of the file system than needed
 * (security.landlock). */
#ifndef CONTROL_SANDBOX_H
#define CONTROL_SANDBOX_H

#include "base/array.h"
#include "conf/conf.h"

/* Files and directories; ignores those that do not exist. Texts are borrowed. */
struct sandbox_paths {
    ARRAY_OF(const char *) read, write;
    bool copies;                /* fork(2) stays possible in spite of security.limit-noproc */
};

/* Call it on the thread that starts all others. `needed`: paths in addition to those of the
 * settings. */
int sandbox_enter(const struct conf_node *root, const struct sandbox_paths *needed,
                  struct err *err);
/* For such a copy: it makes no other one, if security.limit-noproc says so. */
int sandbox_refuse_copies(const struct conf_node *root, struct err *err);

#endif
