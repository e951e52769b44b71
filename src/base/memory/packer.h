/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/packer.h - packs what is seldom read again: slower than pack(), and to two thirds of
 * it.
 *
 * What unpacks is allocated when the packer is created, so unpacking cannot fail for memory.
 * Without libzstd it packs as pack() does. */
#ifndef BASE_PACKER_H
#define BASE_PACKER_H

#include "base/base.h"

struct packer;

/* With one reference. It never returns NULL. */
struct packer *packer_new(void);
struct packer *packer_ref(struct packer *packer);
void packer_unref(struct packer *packer);           /* NULL is fine */

/* For one thread, and not after packer_close(). Returns the size, at most `space`; 0: it would be
 * larger. */
size_t packer_pack(struct packer *packer, const uint8_t *in, size_t len, uint8_t *out,
                   size_t space);
/* Frees what only packing needs. */
void packer_close(struct packer *packer);

/* Any thread, but one at a time: it holds the lock. */
void packer_lock(struct packer *packer);
void packer_unlock(struct packer *packer);
/* False: `in` does not unpack to exactly `len` bytes. */
NODISCARD bool packer_unpack(struct packer *packer, const uint8_t *in, size_t size, uint8_t *out,
                             size_t len);

#endif
