/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/registry.h - how keywords that no file declares come into the registry. */
#ifndef DETECT_KEYWORD_REGISTRY_H
#define DETECT_KEYWORD_REGISTRY_H

#include "detect/rule/keyword.h"

/* k lives for ever. The first of a name wins. Only from keyword_registry_init(). */
void keyword_register(const struct keyword_ops *k);

/* declared.c: buffers, integers and tests of all application protocols. */
void keyword_declared_register(void);
/* The protocol that a keyword belongs to, for --list-keywords; NULL: none in particular. */
const char *keyword_declared_proto(const struct keyword_ops *k);

#endif
