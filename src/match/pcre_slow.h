/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_slow.h - data that make a regular expression use up its work (see pcre_work.h). */
#ifndef MATCH_PCRE_SLOW_H
#define MATCH_PCRE_SLOW_H

#include "base/memory/buf.h"
#include "match/expressions.h"

#define PCRE_SLOW_LEN 8192          /* bytes of the data that are tried */

/* Data of PCRE_SLOW_LEN bytes: `begin`, then `unit` again and again, then `end`. */
struct pcre_slow_data { struct buf begin, unit, end; };

/* True if there are such data. False says only that none of the data helped that are made of the
 * expression's items. The caller frees what *found has. */
bool pcre_slow_find(const struct expression *e, struct pcre_slow_data *found);
void pcre_slow_data_fini(struct pcre_slow_data *d);

#endif
