/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/settings.h - settings and counters of all protocols, and the features that rules and
 * outputs require of parsers. Shared by all threads; only members marked so change while packets
 * flow. */
#ifndef APP_CORE_SETTINGS_H
#define APP_CORE_SETTINGS_H

#include "app/core/detect_proto.h"
#include "app/conf.h"
#include "app/lib/magic.h"
#include "flow/exception.h"

/* Ids above the list's, for protocols that tests add. */
#define APP_PROTO_EXTRA 2
#define APP_PROTO_MAX (APP_PROTO_COUNT + APP_PROTO_EXTRA)

struct app_proto_conf {
    const struct app_proto *proto;
    bool enabled[TRANSPORT_COUNT];          /* detected */
    bool parses[TRANSPORT_COUNT];
    bool has_stream_frame;
    uint32_t tx_limit;
    bool own_depth;                         /* differs from the stream's */
    uint64_t stream_depth;                  /* UINT64_MAX: none */
    void *settings;
};

#define EXCEPTION_COUNT (EXCEPTION_REJECT_BOTH + 1)

/* `has` says whether the protocol owns these counters: id 0 may be another module's. */
struct app_counter {
    counter_id id;
    bool has;
};
struct app_proto_counters {
    struct app_counter flow, tx, gap, alloc, parser, internal;
    struct app_counter policy[EXCEPTION_COUNT];
};

struct app_expectations;
struct expectation_parents;

/* Memory of decompressors: decoder_memory.c. */
struct app_decoders {
    struct app_memory memory;
    uint64_t large;             /* of memory.used: blocks above 256 KiB */
    uint64_t unpacked;          /* ... and windows of decompressed content */
    uint64_t drawn_until;       /* of the output that connections share, decoder_output_draw() */
    uint64_t window_limit;
    counter_id refused;
};
/* NULL: no protocol sets limits. */
void app_decoders_read(struct app_decoders *d, const struct app_proto *proto,
                       const struct conf_node *node);

struct app_conf {
    struct app_proto_conf proto[APP_PROTO_MAX];
    struct app_proto_counters counter[TRANSPORT_COUNT][APP_PROTO_MAX];
    struct app_counter policy_total[EXCEPTION_COUNT];
    counter_id expectation_counter;
    struct app_detect_tables detect;
    enum exception_policy error_policy;
    bool errors_by_proto;       /* also count per protocol the effects of the policy */
    bool suricata_9;                        /* conf/compatibility.h */
    bool is_inline;
    bool hands_over;                        /* another process can take over the capture */
    bool bypasses;                          /* some protocol bypasses encrypted flows */
    const char *magic_file;                 /* NULL: libmagic's own */
    counter_id magic_counter[MAGIC_SKIPPED + 1];        /* by enum magic_outcome */
    struct app_expectations *expectations;  /* shared, with a lock */
    struct expectation_parents *parents;            /* shared, with a lock */
    struct app_ranges *ranges;              /* shared, with a lock */
    struct app_decoders decoders;           /* shared, atomics */
    uint64_t tx_bytes[APP_PROTO_MAX];       /* of all threads, atomics: account() in tx.c */
    /* app_require(): bits are only ever set, by relaxed atomics */
    uint32_t any_frames;
    uint32_t required_frames[APP_PROTO_MAX], required_features[APP_PROTO_MAX];
    uint32_t required_files, required_content[APP_PROTO_MAX];
};

/* Like app_conf_new(), with further protocols whose ids follow APP_PROTO_COUNT. */
struct app_conf *app_conf_new_extra(const struct conf_node *root, bool is_inline,
                                    const struct app_proto *const *extra, struct err *err);

static inline uint32_t required_get(const uint32_t *bits)
{
    return __atomic_load_n(bits, __ATOMIC_RELAXED);
}

void app_counters_register(struct app_conf *conf);
static inline void app_count(struct counters *c, struct app_counter counter, uint64_t n)
{
    if (counter.has)
        counter_add(c, counter.id, n);
}

#endif
