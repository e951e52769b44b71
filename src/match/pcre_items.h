/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_items.h - the quantifiers of the items of a regular expression. An item is what PCRE2
 * gives to a callout: "a+", "[^b]{3,}", "(?:", ")*?". */
#ifndef MATCH_PCRE_ITEMS_H
#define MATCH_PCRE_ITEMS_H

#include "base/text/text.h"

/* What follows the character, the class or the bracket that an item begins with. */
struct text pcre_item_quantifier(struct text item);
/* How often it repeats the item: 1 without one; UINT64_MAX: no limit. */
uint64_t pcre_item_most(struct text item);
uint64_t pcre_item_least(struct text item);

#endif
