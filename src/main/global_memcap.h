/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/global_memcap.h - one ceiling for all memory that traffic makes grow. */
#ifndef MAIN_GLOBAL_MEMCAP_H
#define MAIN_GLOBAL_MEMCAP_H

#include "conf/conf.h"

/* What `global-memcap` says: a size, "25%" of what this machine has for us, or "auto", which is
 * half of it. 0: no ceiling. `have`: bytes of the machine or of its cgroup. */
uint64_t global_memcap_read(const struct conf_node *root, uint64_t have);

/* Holds from now on. */
void global_memcap_begin(const struct conf_node *root);

#endif
