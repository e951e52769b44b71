/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/spm_literal.h - finds one literal in bytes, as written or without regard to ASCII case. */
#ifndef MATCH_SPM_LITERAL_H
#define MATCH_SPM_LITERAL_H

#include "base/base.h"

/* The first place where the literal stands, or NULL. nocase: the literal is in lower case. An
 * empty literal stands at the start. */
const uint8_t *spm_find(const uint8_t *data, size_t len, const uint8_t *literal,
                            size_t literal_len, bool nocase);

/* What spm_find() means, written plainly. */
const uint8_t *spm_find_plain(const uint8_t *data, size_t len, const uint8_t *literal,
                                  size_t literal_len, bool nocase);

bool spm_equal_nocase(const uint8_t *data, const uint8_t *lower, size_t len);
uint8_t ascii_lower(uint8_t c);

#endif
