/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/tests/chains_test.c - chains of certificates that flows share. */
#include "app/proto/tls/chains.h"
#include "base/test.h"

#include <string.h>

static struct tls_chain *find(const struct tls_chains *chains, struct slice list)
{
    return tls_chain_find(chains, tls_chain_hash(list), list);
}

static struct tls_chain *make(struct slice list)
{
    return tls_chain_new(tls_chain_hash(list), list);
}

static struct slice numbered(uint32_t *number)
{
    return (struct slice){ (const uint8_t *)number, sizeof(*number) };
}

TEST(tls_chains_are_found_by_all_their_bytes)
{
    const struct slice list = { (const uint8_t *)"certificates", 12 };
    struct tls_chains chains = { 0 };
    struct tls_chain *chain;

    CHECK(find(&chains, list) == NULL);
    chain = make(list);
    CHECK_BYTES(chain->list.data, chain->list.len, list.data, list.len);
    CHECK(chain->list.data != list.data);
    tls_chain_share(&chains, chain);
    CHECK(find(&chains, (struct slice){ list.data, 11 }) == NULL);
    CHECK(find(&chains, (struct slice){ (const uint8_t *)"Certificates", 12 }) == NULL);
    CHECK(find(&chains, list) == chain);
    CHECK_INT(chain->refs, 2);
    tls_chain_unref(chain);
    CHECK(find(&chains, list) == chain);
    tls_chain_unref(chain);
    tls_chain_unref(chain);
    CHECK(find(&chains, list) == NULL);
    tls_chains_fini(&chains);
}

/* More than the table has buckets: those that do not fit are their owners' alone. */
TEST(tls_chains_that_are_all_different)
{
    enum { MANY = 50000 };
    static struct tls_chain *chain[MANY];
    struct tls_chains chains = { 0 };
    unsigned found = 0, other = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        chain[i] = make(numbered(&i));
        tls_chain_share(&chains, chain[i]);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        struct tls_chain *c = find(&chains, numbered(&i));

        found += c != NULL;
        other += c != NULL && c != chain[i];
        tls_chain_unref(c);
    }
    CHECK(found > MANY / 2 && found < MANY);
    CHECK_INT(other, 0);
    for (uint32_t i = 0; i < MANY; i++)
        tls_chain_unref(chain[i]);
    for (uint32_t i = 0; i < MANY; i++)
        CHECK(find(&chains, numbered(&i)) == NULL);
    tls_chains_fini(&chains);
}

TEST(tls_chains_without_certificates_are_not_shared)
{
    struct tls_chains chains = { 0 };
    struct tls_chain *chain = make((struct slice){ 0 });

    tls_chain_share(&chains, chain);
    CHECK(find(&chains, (struct slice){ 0 }) == NULL);
    tls_chain_unref(chain);
    tls_chain_unref(NULL);
    tls_chains_fini(&chains);
}
