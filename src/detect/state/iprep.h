/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/iprep.h - reputation of IP addresses: a score per category, from files.
 *
 * Lines of reputation-categories-file are "number,name,description"; lines of reputation-files are
 * "address or prefix,category number,score 0-127". Read once with the rules, read-only
 * afterwards. */
#ifndef DETECT_IPREP_H
#define DETECT_IPREP_H

#include "base/text/ip.h"
#include "conf/conf.h"

struct iprep;

/* NULL when nothing is configured. Logs wrong lines and leaves them out. */
struct iprep *iprep_load(const struct conf_node *root);
void iprep_free(struct iprep *rep);

/* Returns the number of a category; 0: unknown. */
unsigned iprep_category(const struct iprep *rep, struct text name);
/* Returns the score of an address: from its own entry, else from its longest prefix; -1: none. */
int iprep_score(const struct iprep *rep, const struct ip *ip, unsigned category);

#endif
