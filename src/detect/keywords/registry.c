/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/registry.c - registers all keywords. There are four sources: the list of files in
 * keywords/, packet buffers, transforms, and what application protocols declare. */
#include "detect/keywords/registry.h"

#include "detect/keywords/list.h"

#define K(symbol) extern const struct keyword_ops keyword_##symbol;
KEYWORD_LIST(K)
#undef K

static const struct keyword_ops *const built_in[] = {
#define K(symbol) &keyword_##symbol,
    KEYWORD_LIST(K)
#undef K
};

/* The order is the precedence: files first, so that one overrides what a protocol declares, then
 * tables, then protocols. */
void keyword_registry_init(void)
{
    if (!keyword_registry_is_empty())
        return;
    for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
        keyword_register(built_in[i]);
    payload_keywords_register();
    packet_buffers_register();
    transforms_register();
    keyword_declared_register();
}
