/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/sandbox_policy.h - the files that a run needs, and the sandbox that allows only these. */
#ifndef MAIN_SANDBOX_POLICY_H
#define MAIN_SANDBOX_POLICY_H

#include "main/setup.h"

/* Applies the sandbox; called before threads start. */
int sandbox_policy_enter(const struct setup *s, struct err *err);

#endif
