/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/counted_begin.c - stands before the objects whose coverage counts. */
#include "counted.h"

uint8_t counted_begin[1] COUNTED_COUNTER = { 0 };
struct counted_pc counted_pc_begin[1] COUNTED_PC = { { 0, 0 } };
