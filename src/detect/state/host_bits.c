/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/host_bits.c - named bits on hosts and on pairs of hosts, with an end: xbits
 * and hostbits. All threads share the table; each call locks one shard. */
#include "detect/state/host_bits.h"

#include "detect/state/shard_table.h"

#include <stdlib.h>

/* An entry is a bit. The bit is set while the entry lives and its value is not 0. */
struct host_bits { struct shard_table *table; };

/* host.memcap is Suricata's key; 16 MB by default. */
struct host_bits *host_bits_new(const struct conf_node *root)
{
    struct host_bits *bits = malloc(sizeof(*bits));

    if (bits == NULL)
        return NULL;
    bits->table = shard_table_new(conf_size(root, "host.memcap", 16 << 20));
    if (bits->table == NULL) {
        free(bits);
        return NULL;
    }
    return bits;
}

void host_bits_free(struct host_bits *bits)
{
    if (bits == NULL)
        return;
    shard_table_free(bits->table);
    free(bits);
}

struct shard_table *host_bits_table(struct host_bits *bits)
{
    return bits->table;
}

/* `b` NULL: of one host. A pair has one bit, whichever of the two is the source. */
static struct shard_key key_of(const struct ip *a, const struct ip *b, uint32_t id)
{
    struct shard_key key = { .id = { id }, .kind = b != NULL };

    if (b != NULL)
        shard_key_pair(&key, a, b);
    else
        shard_key_address(&key, a);
    return key;
}

bool host_bit_has_space(struct host_bits *bits, struct host_bit bit)
{
    struct shard_key key = key_of(bit.host, bit.peer, bit.id);

    return shard_table_has_space(bits->table, &key);
}

/* 0: the bit is not set, or has expired at `now_us`. */
uint64_t host_bit_ends_us(struct host_bits *bits, struct host_bit bit, uint64_t now_us)
{
    struct shard_key key = key_of(bit.host, bit.peer, bit.id);
    struct shard_ref ref = shard_table_get(bits->table, &key, now_us, false);
    bool set = ref.value != NULL && *(const uint64_t *)ref.value != 0;
    uint64_t ends_us = set ? *ref.ends_us : 0;

    shard_table_release(&ref);
    return ends_us;
}

bool host_bit_is_set(struct host_bits *bits, struct host_bit bit, uint64_t now_us)
{
    return host_bit_ends_us(bits, bit, now_us) != 0;
}

/* When the table is full the bit stays unset; shard_table counts that. */
void host_bit_set(struct host_bits *bits, struct host_bit bit, uint64_t now_us, uint64_t ends_us)
{
    struct shard_key key = key_of(bit.host, bit.peer, bit.id);
    struct shard_ref ref = shard_table_get(bits->table, &key, now_us, true);

    if (ref.value != NULL) {
        *(uint64_t *)ref.value = 1;
        *ref.ends_us = ends_us;
    }
    shard_table_release(&ref);
}

void host_bit_unset(struct host_bits *bits, struct host_bit bit, uint64_t now_us)
{
    struct shard_key key = key_of(bit.host, bit.peer, bit.id);
    struct shard_ref ref = shard_table_get(bits->table, &key, now_us, false);

    if (ref.value != NULL)
        *(uint64_t *)ref.value = 0;
    shard_table_release(&ref);
}
