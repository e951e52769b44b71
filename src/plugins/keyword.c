/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/keyword.c - keywords and sticky buffers of plugins, for rules. */
#include <ctype.h>
#include <string.h>

#include "detect/keywords/registry.h"
#include "detect/rule/buffer.h"
#include "plugins/private.h"

struct plugin_keyword {
    struct keyword_ops ops;     /* first: rules know the keyword by it */
    const struct ids_keyword *keyword;
};

/* The argument of a test: the keyword, for match(), and what its parser has filled. */
struct plugin_argument {
    _Alignas(max_align_t) const struct ids_keyword *keyword;
    _Alignas(max_align_t) uint8_t own[];
};

static bool is_excluded(struct rule_parser *p, const struct plugin_argument *a)
{
    const struct rule_test *test;

    if (a->keyword->excludes == NULL)
        return false;
    for (size_t i = 0; (test = rule_test_at(p, POINT_PACKET, i)) != NULL; i++)
        if (test->keyword == p->keyword &&
            a->keyword->excludes(a->own, ((const struct plugin_argument *)test->arg)->own))
            return true;
    return false;
}

static int keyword_parse(struct rule_parser *p, struct text in, void *arg)
{
    const struct plugin_keyword *k = (const struct plugin_keyword *)(const void *)p->keyword;
    struct plugin_argument *a = arg;
    struct ids_error *error;
    struct err err = { 0 };
    int status;

    if (rule_bind(p) < 0)       /* what else its parser reads is unknown */
        return -1;
    a->keyword = k->keyword;
    if (k->keyword->parse == NULL)
        return is_excluded(p, a) ? rule_error(p, "%s: stands twice in the rule", k->ops.name) : 0;
    error = plugin_error_begin();
    status = k->keyword->parse((struct ids_value){ in.p, in.n }, a->own, error);
    plugin_error_end(error, &err);
    if (status == 0 && is_excluded(p, a))
        return rule_error(p, "%s: the rule cannot have this one and an earlier one", k->ops.name);
    if (status == 0)
        return 0;
    return rule_error(p, "%s: %s", k->ops.name,
                      err.text[0] != '\0' ? err.text : "the plugin refuses the argument");
}

static bool keyword_match(const struct match_input *in, const void *arg)
{
    const struct plugin_argument *a = arg;

    return a->keyword->match(plugin_packet_handle(in->packet), a->own);
}

static void keyword_free(void *arg)
{
    struct plugin_argument *a = arg;

    if (a->keyword != NULL)
        a->keyword->free(a->own);
}

/* Names that the parser of rules can read. */
static bool is_name(const char *name)
{
    if (name == NULL || !isalpha((unsigned char)name[0]) || strlen(name) > 60)
        return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && strchr("._-", *name) == NULL)
            return false;
    return true;
}

int plugin_check_name(struct ids_engine *engine, const char *name)
{
    if (!is_name(name))
        return plugin_refuse(engine, "\"%s\" is no name that a rule can have",
                             name != NULL ? name : "(null)");
    return 0;
}

int plugin_check_keyword(struct ids_engine *engine, const char *name)
{
    if (plugin_check_name(engine, name) < 0)
        return -1;
    keyword_registry_init();
    if (keyword_find(text_of(name)) != NULL)
        return plugin_refuse(engine, "there is a keyword \"%s\" already", name);
    return 0;
}

/* Rounded up to what its alignment asks of the arena. */
static size_t argument_size(const struct ids_keyword *keyword)
{
    const size_t align = _Alignof(struct plugin_argument);

    return (sizeof(struct plugin_argument) + keyword->argument_size + align - 1) / align * align;
}

int plugin_add_keyword(struct ids_engine *engine, const struct ids_keyword *keyword)
{
    struct plugin_keyword *new;

    if (plugin_check_keyword(engine, keyword->name) < 0)
        return -1;
    if (keyword->match == NULL)
        return plugin_refuse(engine, "keyword %s: it needs match", keyword->name);
    new = plugin_alloc(sizeof(*new));
    new->keyword = keyword;
    new->ops = (struct keyword_ops){
        .name = keyword->name,
        .doc = keyword->doc,
        .point = POINT_PACKET,
        .argument = keyword->no_argument ? ARGUMENT_NONE : ARGUMENT_REQUIRED,
        .negatable = keyword->negatable,
        .quotes = true,
        .needs_packet = !keyword->of_flow,
        .arg_size = argument_size(keyword),
        .parse = keyword_parse,
        .match = keyword_match,
        .free_arg = keyword->free != NULL ? keyword_free : NULL,
    };
    keyword_register(&new->ops);
    return 0;
}

/* --- buffers of packets ----------------------------------------------------------------------- */

struct plugin_buffer {
    struct packet_buffer packet;        /* first: get_registered() gets it */
    const struct ids_packet_buffer *buffer;
};

static bool buffer_get(const struct packet_buffer *b, const struct packet *p, struct slice *out)
{
    const struct plugin_buffer *own = (const struct plugin_buffer *)(const void *)b;
    struct ids_slice found = { NULL, 0 };

    if (!own->buffer->get(plugin_packet_handle(p), &found) || found.data == NULL)
        return false;
    *out = (struct slice){ found.data, found.len };
    return true;
}

int plugin_add_packet_buffer(struct ids_engine *engine, const struct ids_packet_buffer *buffer)
{
    struct plugin_buffer *new;

    if (plugin_check_keyword(engine, buffer->name) < 0)
        return -1;
    if (buffer->get == NULL)
        return plugin_refuse(engine, "buffer %s: it needs get", buffer->name);
    new = plugin_alloc(sizeof(*new));
    new->buffer = buffer;
    new->packet = (struct packet_buffer){ .name = buffer->name, .doc = buffer->doc,
                                          .get_registered = buffer_get };
    return packet_buffer_register(&new->packet, &engine->error.err);
}
