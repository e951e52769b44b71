/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/compatibility.h - where Suricata 8.0 and 9 take the same rule differently, the setting
 * `compatibility` says which of them is followed. doc/suricata-9.md lists these places. */
#ifndef CONF_COMPATIBILITY_H
#define CONF_COMPATIBILITY_H

#include "conf/conf.h"

/* False for Suricata 8.0, which is the default. Asked in many places, so it reports no mistake. */
bool conf_is_suricata_9(const struct conf_node *root);
/* Reports another word, which ends the start. */
void conf_check_compatibility(const struct conf_node *root);

#endif
