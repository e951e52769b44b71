/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/host_bits.c - named bits on hosts and pairs of hosts, with an end: xbits and hostbits. */
#include "detect/host_bits.h"

#include "detect/shard_table.h"

#include <stdlib.h>

/* An entry is a bit; it is set while the entry lives and its value is not 0. */
struct host_bits { struct shard_table *table; };

struct host_bits *host_bits_new(const struct conf_node *root)
{
    struct host_bits *bits = malloc(sizeof(*bits));

    if (bits == NULL)
        return NULL;
    bits->table = shard_table_new(conf_size(root, "host.memcap", 32 << 20));
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

/* Bits of source and destination are bits of the same host. */
static struct shard_key key_of(const struct packet *p, enum host_bit_track track, uint32_t id)
{
    struct shard_key key = { .id = { id } };

    switch (track) {
    case HOST_BIT_SRC: shard_key_address(&key, &p->src); break;
    case HOST_BIT_DST: shard_key_address(&key, &p->dst); break;
    case HOST_BIT_PAIR:
        key.kind = 1;
        shard_key_pair(&key, &p->src, &p->dst);
        break;
    }
    return key;
}

bool host_bit_is_set(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                     uint32_t id)
{
    struct shard_key key = key_of(p, track, id);
    struct shard_ref ref = shard_table_get(bits->table, &key, p->time_us, false);
    bool set = ref.value != NULL && *(const uint64_t *)ref.value != 0;

    shard_table_release(&ref);
    return set;
}

static void change(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                   uint32_t id, uint32_t seconds, bool toggle)
{
    struct shard_key key = key_of(p, track, id);
    struct shard_ref ref = shard_table_get(bits->table, &key, p->time_us, true);
    uint64_t *value = ref.value;

    if (value != NULL) {
        *value = toggle ? *value == 0 : 1;
        *ref.ends_us = p->time_us + seconds * UINT64_C(1000000);
    }
    shard_table_release(&ref);
}

void host_bit_set(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                  uint32_t id, uint32_t seconds)
{
    change(bits, p, track, id, seconds, false);
}

void host_bit_toggle(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                     uint32_t id, uint32_t seconds)
{
    change(bits, p, track, id, seconds, true);
}

void host_bit_unset(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                    uint32_t id)
{
    struct shard_key key = key_of(p, track, id);
    struct shard_ref ref = shard_table_get(bits->table, &key, p->time_us, false);

    if (ref.value != NULL)
        *(uint64_t *)ref.value = 0;
    shard_table_release(&ref);
}
