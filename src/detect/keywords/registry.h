/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/registry.h - registration of keywords that are declared in tables. */
#ifndef DETECT_KEYWORD_REGISTRY_H
#define DETECT_KEYWORD_REGISTRY_H

#include "detect/rule/keyword.h"

/* Adds a keyword; `k` must never be freed. The first keyword of a name wins. Called before any rule
 * is read. */
void keyword_register(const struct keyword_ops *k);

/* declared.c: registers buffers, integers and tests of all application protocols. */
void keyword_declared_register(void);
/* The same for one protocol, which was added after keyword_registry_init(). */
struct app_proto;
void keyword_declared_add(const struct app_proto *proto);
/* Returns the protocol of a keyword, for --list-keywords; NULL: no single protocol. */
const char *keyword_declared_proto(const struct keyword_ops *k);
/* Returns the names that its argument may have, NULL-ended; NULL: it has none, or has them in a
 * file of its own. */
const struct app_name *keyword_declared_names(const struct keyword_ops *k);

#endif
