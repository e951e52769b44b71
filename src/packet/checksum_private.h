/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/checksum_private.h - variants that sum a long packet; all return the same. */
#ifndef PACKET_CHECKSUM_PRIVATE_H
#define PACKET_CHECKSUM_PRIVATE_H

#include "base/base.h"

#define CHECKSUM_BLOCK 64u

uint64_t checksum_blocks_plain(uint64_t sum, const uint8_t *at, size_t blocks);
#ifdef __x86_64__
uint64_t checksum_blocks_avx2(uint64_t sum, const uint8_t *at, size_t blocks);
uint64_t checksum_blocks_avx512(uint64_t sum, const uint8_t *at, size_t blocks);
#endif
#ifdef __aarch64__
uint64_t checksum_blocks_neon(uint64_t sum, const uint8_t *at, size_t blocks);
#endif

#endif
