/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/registry.h - registration of keywords that are declared in tables. */
#ifndef DETECT_KEYWORD_REGISTRY_H
#define DETECT_KEYWORD_REGISTRY_H

#include "detect/rule/keyword.h"

/* Adds a keyword; `k` must never be freed. The first keyword of a name wins. Only
 * keyword_registry_init() calls this. */
void keyword_register(const struct keyword_ops *k);

/* declared.c: registers buffers, integers and tests of all application protocols. */
void keyword_declared_register(void);
/* Returns the protocol of a keyword, for --list-keywords; NULL: no single protocol. */
const char *keyword_declared_proto(const struct keyword_ops *k);

#endif
