/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/compatibility.h - the setting `compatibility`: follow Suricata 8.0 or 9 where they treat
 * the same rule differently. doc/suricata-9.md lists these differences. */
#ifndef CONF_COMPATIBILITY_H
#define CONF_COMPATIBILITY_H

#include "conf/conf.h"

/* False for Suricata 8.0, which is the default. Called from many places, so it reports no
 * mistake. */
bool conf_is_suricata_9(const struct conf_node *root);
/* Reports an invalid value, which ends the start. */
void conf_check_compatibility(const struct conf_node *root);

#endif
