/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/share.h - several threads that read the same file: each decodes all of it and keeps its
 * share of the flows. What receive and decode count counts once, on thread 0. */
#ifndef MODULES_SHARE_H
#define MODULES_SHARE_H

#include "engine/module.h"

/* The thread's own counters, or a block nobody adds up. Give it back before the thread ends. */
struct counters *share_counters(const struct module_env *env);
void share_counters_free(struct counters *counters, const struct module_env *env);

#endif
