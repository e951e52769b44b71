/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/iprep.h - what is said of IP addresses: a score per category, from files.
 *
 * reputation-categories-file: "number,name,description" a line; reputation-files: "address or
 * prefix,category number,score 0-127". Read once with the rules, read-only afterwards. */
#ifndef DETECT_IPREP_H
#define DETECT_IPREP_H

#include "base/text/ip.h"
#include "conf/conf.h"

struct iprep;

/* NULL when nothing is configured. Wrong lines are logged and left out. */
struct iprep *iprep_load(const struct conf_node *root);
void iprep_free(struct iprep *rep);

/* 0: there is no such category. */
unsigned iprep_category(const struct iprep *rep, struct text name);
/* The score of an address, by the entry for itself or else its narrowest prefix; -1: none. */
int iprep_score(const struct iprep *rep, const struct ip *ip, unsigned category);

#endif
