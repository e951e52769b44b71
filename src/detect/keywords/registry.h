/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/registry.h - registration of all keywords and buffers. */
#ifndef DETECT_KEYWORD_REGISTRY_H
#define DETECT_KEYWORD_REGISTRY_H

#include "detect/rule/registry.h"

/* Fills the registry; a second call does nothing. Each program calls it before it reads rules. */
void keyword_registry_init(void);

/* table_keywords.c: one sticky keyword per packet buffer, one per transform, and those of
 * detect/keywords/payload/. */
void packet_buffers_register(void);
void transforms_register(void);
void payload_keywords_register(void);
/* Adds a buffer of packets and its keyword; `b` is never freed. -1: there are too many. */
int packet_buffer_register(const struct packet_buffer *b, struct err *err);

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
