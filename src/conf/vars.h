/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/vars.h - the variables that rules name with a dollar sign, as text.
 *
 * What the text means (addresses, ports, other variables) is for the rule parser to say. A
 * variable written as a YAML list reads as "[a,b]". */
#ifndef CONF_VARS_H
#define CONF_VARS_H

#include "conf/conf.h"

enum conf_var_kind { CONF_VAR_ADDRESS, CONF_VAR_PORT };

/* Without the dollar sign; address groups first, then port groups. NULL: no such variable. */
const char *conf_var(const struct conf *conf, const char *name);

/* In one kind, below `root`: the whole configuration or the section of a tenant. */
const struct conf_node *conf_var_node(const struct conf_node *root, enum conf_var_kind kind,
                                      const char *name);

#endif
