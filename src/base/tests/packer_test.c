/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/packer. */
#include "base/memory/packer.h"

#include "base/test.h"

#include <stdio.h>
#include <string.h>

static void fill(uint8_t *data, size_t len)
{
    char line[64];

    for (size_t at = 0, n; at < len; at += n) {
        snprintf(line, sizeof(line), "rule %zu looks for content %zx; ", at, at * 7919);
        n = MIN(strlen(line), len - at);
        memcpy(data + at, line, n);
    }
}

TEST(packer_packs_and_unpacks)
{
    static uint8_t in[8192], packed[8192], out[8192];
    struct packer *p = packer_new();
    size_t size;

    fill(in, sizeof(in));
    size = packer_pack(p, in, sizeof(in), packed, sizeof(packed));
    t->skipped = size == 0;                     /* neither library */
    CHECK(t->skipped || size < sizeof(in) / 2);
    CHECK_INT(packer_pack(p, in, sizeof(in), out, 16), 0);
    packer_close(packer_ref(p));
    packer_unref(p);
    packer_lock(p);
    CHECK(t->skipped || packer_unpack(p, packed, size, out, sizeof(out)));
    CHECK(t->skipped || memcmp(in, out, sizeof(in)) == 0);
    CHECK(!packer_unpack(p, packed, size / 2, out, sizeof(out)));
    CHECK(t->skipped || !packer_unpack(p, packed, size, out, sizeof(out) / 2));
    packer_unlock(p);
    packer_unref(p);
}
