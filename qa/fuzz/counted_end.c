/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/counted_end.c - stands behind the objects whose coverage counts. */
#include "counted.h"

uint8_t counted_end[1] COUNTED_COUNTER = { 0 };
struct counted_pc counted_pc_end[1] COUNTED_PC = { { 0, 0 } };
