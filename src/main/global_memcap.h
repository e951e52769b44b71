/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/global_memcap.h - one limit for all memory that traffic can make grow. */
#ifndef MAIN_GLOBAL_MEMCAP_H
#define MAIN_GLOBAL_MEMCAP_H

#include "conf/conf.h"

/* Reads `global-memcap`: a size, a share such as "25%" of the available memory, or "auto", which
 * is half of it. `have`: bytes of the machine or of its cgroup. 0: no limit. */
uint64_t global_memcap_read(const struct conf_node *root, uint64_t have);

/* Applies the limit from now on. */
void global_memcap_begin(const struct conf_node *root);

#endif
