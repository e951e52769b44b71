/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dataset tests whether the buffer's content is in a set, adds it, or removes it. datarep compares
 * the reputation that a list has for the content. */
#include "detect/state/dataset.h"
#include "detect/rule/dataset_use.h"
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"
#include "sequencer/sequencer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum dataset_command { DATASET_SET, DATASET_UNSET, DATASET_ISSET, DATASET_ISNOTSET };
static const char *const commands[] = { "set", "unset", "isset", "isnotset" };

/* Lives in the ruleset's arena. The set belongs to the table of datasets, which survives a
 * reload. */
struct dataset_arg {
    struct dataset *set;
    uint8_t command;            /* enum dataset_command */
    uint8_t op;                 /* enum int_op; datarep */
    bool subdomains;            /* "match subdomain" */
    uint16_t number;
    struct slice context_key;   /* under which an alert shows the JSON; with a NUL */
};

/* A set that rules change must be used in the order of the packets; otherwise more threads could
 * give other alerts for one capture. A set that only a file fills needs no wait. */
static void wait_in_sequence(const struct program_run *run, const struct dataset_arg *a)
{
    if (dataset_changes(a->set) && run->input != NULL)
        packet_seq_wait(run->input->packet);
}

/* Domains above a name: one with 126 labels has 255 bytes, and no domain in a file has more than
 * 4 KiB. So a sender cannot make many or long look-ups. */
#define LABELS_MAX 126
#define DOMAIN_MAX 4096

/* The next domain above the name: from its next dot on, which is not the first of it. */
static bool domain_above(struct slice *name)
{
    for (uint32_t i = 1; i < name->len; i++) {
        if (name->data[i] == '.' && name->data[i - 1] != '.') {
            *name = (struct slice){ name->data + i, name->len - i };
            return true;
        }
    }
    return false;
}

/* Whether the set has the value, or with subdomains one that it ends with from a dot on: with
 * dotprefix before it, ".a.b.c" is looked up, then ".b.c", then ".c". `json` NULL: what belongs to
 * the value is not needed. */
static bool is_member(const struct dataset_arg *a, struct slice value, struct buf *json)
{
    for (unsigned i = 0; i <= LABELS_MAX; i++) {
        bool looks = i == 0 || value.len <= DOMAIN_MAX;

        if (looks && (json != NULL ? dataset_get_json(a->set, value, json)
                                   : dataset_has(a->set, value, NULL)))
            return true;
        if (!a->subdomains || !domain_above(&value))
            return false;
    }
    return false;
}

/* The JSON that belongs to the value becomes part of the alert. STEP_STOP on a miss: the
 * whole buffer is the key, so another way of matching earlier steps cannot help. */
static enum step_result json_step(struct program_run *run, const struct dataset_arg *a,
                                  struct slice value)
{
    struct buf *json = &run->scratch->base64;
    bool there;

    if (a->command == DATASET_ISNOTSET)
        return is_member(a, value, NULL) ? STEP_STOP : STEP_YES;
    buf_clear(json);
    there = is_member(a, value, json);
    if (!there)
        return STEP_STOP;
    program_capture(run->scratch, CAPTURE_JSON, 0, a->context_key, buf_slice(json));
    return STEP_YES;
}

/* `set` and `unset` hold only when they changed something, as in Suricata: a value that is
 * already there makes no second alert. */
static enum step_result dataset_step(struct program_run *run, const void *arg)
{
    const struct dataset_arg *a = arg;
    struct slice value = { run->data, run->len };
    bool ok;

    wait_in_sequence(run, a);
    if (a->context_key.len > 0)
        return json_step(run, a, value);
    switch ((enum dataset_command)a->command) {
    case DATASET_SET:   ok = dataset_add(a->set, value); break;
    case DATASET_UNSET: ok = dataset_remove(a->set, value); break;
    case DATASET_ISSET: ok = is_member(a, value, NULL); break;
    default:            ok = !is_member(a, value, NULL); break;
    }
    return ok ? STEP_YES : STEP_STOP;
}

/* A value without an entry has no reputation and never matches, whatever the operator. */
static enum step_result datarep_step(struct program_run *run, const void *arg)
{
    const struct dataset_arg *a = arg;
    uint16_t number;

    wait_in_sequence(run, a);
    if (!dataset_has(a->set, (struct slice){ run->data, run->len }, &number))
        return STEP_STOP;
    return int_match_has(&(struct int_match){ .op = a->op, .a = a->number }, number) ? STEP_YES
                                                                                     : STEP_STOP;
}

static bool dataset_tell(const void *arg, struct slice data, struct buf *out)
{
    const struct dataset_arg *a = arg;
    bool there = is_member(a, data, NULL);
    uint64_t count = dataset_count(a->set);

    buf_printf(out, "the set %s %s", dataset_name(a->set), there ? "has it" : "does not have it");
    if (!there && count == 0)
        buf_add_string(out, ", it is empty");
    else if (!there)
        buf_printf(out, ", but %llu other value%s", (unsigned long long)count,
                   count == 1 ? "" : "s");
    return true;
}

static bool datarep_tell(const void *arg, struct slice data, struct buf *out)
{
    const struct dataset_arg *a = arg;
    uint16_t number;

    if (dataset_has(a->set, data, &number))
        buf_printf(out, "its reputation is %u", number);
    else
        buf_printf(out, "it has no reputation in the set %s", dataset_name(a->set));
    return true;
}

/* --- options ------------------------------------------------------------------------------ */

/* Words of the rule's text; empty when not given. `memcap` in bytes. */
struct dataset_options {
    enum dataset_type type;
    struct text load, save, state;
    struct text format, context_key, array_key, value_key;
    bool remove_key, subdomains;
    uint64_t memcap, rows;
};

/* Two files for one purpose contradict each other. */
static int option_once(struct rule_parser *p, struct text *slot, struct text value,
                       const char *name)
{
    if (slot->n > 0)
        return rule_error(p, "'%s' can only appear once", name);
    *slot = value;
    return 0;
}

/* memcap takes units (mb), hashsize is the number of rows of the hash table. Checks that
 * need more than one option follow in dataset_open(). */
static int dataset_option(struct rule_parser *p, struct text word, struct dataset_options *o)
{
    struct text value = word, key = { "", 0 };

    /* As in Suricata nothing need stand between two commas. */
    if (word.n == 0)
        return 0;
    text_split(&value, ' ', &key);
    value = text_trim(value);
    if (text_equal(key, "type"))
        return dataset_type_parse(value, &o->type) ? 0 :
            rule_error(p, "bad type %.*s", TEXT(value));
    if (text_equal(key, "load"))
        return option_once(p, &o->load, value, "load");
    if (text_equal(key, "save"))
        return option_once(p, &o->save, value, "save");
    if (text_equal(key, "state"))
        return option_once(p, &o->state, value, "state");
    if (text_equal(key, "format"))
        return option_once(p, &o->format, value, "format");
    if (text_equal(key, "context_key"))
        return option_once(p, &o->context_key, value, "context_key");
    if (text_equal(key, "array_key"))
        return option_once(p, &o->array_key, value, "array_key");
    if (text_equal(key, "value_key"))
        return option_once(p, &o->value_key, value, "value_key");
    if (text_equal(key, "remove_key")) {
        o->remove_key = true;
        return 0;
    }
    if (text_equal(key, "match") && text_equal(value, "subdomain")) {
        o->subdomains = true;
        return 0;
    }
    if (text_equal(key, "memcap"))
        return text_to_size(value, &o->memcap) ? 0 :
            rule_error(p, "%s: bad memcap \"%.*s\"", p->keyword->name, TEXT(value));
    if (text_equal(key, "hashsize"))
        return text_to_u64(value, UINT32_MAX, &o->rows) ? 0 :
            rule_error(p, "%s: bad hashsize \"%.*s\"", p->keyword->name, TEXT(value));
    return rule_error(p, "%s: unknown option \"%.*s\"", p->keyword->name, TEXT(key));
}

/* --- paths of files ----------------------------------------------------------------------- */

static const struct conf_node *conf_of(const struct rule_parser *p)
{
    return p->ruleset->conf;
}

/* Rules come from third parties. The operator decides whether they may write, and whether
 * outside the data directory (datasets.rules.allow-write, allow-absolute-filenames;
 * Suricata's defaults). ".." is rejected, because it would leave that directory. */
static int save_path(struct rule_parser *p, struct text name, const char **out)
{
    const char *dir = conf_string(conf_of(p), "default-data-dir", IDS_STATEDIR);

    if (!conf_bool(conf_of(p), "datasets.rules.allow-write", true))
        return rule_error(p, "Rules containing save/state datasets have been disabled");
    if (name.p[0] == '/') {
        if (!conf_bool(conf_of(p), "datasets.rules.allow-absolute-filenames", false))
            return rule_error(p, "Absolute paths not allowed: %.*s", TEXT(name));
        *out = arena_text(p->arena, name);
        return 0;
    }
    for (size_t i = 0; i + 2 <= name.n; i++)
        if (name.p[i] == '.' && name.p[i + 1] == '.')
            return rule_error(p, "Directory traversals not allowed: %.*s", TEXT(name));
    *out = arena_printf(p->arena, "%s/%.*s", dir, TEXT(name));
    return 0;
}

/* A relative name is looked for in the directory of the rule file, as rule sets ship their
 * lists there. Otherwise it is taken relative to the working directory. */
static const char *load_path(struct rule_parser *p, struct text name)
{
    const char *file = p->at.file, *slash = file != NULL ? strrchr(file, '/') : NULL;

    if (name.p[0] != '/' && slash != NULL) {
        const char *beside = arena_printf(p->arena, "%.*s/%.*s", (int)(slash - file), file,
                                          TEXT(name));

        if (access(beside, R_OK) == 0)
            return beside;
    }
    return arena_text(p->arena, name);
}

/* A context key becomes a key in the alert's JSON. */
static bool is_plain_name(struct text t)
{
    for (size_t i = 0; i < t.n; i++)
        if (!isalnum((unsigned char)t.p[i]) && t.p[i] != '_')
            return false;
    return t.n > 0;
}

/* Reads the options of the formats json and ndjson, and sets *required. A set in JSON is read-only,
 * because a rule has no JSON to store with a value. */
static int json_options(struct rule_parser *p, const struct dataset_options *o,
                        struct dataset_arg *arg, struct dataset_json *json, bool *required)
{
    *required = o->format.n > 0 && !text_equal(o->format, "csv");
    if (!*required)
        return 0;
    json->lines = text_equal(o->format, "ndjson") || text_equal(o->format, "jsonline");
    if (!json->lines && !text_equal(o->format, "json"))
        return rule_error(p, "unknown format for dataset: %.*s", TEXT(o->format));
    if (arg->command != DATASET_ISSET && arg->command != DATASET_ISNOTSET)
        return rule_error(p, "json format is not supported for dataset other than isset and "
                          "isnotset");
    if (o->value_key.n == 0)
        return rule_error(p, "value_key is not set for json format");
    if (!is_plain_name(o->context_key))
        return rule_error(p, "context_key must be letters, digits and '_'");
    json->array_key = o->array_key.n > 0 ? arena_text(p->arena, o->array_key) : NULL;
    json->value_key = arena_text(p->arena, o->value_key);
    json->remove_key = o->remove_key;
    arg->context_key = (struct slice){ (const uint8_t *)arena_text(p->arena, o->context_key),
                                       (uint32_t)o->context_key.n + 1 };
    return 0;
}

/* Finds or creates the set. The first rule that names a set fixes its type and file; one
 * that contradicts it is an error (state/dataset.c). Without sets in the configuration
 * there is no table until the first rule needs one. */
static int dataset_open(struct rule_parser *p, struct text name, const struct dataset_options *o,
                        bool with_value, struct dataset_arg *arg)
{
    struct dataset_request r = { .name = arena_text(p->arena, name), .type = o->type,
                                 .memcap = o->memcap, .rows = (uint32_t)o->rows,
                                 .with_value = with_value };
    struct dataset_json json = { 0 };
    struct err err = { 0 };
    bool is_json;

    if (json_options(p, o, arg, &json, &is_json) < 0)
        return -1;
    r.json = is_json ? &json : NULL;
    if (memchr(name.p, ' ', name.n) != NULL || name.n == 0)
        return rule_error(p, "spaces not allowed in dataset names");
    if (o->state.n > 0 && (o->load.n > 0 || o->save.n > 0))
        return rule_error(p, "'state' can not be mixed with 'load' and 'save'");
    if (o->state.n > 0) {
        if (save_path(p, o->state, &r.save) < 0)
            return -1;
        r.load = r.save;
    }
    if (o->load.n > 0)
        r.load = load_path(p, o->load);
    if (o->save.n > 0 && save_path(p, o->save, &r.save) < 0)
        return -1;
    if (p->ruleset->datasets == NULL)
        p->ruleset->datasets = dataset_table_new(conf_of(p), NULL);
    p->rule->uses_shared_state = true;
    arg->set = dataset_get(p->ruleset->datasets, &r, &err);
    if (arg->set == NULL)
        return rule_error(p, "%s", err.text);
    if (!with_value && arg->command <= DATASET_UNSET)
        dataset_set_changes(arg->set);
    return 0;
}

/* The difference between dataset and datarep: members with a reputation, and how they
 * match. */
struct set_keyword {
    bool with_value;
    enum step_result (*step)(struct program_run *run, const void *arg);
};

static const struct set_keyword dataset_kind = { false, dataset_step };
static const struct set_keyword datarep_kind = { true, datarep_step };

/* A name is a string, and a rule that adds or removes has one in mind. */
static int subdomains_check(struct rule_parser *p, const struct dataset_options *o,
                            struct dataset_arg *arg)
{
    arg->subdomains = o->subdomains;
    if (o->subdomains && (text_equal(text_of(p->keyword->name), "datarep") ||
                          (arg->command != DATASET_ISSET && arg->command != DATASET_ISNOTSET)))
        return rule_error(p, "%s: \"match subdomain\" goes only with isset and isnotset",
                          p->keyword->name);
    if (o->subdomains && o->type != DATASET_STRING)
        return rule_error(p, "%s: \"match subdomain\" goes only with type string",
                          p->keyword->name);
    return 0;
}

/* The common part: options, the set, the step. A set holds whole buffers, so a sticky
 * buffer is required; a payload has no defined end. */
static int dataset_finish(struct rule_parser *p, const struct set_keyword *kind,
                          struct dataset_arg *arg, struct text name, struct text rest)
{
    struct dataset_options o = { 0 };
    struct rule_op *op;
    struct text word;

    if (p->current == NULL)
        return rule_error(p, "%s: expected a sticky buffer before it", p->keyword->name);
    if (rule_bind(p) < 0)
        return -1;
    while (text_split(&rest, ',', &word))
        if (dataset_option(p, word, &o) < 0)
            return -1;
    if (subdomains_check(p, &o, arg) < 0 || dataset_open(p, name, &o, kind->with_value, arg) < 0)
        return -1;
    op = op_append(p, OP_CALL, false);
    if (op == NULL)
        return -1;
    op->call = (struct call_op){ kind->step, arg };
    return 0;
}

static int dataset_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct dataset_arg *a = arena_zalloc(p->arena, sizeof(*a));
    struct text command, name;

    if (!text_split(&in, ',', &command) || !text_split(&in, ',', &name))
        return rule_error(p, "dataset: expected command, name[, options]");
    while (a->command < ARRAY_LEN(commands) && !text_equal(command, commands[a->command]))
        a->command++;
    if (a->command == ARRAY_LEN(commands))
        return rule_error(p, "dataset action \"%.*s\" is not supported.", TEXT(command));
    return dataset_finish(p, &dataset_kind, a, name, in);
}

const struct keyword_ops keyword_dataset = {
    .name = "dataset",
    .doc = "match sticky buffer against datasets",
    .syntax = "set|unset|isset|isnotset,<name>[,type string|md5|sha256|ipv4|ip]"
              "[,load <file>][,save <file>|state <file>][,memcap <size>][,hashsize <n>]"
              "[,match subdomain]"
              "[,format csv|json|ndjson,value_key <key>,context_key <key>"
              "[,array_key <key>][,remove_key]]",
    .point = POINT_BUFFER,
    .parse = dataset_parse,
    .tell_data = dataset_tell,
};

bool dataset_use_of(const struct rule_op *op, struct dataset_use *out)
{
    const struct dataset_arg *a;

    if (op->kind != OP_CALL || op->keyword != &keyword_dataset)
        return false;
    a = op->call.arg;
    *out = (struct dataset_use){ a->set, commands[a->command] };
    return true;
}

/* A reputation is a number of 16 bits, as in Suricata. */
static int datarep_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct dataset_arg *a = arena_zalloc(p->arena, sizeof(*a));
    struct text name, op, value;
    uint64_t number;

    if (!text_split(&in, ',', &name) || !text_split(&in, ',', &op) ||
        !text_split(&in, ',', &value) || !text_to_u64(value, 65535, &number))
        return rule_error(p, "datarep: expected name, <, > or ==, number[, options]");
    if (text_equal(op, "=="))
        a->op = INT_EQ;
    else if (text_equal(op, "<"))
        a->op = INT_LT;
    else if (text_equal(op, ">"))
        a->op = INT_GT;
    else
        return rule_error(p, "datarep operation \"%.*s\" is not supported.", TEXT(op));
    a->number = (uint16_t)number;
    return dataset_finish(p, &datarep_kind, a, name, in);
}

const struct keyword_ops keyword_datarep = {
    .name = "datarep",
    .doc = "reputation of the buffer in a list: < > or ==",
    .syntax = "<name>,<op>,<0-65535>[,type string|md5|sha256|ipv4|ip]"
              "[,load <file>|state <file>][,memcap <size>][,hashsize <n>]",
    .point = POINT_BUFFER,
    .parse = datarep_parse,
    .tell_data = datarep_tell,
};
