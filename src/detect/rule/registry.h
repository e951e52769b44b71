/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/registry.h - adds keywords, and the packet buffers that rules can name, before any
 * rule is read. keyword_find() and packet_buffer_at() find them. */
#ifndef DETECT_RULE_REGISTRY_H
#define DETECT_RULE_REGISTRY_H

#include "detect/rule/buffer.h"
#include "detect/rule/keyword.h"

/* Adds a keyword; `k` must never be freed. The first keyword of a name wins. */
void keyword_register(const struct keyword_ops *k);
bool keyword_registry_is_empty(void);

/* Adds the buffer, without a keyword for it; `b` must never be freed. */
void packet_buffer_add(const struct packet_buffer *b);

#endif
