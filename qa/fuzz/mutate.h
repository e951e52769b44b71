/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/mutate.h - mutators that know the structure of a protocol.
 *
 * Bytes changed at random break a length, and the parser stops there. mutate.c takes an input of
 * fuzz_app.c apart into its chunks; one file by protocol (mutate_tls.c and so on) then edits one
 * chunk. Every length that counts the edited bytes is corrected, most of the time. */
#ifndef QA_FUZZ_MUTATE_H
#define QA_FUZZ_MUTATE_H

#include "base/text/bytes.h"

#include <stddef.h>
#include <stdint.h>

#define EDIT_DEPTH 12
#define EDIT_PART_MAX 4096u             /* bytes that are changed at once */

/* An input at work. Positions count from its first byte. */
struct edit {
    uint8_t *data;
    size_t len, max;
    uint32_t state;                     /* of the random numbers */
    struct { size_t at; unsigned width; } length[EDIT_DEPTH];
    unsigned depth;
};

uint32_t edit_random(struct edit *e, uint32_t below);
bool edit_chance(struct edit *e, uint32_t one_in);

/* The bytes edited next lie within what the big-endian length of `width` bytes at `at` counts. */
void edit_within(struct edit *e, size_t at, unsigned width);
uint64_t edit_number(const struct edit *e, size_t at, unsigned width);
void edit_set(struct edit *e, size_t at, unsigned width, uint64_t value);

/* Puts `len` bytes in the place of `old` ones and corrects the lengths around them. False: there is
 * no room. */
bool edit_replace(struct edit *e, size_t at, size_t old, const uint8_t *bytes, size_t len);
bool edit_repeat(struct edit *e, size_t at, size_t len);
/* Changes the part as a fuzzer changes bytes; it may grow. */
void edit_bytes(struct edit *e, size_t at, size_t len);
/* Changes, repeats or removes the part. */
void edit_part(struct edit *e, size_t at, size_t len);

/* One for each program: edits the chunk at [at, at + len), which is one direction's data. */
extern void mutate_chunk(struct edit *e, size_t at, size_t len, uint8_t control);

#endif
