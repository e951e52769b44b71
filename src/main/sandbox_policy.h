/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/sandbox_policy.h - what of the file system a run needs, and the sandbox around the rest. */
#ifndef MAIN_FENCE_H
#define MAIN_FENCE_H

#include "main/setup.h"

/* Before threads start. */
int fence_enter(const struct setup *s, struct err *err);

#endif
