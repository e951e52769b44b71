/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/defrag_conf.c - defrag.* and its exception policy. */
#include "packet/defrag_private.h"

#include "base/array.h"
#include "packet/defrag_policy.h"

#include <stdlib.h>
#include <strings.h>

/* The values of Suricata's exception policies, and their meaning for a fragment. */
static const struct {
    const char *word;
    enum memcap_policy policy;
} memcap_words[] = {
    { "ignore", MEMCAP_IGNORE },
    { "drop-packet", MEMCAP_DROP },
    { "drop-flow", MEMCAP_DROP },       /* a fragment has no flow */
    { "pass-packet", MEMCAP_PASS },
    { "pass-flow", MEMCAP_PASS },
    { "bypass", MEMCAP_IGNORE },
    { "reject", MEMCAP_REJECT },
    { "rejectboth", MEMCAP_REJECT_BOTH },
};

/* A drop from the general `exception-policy` has no meaning in IDS mode, where nothing can be
 * dropped. */
static enum memcap_policy memcap_policy_read(const struct conf_node *root, bool is_inline)
{
    const char *own = conf_string(root, "defrag.memcap-policy", NULL);
    const char *word = own != NULL ? own : conf_string(root, "exception-policy", "auto");
    enum memcap_policy policy = MEMCAP_IGNORE;

    if (strcasecmp(word, "auto") == 0)
        return is_inline ? MEMCAP_DROP : MEMCAP_IGNORE;
    for (unsigned i = 0; i < ARRAY_LEN(memcap_words); i++)
        if (strcasecmp(memcap_words[i].word, word) == 0)
            policy = memcap_words[i].policy;
    return own == NULL && !is_inline && policy == MEMCAP_DROP ? MEMCAP_IGNORE : policy;
}

/* A wrong word is fatal: silently ignoring it would change what is blocked. */
static void check_memcap_word(const struct conf_node *root, const char *path)
{
    const char *word = conf_string(root, path, "auto");

    if (strcasecmp(word, "auto") == 0)
        return;
    for (unsigned i = 0; i < ARRAY_LEN(memcap_words); i++)
        if (strcasecmp(memcap_words[i].word, word) == 0)
            return;
    conf_fatal(conf_find(root, path),
               "\"%s\" is no exception policy: expected drop-flow, pass-flow, "
               "bypass, reject, rejectboth, drop-packet, pass-packet, ignore or auto",
               word);
}

/* The memcap is split over the decoders later, by defrag_conf_set_run(). max-frags 0 means the
 * default. */
struct defrag_conf *defrag_conf_new(const struct conf_node *root, struct err *err)
{
    struct defrag_conf *conf = xcalloc(1, sizeof(*conf));

    conf->root = root;
    conf->memcap = conf_size(root, "defrag.memcap", 16777216);
    conf->hash_size = (uint32_t)conf_u64_range(root, "defrag.hash-size", 4096, 1, 1u << 26);
    conf->frag_limit = (uint32_t)conf_u64_within(root, "defrag.max-frags", 65535, 0, UINT32_MAX);
    if (conf->frag_limit == 0)
        conf->frag_limit = 65535;
    conf->timeout_s = (uint32_t)conf_u64_within(root, "defrag.timeout", 60, 1, 86400);
    if (conf->hash_size * DEFRAG_ROW_SIZE > conf->memcap) {
        const struct conf_node *at = conf_find(root, "defrag.hash-size");

        free(conf);
        err_at(err, at != NULL ? at->at : (struct where){ 0 },
               "defrag.hash-size: the table alone does not fit in defrag.memcap");
        return NULL;
    }
    check_memcap_word(root, "defrag.memcap-policy");
    conf->policies = defrag_policy_load(root);
    conf->timeouts = defrag_timeout_load(root);
#define X(name, counter, kind) conf->name = counter_register(counter, COUNTER_##kind);
    DEFRAG_COUNTER_LIST(X)
#undef X
    defrag_conf_set_run(conf, 1, false);
    return conf;
}

/* Counters exist only with a policy, as in Suricata. */
static void register_applied(struct defrag_conf *conf)
{
    static const char *const names[MEMCAP_POLICY_COUNT] = {
        [MEMCAP_DROP] = "exception_policy.defrag.memcap.drop_packet",
        [MEMCAP_PASS] = "exception_policy.defrag.memcap.pass_packet",
        [MEMCAP_REJECT] = "exception_policy.defrag.memcap.reject",
        [MEMCAP_REJECT_BOTH] = "exception_policy.defrag.memcap.reject_both",
    };

    if (conf->memcap_policy == MEMCAP_IGNORE)
        return;
    for (unsigned i = MEMCAP_DROP; i < MEMCAP_POLICY_COUNT; i++)
        conf->applied[i] = counter_register(names[i], COUNTER_SUM);
    /* A fragment has no flow that could be bypassed. */
    counter_register_zero("exception_policy.defrag.memcap.bypass");
}

/* The table, and some datagrams of the largest size. */
static uint64_t least_memory(const struct defrag_conf *conf)
{
    return conf->hash_size * DEFRAG_ROW_SIZE + (1u << 18);
}

uint64_t defrag_conf_memcap(const struct defrag_conf *conf)
{
    return __atomic_load_n(&conf->memcap, __ATOMIC_RELAXED);
}

/* Called by the control socket while decoders run. False: it would be less than they need. */
bool defrag_conf_set_memcap(struct defrag_conf *conf, uint64_t bytes)
{
    if (bytes / MAX(conf->sharers, 1u) < least_memory(conf))
        return false;
    __atomic_store_n(&conf->memcap, bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&conf->memcap_each, bytes / MAX(conf->sharers, 1u), __ATOMIC_RELAXED);
    return true;
}

/* Called once, when the number of decoders is known, before they run. */
void defrag_conf_set_run(struct defrag_conf *conf, unsigned sharers, bool is_inline)
{
    conf->sharers = MAX(sharers, 1u);
    conf->memcap_each = MAX(conf->memcap / conf->sharers, least_memory(conf));
    conf->memcap_policy = memcap_policy_read(conf->root, is_inline);
    register_applied(conf);
}

void defrag_conf_simulate_memcap(struct defrag_conf *conf, uint64_t packet_number)
{
    conf->simulate_memcap = packet_number;
}

void defrag_conf_free(struct defrag_conf *conf)
{
    if (conf == NULL)
        return;
    ip_settings_free(conf->policies);
    ip_settings_free(conf->timeouts);
    free(conf);
}
