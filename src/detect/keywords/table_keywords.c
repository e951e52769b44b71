/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/table_keywords.c - the keywords that tables declare: a sticky buffer for
 * each packet buffer, a keyword for each transform. */
#include "detect/keywords/buffers/list.h"
#include "detect/keywords/registry.h"
#include "detect/rule/program.h"
#include "detect/rule/rule_block.h"
#include "detect/rule/ruleset_private.h"
#include "detect/transforms/list.h"

#include <string.h>

/* --- packet buffers ----------------------------------------------------------------------- */

#define X(symbol) &buffer_##symbol,
static const struct packet_buffer *const buffers[] = { PACKET_BUFFER_LIST(X) };
#undef X

/* What plugins may add. */
#define REGISTERED_MAX 32

/* The table is short and this runs at load time only. */
static const struct packet_buffer *declared_buffer(const char *name)
{
    const struct packet_buffer *b;

    for (unsigned i = 0; (b = packet_buffer_at(i)) != NULL; i++)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

/* A rule about UDP has no TCP header, so tcp.hdr in it is an error. `same`: all packets of
 * a direction have the same bytes (addresses), so the rule need not inspect single
 * packets. */
static int packet_buffer_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    const struct packet_buffer *declared = declared_buffer(p->keyword->name);

    if (declared != NULL && declared->ip_proto != 0 &&
        !rule_has_ip_proto(p->rule, declared->ip_proto))
        return rule_error(p, "%s: the rule's protocol has no such header", declared->name);
    if (declared != NULL && p->rule->link == RULE_LINK_ANY)
        p->rule->link = declared->link;
    if (declared == NULL || !declared->same)
        p->rule->flags |= RULE_NEEDS_PACKET;
    return rule_set_buffer(p, buffer_find(p->ruleset, text_of(p->keyword->name)));
}

/* The registry holds keywords until the process ends. */
static void register_copy(struct keyword_ops ops)
{
    struct keyword_ops *k = xmalloc(sizeof(*k));

    *k = ops;
    keyword_register(k);
}

static void register_buffer(const struct packet_buffer *b)
{
    packet_buffer_add(b);
    register_copy((struct keyword_ops){
        .name = b->name,
        .alias = b->alias,
        .doc = b->doc,
        .features = "No option,sticky buffer",
        .point = POINT_NONE,
        .argument = ARGUMENT_NONE,
        .parse = packet_buffer_parse,
    });
}

void packet_buffers_register(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(buffers); i++)
        register_buffer(buffers[i]);
}

int packet_buffer_register(const struct packet_buffer *b, struct err *err)
{
    if (packet_buffer_at(ARRAY_LEN(buffers) + REGISTERED_MAX - 1) != NULL)
        return err_set(err, "at most %d buffers of packets can be added", REGISTERED_MAX);
    register_buffer(b);
    return 0;
}

/* --- transforms --------------------------------------------------------------------------- */

#define X(symbol) &transform_##symbol,
static const struct transform_ops *const transforms[] = { TRANSFORM_LIST(X) };
#undef X

/* Rules of several blocks use the buffer, so its argument is in the common block. */
static int use_parse(struct rule_parser *p, struct text in, struct transform_use *use)
{
    struct rule_block *block = p->block;
    struct arena *arena = p->arena;
    int result = 0;

    if (block != NULL) {
        p->block = rule_block_common(p->ruleset);
        p->arena = &p->block->arena;
    }
    if (use->ops->arg_size > 0)
        use->arg = arena_zalloc(p->arena, use->ops->arg_size);
    use->arg_text = arena_text(p->arena, in);
    if (use->ops->parse != NULL)
        result = use->ops->parse(p, in, (void *)(uintptr_t)use->arg);
    p->block = block;
    p->arena = arena;
    return result;
}

/* Replaces the current buffer by the same buffer with one transform more. Rules that chain
 * the same transforms share one buffer, so its bytes are computed once per packet. */
static int transform_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct transform_use use = { 0 };
    const struct buffer *b;
    struct rule_list *l = p->current;

    for (unsigned i = 0; i < ARRAY_LEN(transforms); i++)
        if (strcmp(transforms[i]->name, p->keyword->name) == 0)
            use.ops = transforms[i];
    if (l == NULL)
        return rule_error(p, "transforms must be used with a sticky buffer before them: %s",
                          use.ops->name);
    if (use_parse(p, in, &use) < 0)
        return -1;
    b = buffer_with_transform(p->ruleset, l->buffer, &use, p->block == NULL);
    if (l->first == NULL) {
        l->buffer = b;
        return 0;
    }
    if (l->buffer->transform_count > 0)
        return rule_error(p, "%s: transforms must directly follow stickybuffers", use.ops->name);
    /* Earlier tests inspect the buffer without the transform: the rest goes to a new list. */
    p->current = rule_buffer_list(p, b);
    p->current_at = p->at;
    if (p->current != NULL)
        p->current->directions = l->directions;
    return p->current != NULL ? 0 : -1;
}

/* `quotes_optional`: Suricata takes the argument with quotes and without. */
void transforms_register(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(transforms); i++)
        register_copy((struct keyword_ops){
            .name = transforms[i]->name,
            .doc = transforms[i]->doc,
            .syntax = transforms[i]->syntax,
            .features = "transform",
            .point = POINT_NONE,
            .argument = transforms[i]->parse == NULL ? ARGUMENT_NONE :
                        transforms[i]->argument ? ARGUMENT_REQUIRED : ARGUMENT_OPTIONAL,
            .quotes = transforms[i]->argument,
            .quotes_required = transforms[i]->argument && !transforms[i]->quotes_optional,
            .parse = transform_parse,
        });
}

/* --- keywords of payload/ ----------------------------------------------------------------- */

#define PAYLOAD_KEYWORD_LIST(X)                                                              \
    X(content) X(nocase) X(rawbytes) X(offset) X(depth) X(distance) X(within) X(startswith)   \
    X(endswith) X(fast_pattern) X(replace) X(pcre) X(isdataat) X(bsize) X(absent)             \
    X(byte_test) X(byte_jump) X(byte_extract) X(byte_math) X(base64_decode) X(base64_data)    \
    X(entropy) X(urilen) X(uricontent) X(pkt_data) X(frame) X(rpc) X(asn1) \
    X(dataset) X(datarep)

#define X(symbol) extern const struct keyword_ops keyword_##symbol;
PAYLOAD_KEYWORD_LIST(X)
#undef X
#define X(symbol) &keyword_##symbol,
static const struct keyword_ops *const payload_keywords[] = { PAYLOAD_KEYWORD_LIST(X) };
#undef X

void payload_keywords_register(void)
{
    for (size_t i = 0; i < ARRAY_LEN(payload_keywords); i++)
        keyword_register(payload_keywords[i]);
}
