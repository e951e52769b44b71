/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/patterns.c - reports over all rules. patterns.json: which contents are
 * in which buffer, how often, and how many rules are found by them. flowbits.json: which
 * rules set and read which flowbit. */
#include "detect/analysis/private.h"

#include "detect/rule/flowbits.h"
#include "flow/vars.h"

#include <stdlib.h>
#include <string.h>

/* --- contents ----------------------------------------------------------------------------- */

/* A content that rules share. `patterns`: how many rules Suricata would find by it. */
struct pattern {
    const struct rule_op *op;           /* the first that has it */
    uint32_t flags;
    unsigned uses, patterns;
};

/* The contents of one buffer. */
struct pattern_list {
    const struct buffer *buffer;        /* NULL: payload */
    struct map by_bytes;
    ARRAY_OF(struct pattern *) patterns;
};
typedef ARRAY_OF(struct pattern_list) pattern_lists;

/* Contents that differ in these are different patterns. */
#define REPORTED_FLAGS (OP_NOCASE | OP_NEGATED | OP_DEPTH | OP_OFFSET | OP_ENDSWITH)

/* The pointer holds until the next list is added. */
static struct pattern_list *list_for(pattern_lists *lists, const struct buffer *b)
{
    for (size_t i = 0; i < lists->count; i++)
        if (lists->at[i].buffer == b)
            return &lists->at[i];
    ARRAY_PUSH(lists, (struct pattern_list){ .buffer = b });
    return &lists->at[lists->count - 1];
}

/* The key is flags and bytes. */
static struct pattern *pattern_for(struct pattern_list *l, const struct rule_op *op)
{
    uint32_t flags = (op->flags & ~(uint32_t)(OP_DEPTH | OP_OFFSET)) | analysis_position(op).flags;
    struct buf key = { 0 };
    struct pattern *p;

    flags &= REPORTED_FLAGS;
    buf_add(&key, &flags, sizeof(flags));
    buf_add(&key, op->content.bytes, op->content.len);
    p = map_get(&l->by_bytes, key.data, key.len);
    if (p == NULL) {
        p = xcalloc(1, sizeof(*p));
        p->op = op;
        p->flags = flags;
        map_put(&l->by_bytes, key.data, key.len, p);
        ARRAY_PUSH(&l->patterns, p);
    }
    buf_fini(&key);
    return p;
}

static void collect(pattern_lists *lists, const struct rule *rule)
{
    bool negated;
    const struct rule_op *selected = analysis_pattern(rule, &negated);

    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next) {
            struct pattern *p;

            if (op->kind != OP_CONTENT)
                continue;
            p = pattern_for(list_for(lists, l->buffer), op);
            p->uses++;
            p->patterns += op == selected;
        }
}

static void write_pattern(struct json *j, const struct pattern *p)
{
    struct buf text = { 0 };

    analysis_pattern_text(&text, p->op->content.bytes, p->op->content.len);
    json_object(j, NULL);
    json_string(j, "pattern", (const char *)text.data);
    json_u64(j, "patlen", p->op->content.len);
    json_u64(j, "cnt", p->uses);
    json_u64(j, "mpm", p->patterns);
    json_object(j, "flags");
    json_bool(j, "nocase", p->flags & OP_NOCASE);
    json_bool(j, "negated", p->flags & OP_NEGATED);
    json_bool(j, "depth", p->flags & OP_DEPTH);
    json_bool(j, "offset", p->flags & OP_OFFSET);
    json_bool(j, "endswith", p->flags & OP_ENDSWITH);
    json_object_end(j);
    json_object_end(j);
    buf_fini(&text);
}

/* list_id: 1 is the payload, as in Suricata; the others are our own numbers. */
static void write_list(struct json *j, struct pattern_list *l)
{
    char name[ENGINE_NAME_SIZE];

    json_object(j, NULL);
    json_string(j, "name", engine_buffer_name(l->buffer, name));
    json_u64(j, "list_id", l->buffer != NULL ? l->buffer->id + 2u : 1);
    json_array(j, "patterns");
    for (size_t i = 0; i < l->patterns.count; i++)
        write_pattern(j, l->patterns.at[i]);
    json_array_end(j);
    json_object_end(j);
}

static void lists_free(pattern_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++) {
        for (size_t k = 0; k < lists->at[i].patterns.count; k++)
            free(lists->at[i].patterns.at[k]);
        ARRAY_FREE(&lists->at[i].patterns);
        map_fini(&lists->at[i].by_bytes);
    }
    ARRAY_FREE(lists);
}

void analysis_patterns_json(struct buf *out, const struct ruleset *set)
{
    pattern_lists lists = { 0 };
    struct json j;

    for (size_t i = 0; i < set->rules.count; i++)
        collect(&lists, set->rules.at[i]);
    json_init(&j, out);
    json_object(&j, NULL);
    json_array(&j, "buffers");
    for (size_t i = 0; i < lists.count; i++)
        write_list(&j, &lists.at[i]);
    json_array_end(&j);
    json_object_end(&j);
    buf_add_u8(out, '\n');
    lists_free(&lists);
}

/* --- flowbits ----------------------------------------------------------------------------- */

/* Index of bit_commands[] and of the lists of a bit. */
enum { BIT_SET, BIT_UNSET, BIT_TOGGLE, BIT_ISSET, BIT_ISNOTSET, BIT_COMMANDS };

static const struct { const char *command, *count_key, *rules_key; } bit_commands[] = {
    [BIT_SET] = { "set", "set_cnt", "sets" },
    [BIT_UNSET] = { "unset", "unset_cnt", "unset" },
    [BIT_TOGGLE] = { "toggle", "toggle_cnt", "toggle" },
    [BIT_ISSET] = { "isset", "isset_cnt", "isset" },
    [BIT_ISNOTSET] = { "isnotset", "isnotset_cnt", "isnotset" },
};

/* A flowbit with the rules that use it, by command. */
struct bit {
    uint32_t id;
    ARRAY_OF(uint32_t) sids[BIT_COMMANDS];
};
typedef ARRAY_OF(struct bit) bit_array;

/* The pointer holds until the next bit is added. A ruleset has some hundred bits. */
static struct bit *bit_for(bit_array *bits, uint32_t id)
{
    for (size_t i = 0; i < bits->count; i++)
        if (bits->at[i].id == id)
            return &bits->at[i];
    ARRAY_PUSH(bits, (struct bit){ .id = id });
    return &bits->at[bits->count - 1];
}

/* A rule with "a|b" is listed under both. */
static void collect_bits(bit_array *bits, const struct rule *rule, const struct rule_test *test)
{
    struct flowbits_use use;

    if (!flowbits_use_of(test, &use))
        return;
    for (unsigned c = 0; c < BIT_COMMANDS; c++)
        for (unsigned i = 0; i < use.count && strcmp(bit_commands[c].command, use.command) == 0;
             i++)
            ARRAY_PUSH(&bit_for(bits, use.id[i])->sids[c], rule->sid);
}

/* Counts and lists are in Suricata's order, which differs between the two. */
static void write_bit(struct json *j, const struct bit *bit)
{
    static const uint8_t order[] = { BIT_SET, BIT_ISSET, BIT_ISNOTSET, BIT_UNSET, BIT_TOGGLE };

    json_object(j, NULL);
    json_string(j, "name", var_name(VAR_FLOWBIT, bit->id));
    json_u64(j, "internal_id", bit->id);
    for (unsigned c = 0; c < BIT_COMMANDS; c++)
        json_u64(j, bit_commands[c].count_key, bit->sids[c].count);
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        unsigned c = order[i];

        if (bit->sids[c].count == 0)
            continue;
        json_array(j, bit_commands[c].rules_key);
        for (size_t k = 0; k < bit->sids[c].count; k++)
            json_u64(j, NULL, bit->sids[c].at[k]);
        json_array_end(j);
    }
    json_object_end(j);
}

/* Without flowbits `out` stays empty, and there is no file. */
void analysis_flowbits_json(struct buf *out, const struct ruleset *set)
{
    bit_array bits = { 0 };
    struct json j;

    for (size_t i = 0; i < set->rules.count; i++) {
        const struct rule *r = set->rules.at[i];

        for (unsigned k = 0; k < r->test_count; k++)
            collect_bits(&bits, r, &r->test[k]);
        for (unsigned k = 0; k < r->post_count; k++)
            collect_bits(&bits, r, &r->post[k]);
    }
    if (bits.count == 0)
        return;
    json_init(&j, out);
    json_object(&j, NULL);
    json_array(&j, "flowbits");
    for (size_t i = 0; i < bits.count; i++) {
        write_bit(&j, &bits.at[i]);
        for (unsigned c = 0; c < BIT_COMMANDS; c++)
            ARRAY_FREE(&bits.at[i].sids[c]);
    }
    json_array_end(&j);
    json_object_end(&j);
    buf_add_u8(out, '\n');
    ARRAY_FREE(&bits);
}
