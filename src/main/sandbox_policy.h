/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/sandbox_policy.h - what of the file system a run needs, and the sandbox around the rest. */
#ifndef MAIN_SANDBOX_POLICY_H
#define MAIN_SANDBOX_POLICY_H

#include "main/setup.h"

/* Before threads start. */
int sandbox_policy_enter(const struct setup *s, struct err *err);

#endif
