/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/list.c - the table of commands, from list.h. A new command is a line
 * there. */
#include "control/commands/list.h"

#include "control/command.h"

#define C(name) extern const struct command_ops command_##name;
COMMAND_LIST(C)
#undef C
#define C(name) &command_##name,
const struct command_ops *const command_table[] = { COMMAND_LIST(C) NULL };
#undef C
