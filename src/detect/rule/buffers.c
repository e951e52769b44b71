/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/buffers.c - the buffers of one ruleset. A buffer gets its number when a rule first
 * names it, so a ruleset pays only for the buffers that it uses. */
#include "detect/rule/buffer.h"
#include "base/containers/map.h"
#include "detect/rule/program.h"
#include "detect/rule/rule_block.h"
#include "detect/rule/ruleset_private.h"

#include <stdlib.h>
#include <string.h>

/* Allocated with the first buffer, freed with the ruleset. */
struct buffer_registry {
    struct map by_name;                 /* key: name with its chain of transforms */
    ARRAY_OF(struct buffer *) list;     /* NULL: only a set before this one had it */
    unsigned first_count;               /* of the set that parsed all its rules */
    unsigned next_free;                 /* all numbers before it are taken */
};

/* The number of buffers of rules that are gone is limited to this, and to that of the others. */
#define DEAD_BUFFERS 64

static struct buffer_registry *registry(struct ruleset *set)
{
    if (set->buffers == NULL)
        set->buffers = xcalloc(1, sizeof(*set->buffers));
    return set->buffers;
}

void buffer_registry_free(struct ruleset *set)
{
    if (set->buffers == NULL)
        return;
    map_fini(&set->buffers->by_name);
    ARRAY_FREE(&set->buffers->list);
    free(set->buffers);
    set->buffers = NULL;
}

/* Ids run from 0 to this; threads size their tables by it. */
unsigned buffer_count(const struct ruleset *set)
{
    return set->buffers != NULL ? (unsigned)set->buffers->list.count : 0;
}

const struct buffer *buffer_by_id(const struct ruleset *set, unsigned id)
{
    return set->buffers->list.at[id];
}

/* A rule that following sets share must find its buffers there. */
static struct arena *buffer_arena(struct ruleset *set, bool own)
{
    return own ? &set->arena : &rule_block_common(set)->arena;
}

/* A number that a set before this one has for a buffer of its own is used again. */
static uint16_t free_number(struct buffer_registry *r)
{
    while (r->next_free < r->list.count && r->list.at[r->next_free] != NULL)
        r->next_free++;
    if (r->next_free == r->list.count)
        ARRAY_PUSH(&r->list, NULL);
    return (uint16_t)r->next_free;
}

/* The loading thread adds; packet threads only read. `base` is the buffer without
 * transforms. */
static struct buffer *buffer_add(struct ruleset *set, struct buffer b)
{
    struct buffer_registry *r = registry(set);
    struct buffer *new = arena_copy(buffer_arena(set, b.own), &b, sizeof(b));

    new->id = free_number(r);
    if (new->base == NULL)
        new->base = new;
    r->list.at[new->id] = new;
    map_put_string(&r->by_name, new->name, new);
    return new;
}

bool buffer_registry_continue(struct ruleset *set, const struct ruleset *previous)
{
    const struct buffer_registry *old = previous->buffers;
    struct buffer_registry *r = registry(set);

    if (old == NULL)
        return true;
    if (old->list.count > 2 * old->first_count + DEAD_BUFFERS)
        return false;
    r->first_count = old->first_count;
    for (size_t i = 0; i < old->list.count; i++) {
        struct buffer *b = old->list.at[i];

        ARRAY_PUSH(&r->list, b != NULL && !b->own ? b : NULL);
    }
    MAP_EACH (&old->by_name, entry) {
        const struct buffer *b = entry->value;

        if (!b->own)
            map_put(&r->by_name, entry->key, entry->key_len, entry->value);
    }
    return true;
}

void buffer_registry_close(struct ruleset *set)
{
    if (set->buffers != NULL && set->buffers->first_count == 0)
        set->buffers->first_count = (unsigned)set->buffers->list.count;
}

/* Finds by name or alias; NULL: not a packet buffer. */
static struct buffer *packet_buffer_find(struct ruleset *set, struct text name)
{
    const struct packet_buffer *b;

    for (unsigned i = 0; (b = packet_buffer_at(i)) != NULL; i++) {
        if (!text_equal(name, b->name) && !(b->alias != NULL && text_equal(name, b->alias)))
            continue;
        return buffer_add(set, (struct buffer){ .kind = BUFFER_PACKET, .name = b->name,
                                                .directions = APP_BOTH, .same = b->same,
                                                .multi = b->get_nth != NULL,
                                                .get_packet = b->get,
                                                .get_packet_nth = b->get_nth,
                                                .registered = b->get_registered != NULL ? b
                                                                                        : NULL });
    }
    return NULL;
}

/* A declaration has up to three names: its own, an alias and that of an old content
 * modifier. */
static const struct app_buffer *app_buffer_named(const struct app_proto *proto, struct text name)
{
    for (const struct app_buffer *const *b = proto->buffers; b != NULL && *b != NULL; b++)
        if (text_equal(name, (*b)->name) ||
            ((*b)->alias != NULL && text_equal(name, (*b)->alias)) ||
            ((*b)->legacy != NULL && text_equal(name, (*b)->legacy)))
            return *b;
    return NULL;
}

/* Returns one buffer for all protocols that declare the name. If it is multi or growing in one of
 * them, rules must treat it so in all. */
static struct buffer *tx_buffer_find(struct ruleset *set, struct text name)
{
    struct buffer b = { .kind = BUFFER_TX };

    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id(id);
        const struct app_buffer *found = proto != NULL ? app_buffer_named(proto, name) : NULL;

        if (found == NULL)
            continue;
        b.by_proto[id] = found;
        b.name = found->name;
        b.directions |= found->directions;
        b.multi |= found->multi;
        b.grows |= found->grows;
    }
    return b.name != NULL ? buffer_add(set, b) : NULL;
}

/* Registers the features that the parsers need for it; also for a buffer that the set has, because
 * the rule may be the first one of those that stay. */
static void require_buffer(struct ruleset *set, const struct buffer *b)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        if (b->by_proto[id] == NULL)
            continue;
        set->required.features[id] |= b->by_proto[id]->feature;
        set->required.files |= b->by_proto[id]->files;
    }
}

/* 128 bytes are more than any declared name has. */
static const struct buffer *find(struct ruleset *set, struct text name)
{
    char key[128];
    struct buffer *b;

    if (name.n >= sizeof(key))
        return NULL;
    memcpy(key, name.p, name.n);
    key[name.n] = '\0';
    b = map_get_string(&registry(set)->by_name, key);
    if (b != NULL)
        return b;
    if (text_equal(name, "base64_data"))
        return buffer_add(set, (struct buffer){ .kind = BUFFER_BASE64, .name = "base64_data",
                                                .directions = APP_BOTH });
    b = packet_buffer_find(set, name);
    if (b == NULL)
        b = tx_buffer_find(set, name);
    if (b != NULL && strcmp(b->name, key) != 0)     /* found under another of its names */
        map_put_string(&registry(set)->by_name, key, b);
    return b;
}

/* NULL when there is none of this name. */
const struct buffer *buffer_find(struct ruleset *set, struct text name)
{
    const struct buffer *b = find(set, name);

    if (b != NULL)
        require_buffer(set, b);
    return b;
}

/* Parsers record only the kinds of frames that rules need (required.frames). */
const struct buffer *buffer_frame(struct ruleset *set, const struct app_proto *proto,
                                  unsigned type)
{
    char *name = arena_printf(buffer_arena(set, false), "%s.%s.frame", proto->name,
                              proto->frames[type]);
    struct buffer *b = map_get_string(&registry(set)->by_name, name);

    set->required.frames[proto->id] |= 1u << type;
    if (b != NULL)
        return b;
    return buffer_add(set, (struct buffer){ .kind = BUFFER_FRAME, .name = name,
                                            .directions = APP_BOTH,
                                            .frame_proto = (uint8_t)proto->id,
                                            .frame_type = type });
}

/* The key is the chain with its arguments, so rules with the same chain share one buffer. But a
 * rule that following sets have, too, cannot use one that they do not have. */
const struct buffer *buffer_with_transform(struct ruleset *set, const struct buffer *b,
                                           const struct transform_use *use, bool own)
{
    struct arena *arena = buffer_arena(set, own);
    char *name = arena_printf(arena, "%s|%s%s%s", b->name, use->ops->name,
                              use->arg_text[0] != '\0' ? ":" : "", use->arg_text);
    struct buffer *known = map_get_string(&registry(set)->by_name, name);
    struct transform_use *chain;
    struct buffer new = *b;

    if (known != NULL && (own || !known->own))
        return known;
    chain = arena_alloc(arena, (b->transform_count + 1) * sizeof(*chain));
    if (b->transform_count > 0)
        memcpy(chain, b->transform, b->transform_count * sizeof(*chain));
    chain[b->transform_count] = *use;
    new.name = name;
    new.transform = chain;
    new.transform_count = b->transform_count + 1;
    new.own = own;
    return buffer_add(set, new);
}

const struct app_buffer *buffer_declared(const struct buffer *b)
{
    static const struct app_buffer none = { .name = NULL };

    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++)
        if (b->base->by_proto[id] != NULL)
            return b->base->by_proto[id];
    return &none;
}

/* --- what a rule does with them ----------------------------------------------------------- */

static bool all_in_group(const struct buffer *b, enum app_proto_id group)
{
    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++)
        if (b->by_proto[id] != NULL && app_proto_by_id(id)->subprotocol_of == 0 &&
            !app_proto_matches(group, id))
            return false;
    return true;
}

/* The protocol that having this buffer means, or the group that all which have it are of. */
static enum app_proto_id buffer_proto(const struct buffer *b)
{
    enum app_proto_id only = APP_PROTO_UNKNOWN;
    unsigned count = 0;

    if (b->kind == BUFFER_FRAME)
        return b->frame_proto;
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        if (b->by_proto[id] == NULL || app_proto_by_id(id)->subprotocol_of != 0)
            continue;
        only = id;
        count++;
    }
    if (count == 0)
        return APP_PROTO_UNKNOWN;
    for (enum app_proto_id id = APP_PROTO_FAILED + 1; id < APP_PROTO_FIRST; id++)
        if (all_in_group(b, id))
            return id;
    return count == 1 ? only : APP_PROTO_UNKNOWN;
}

/* A rule about one protocol cannot use a buffer of another: it would never match. */
static int check_proto(struct rule_parser *p, const struct buffer *b)
{
    enum app_proto_id proto = buffer_proto(b);
    struct rule *r = p->rule;
    bool has = false;

    if (b->kind != BUFFER_TX && b->kind != BUFFER_FRAME)
        return 0;
    if (r->app_proto == APP_PROTO_UNKNOWN) {
        r->app_proto = (uint8_t)proto;
        return 0;
    }
    /* Suricata does not check this one: the rule loads and never matches (finish_rule.c). */
    if (strcmp(b->name, "file.magic") == 0)
        return 0;
    if (b->kind == BUFFER_FRAME)
        has = app_proto_matches(r->app_proto, b->frame_proto);
    /* A rule about DNS is also about DNS over HTTP/2, but not about what that has of HTTP/2; one
     * about DCERPC also about SMB, but not about its shares. */
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        has |= b->by_proto[id] != NULL &&
               (id == r->app_proto ||
                (app_proto_is_group(r->app_proto) && app_proto_matches(r->app_proto, id)));
    /* As with DNS over HTTP/2, the rule's protocol may be inside the buffer's. */
    has |= proto != APP_PROTO_UNKNOWN && app_proto_matches(proto, r->app_proto);
    return has ? 0 : rule_error(p, "rule contains conflicting alprotos set: %s is not a buffer of "
                                "%s", b->name, app_proto_name(r->app_proto));
}

/* Lists keep the order of the rule's text; the arena owns them. */
static struct rule_list *list_new(struct rule_parser *p, const struct buffer *buffer)
{
    struct rule_list *l = arena_zalloc(p->arena, sizeof(*l)), **at = &p->rule->list;

    while (*at != NULL)
        at = &(*at)->next;
    l->buffer = buffer;
    l->directions = buffer->directions;
    *at = l;
    if (p->named_count < RULE_LISTS_PLACED) {
        p->named[p->named_count].list = l;
        p->named[p->named_count++].at = p->at;
    }
    return l;
}

/* Naming a buffer again goes on with its list. A buffer with several instances gets a new
 * list each time: the tests of one list must hold for one instance. */
struct rule_list *rule_buffer_list(struct rule_parser *p, const struct buffer *buffer)
{
    uint8_t directions = buffer != NULL ? buffer->directions : 0;
    struct rule_list *l;

    if (buffer == NULL)
        return rule_payload_list(p);
    if (check_proto(p, buffer) < 0)
        return NULL;
    if (p->directions != 0)
        directions &= p->directions;
    for (l = p->rule->list; l != NULL && !buffer->multi; l = l->next)
        if (l->buffer == buffer && l->directions == directions)
            return l;
    l = list_new(p, buffer);
    if (l != NULL)
        l->directions = directions;
    return l;
}

struct rule_list *rule_buffer_list_again(struct rule_parser *p, const struct buffer *buffer)
{
    struct rule_list *last = NULL;

    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        if (l->buffer == buffer)
            last = l;
    return last != NULL ? last : rule_buffer_list(p, buffer);
}

/* Starts a sticky buffer. Modifiers after it must not reach a content before it. */
int rule_set_buffer(struct rule_parser *p, const struct buffer *buffer)
{
    struct rule_list *l;

    if (buffer == NULL)
        return rule_error(p, "%s: no such buffer", p->keyword->name);
    if (rule_leave_buffer(p) < 0)
        return -1;
    l = rule_buffer_list(p, buffer);
    if (l == NULL)
        return -1;
    p->current = l;
    p->current_at = p->at;
    p->current_is_sticky = true;
    p->last_content = NULL;
    return 0;
}

/* A sticky buffer without a test is an error, as in Suricata: the test is missing or misplaced. */
int rule_leave_buffer(struct rule_parser *p)
{
    if (p->current != NULL && p->current->first == NULL)
        return rule_error(p, "no matches for previous buffer");
    p->current = NULL;
    p->current_is_sticky = false;
    return 0;
}

void rule_end_buffer(struct rule_parser *p, const struct rule_list *other)
{
    if (p->current == NULL || p->current == other)
        return;
    p->current = NULL;
    p->current_is_sticky = false;
}

/* Moves the payload's last content to the buffer. An empty payload list is removed
 * afterwards, because the rule is no longer one about payload. */
int rule_modify_content(struct rule_parser *p, const struct buffer *buffer)
{
    struct rule_list *payload, *to;
    struct rule_op *op;

    if (p->current != NULL)
        return rule_error(p, "\"%s\" keyword seen with a sticky buffer still set.  Reset sticky "
                          "buffer with pkt_data before using the modifier.", p->keyword->name);
    payload = rule_payload_list(p);
    for (op = payload->last; op != NULL && op->kind != OP_CONTENT; op = op->prev)
        ;
    if (op == NULL)
        return rule_error(p, "\"%s\" keyword found inside the rule without a content context.  "
                          "Please use a \"content\" keyword before using the \"%s\" keyword",
                          p->keyword->name, p->keyword->name);
    if (op->flags & (OP_RAWBYTES | OP_REPLACE))
        return rule_error(p, "%s rule can not be used with the %s rule keyword", p->keyword->name,
                          op->flags & OP_RAWBYTES ? "rawbytes" : "replace");
    to = rule_buffer_list_again(p, buffer);
    if (to == NULL)
        return -1;
    op_move(p, op, to);
    if (payload->first != NULL)
        return 0;
    for (struct rule_list **at = &p->rule->list; *at != NULL; at = &(*at)->next)
        if (*at == payload) {
            *at = payload->next;
            break;
        }
    return 0;
}
