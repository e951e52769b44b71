/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/vars.h - the variables that rules name with a dollar sign, as text.
 *
 * The rule parser interprets the text (addresses, ports, other variables). A variable written as
 * a YAML list reads as "[a,b]". */
#ifndef CONF_VARS_H
#define CONF_VARS_H

#include "conf/conf.h"

enum conf_var_kind { CONF_VAR_ADDRESS, CONF_VAR_PORT };

/* Finds a variable by its name without the dollar sign, first among address groups, then among
 * port groups. NULL: there is none. */
const char *conf_var(const struct conf *conf, const char *name);

/* Finds a variable of one kind, below `root`: the root of the configuration or the section of a
 * tenant. */
const struct conf_node *conf_var_node(const struct conf_node *root, enum conf_var_kind kind,
                                      const char *name);

#endif
