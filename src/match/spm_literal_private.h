/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/spm_literal_private.h - variants of spm_find() for CPU features; all find the same. They
 * require 1 <= literal_len <= len. */
#ifndef MATCH_SPM_LITERAL_PRIVATE_H
#define MATCH_SPM_LITERAL_PRIVATE_H

#include "match/spm_literal.h"

#ifdef __SSE2__
const uint8_t *spm_find_pair(const uint8_t *data, size_t len, const uint8_t *literal,
                                 size_t literal_len, bool nocase);
/* Needs AVX2. */
const uint8_t *spm_find_avx2(const uint8_t *data, size_t len, const uint8_t *literal,
                             size_t literal_len, bool nocase);
/* Needs AVX-512BW. */
const uint8_t *spm_find_wide(const uint8_t *data, size_t len, const uint8_t *literal,
                                 size_t literal_len, bool nocase);
#endif
#ifdef __aarch64__
const uint8_t *spm_find_neon(const uint8_t *data, size_t len, const uint8_t *literal,
                             size_t literal_len, bool nocase);
#endif

#endif
