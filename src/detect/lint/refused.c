/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/refused.c - classes of rules that the engine does not load; lint.c finds them among
 * its messages. */
#include "detect/lint/private.h"

const struct lint_check lint_refused = {
    .name = "refused",
    .level = LINT_ERROR,
    .mend = "write the option as the message asks: the engine leaves the rule out",
};

static const char *const upper_case[] = { "pattern with uppercase", "incompatible with", NULL };

const struct lint_check lint_upper_case = {
    .name = "upper-case",
    .level = LINT_ERROR,
    .refusals = upper_case,
    .mend = "write the content as the buffer has it after its normalization or transform",
};
