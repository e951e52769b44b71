/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/bpf_filter.h - a filter in libpcap's language, for any link type. One thread. */
#ifndef CAPTURE_BPF_FILTER_H
#define CAPTURE_BPF_FILTER_H

#include "base/err.h"

struct bpf_filter;

/* NULL with *err when the expression is wrong. */
struct bpf_filter *bpf_filter_new(const char *expression, struct err *err);
void bpf_filter_free(struct bpf_filter *f);
/* Compiles again when the link type changes. An expression that does not fit the link type matches
 * nothing. */
bool bpf_filter_matches(struct bpf_filter *f, int link_type, const uint8_t *data, uint32_t len,
                        uint32_t wire_len);

#endif
