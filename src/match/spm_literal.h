/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/spm_literal.h - search for one literal in bytes, exact or ignoring ASCII case. */
#ifndef MATCH_SPM_LITERAL_H
#define MATCH_SPM_LITERAL_H

#include "base/base.h"

/* Returns the first position of the literal, or NULL. With nocase the literal must be in lower
 * case. An empty literal is found at the start. */
const uint8_t *spm_find(const uint8_t *data, size_t len, const uint8_t *literal,
                            size_t literal_len, bool nocase);

/* The same in plain C: the definition with which tests compare spm_find(). */
const uint8_t *spm_find_plain(const uint8_t *data, size_t len, const uint8_t *literal,
                                  size_t literal_len, bool nocase);

bool spm_equal_nocase(const uint8_t *data, const uint8_t *lower, size_t len);
uint8_t ascii_lower(uint8_t c);

#endif
