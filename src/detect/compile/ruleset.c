/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/ruleset.c - loads a ruleset from the configuration, and frees it. Loading
 * runs on the main thread at start and on the control thread at reload. */
#include "base/containers/hash.h"
#include "base/containers/index.h"
#include "base/report/log.h"
#include "conf/compatibility.h"
#include "detect/compile/compile.h"
#include "detect/compile/firewall.h"
#include "detect/compile/renumber.h"
#include "detect/compile/unchanged.h"
#include "detect/state/dataset.h"
#include "detect/state/iprep.h"
#include "detect/rule/classification.h"
#include "detect/rule/parser.h"
#include "detect/rule/rule_block.h"
#include "detect/state/rule_state.h"
#include "detect/state/threshold.h"
#include "detect/state/part_costs.h"
#include "detect/state/profile.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FLOWBITS_OF_SURICATA_9 8   /* names of flowbits in a rule; its default */

/* State of one load, on the stack of load_rules(). */
struct loader {
    struct ruleset *set;
    const struct ruleset_request *request;
    struct ruleset_report *report;
    struct rule_builder builder;
    struct unchanged unchanged;
    struct index by_number;         /* struct rule by gid and sid */
    struct arena texts;             /* the rule that is being read, unless texts are kept */
};

/* --- one rule --------------------------------------------------------------------------------- */

static uint64_t number_hash(const void *item)
{
    const struct rule *rule = item;

    return hash_mix(rule->gid, rule->sid);
}

static bool has_same_number(const void *item, const void *other)
{
    const struct rule *x = item, *y = other;

    return x->gid == y->gid && x->sid == y->sid;
}

/* A bidirectional rule is two, and a rule with facts, too. Leaves holes that drop_removed() closes:
 * the array may be long and is not moved each time. */
static void remove_rules(struct loader *l, const struct rule *like)
{
    for (size_t i = 0; i < l->set->rules.count; i++)
        if (l->set->rules.at[i] != NULL && has_same_number(l->set->rules.at[i], like))
            l->set->rules.at[i] = NULL;
}

/* Of two rules with one number the later revision stays. The same revision twice is an error, as in
 * Suricata, because choosing one of the two texts would be a guess. */
static int check_duplicate(struct loader *l, struct rule *rule, struct err *err)
{
    void **known = index_find(&l->by_number, rule);
    const struct rule *old;

    if (known == NULL) {
        index_add(&l->by_number, rule);
        return 0;
    }
    old = *known;
    if (old->rev >= rule->rev)
        return err_at(err, rule->at, "duplicate of rule %u revision %u at %s:%u", rule->sid,
                      old->rev, old->at.file, old->at.line);
    log_at(LOG_LEVEL_WARNING, "detect-parse", rule->at,
           "rule %u revision %u takes the place of revision %u at %s:%u", rule->sid, rule->rev,
           old->rev, old->at.file, old->at.line);
    remove_rules(l, old);
    *known = rule;
    l->report->loaded--;
    return 0;
}

/* The texts of rules take as much memory as everything else of them but their patterns. Only
 * --engine-analysis, --explain and outputs that show rules need them. */
static void keep_rule(struct loader *l, struct rule *rule)
{
    if (l->request->drop_texts)
        rule->text = NULL;
    ARRAY_PUSH(&l->set->rules, rule);
    if (rule->facts != NULL)
        ARRAY_PUSH(&l->set->rules, rule->facts);
}

/* Equal address and port sets have equal pointers. */
static bool is_symmetric(const struct rule *rule)
{
    return rule->src == rule->dst && rule->src_port == rule->dst_port;
}

/* Takes the rule over from the set before, or parses it. */
static enum rule_outcome get_rule(struct loader *l, const struct rule_text *text, bool swapped,
                                  struct rule **out, struct err *err)
{
    uint64_t hash[2];
    enum rule_outcome outcome;

    unchanged_hash(text, swapped, l->builder.firewall, hash);
    *out = unchanged_take(&l->unchanged, text, hash);
    if (*out != NULL)
        return RULE_OK;
    outcome = rule_parse(&l->builder, text, swapped, out, err);
    if (outcome == RULE_OK && (*out)->source != NULL)
        memcpy((*out)->source->hash, hash, sizeof(hash));
    return outcome;
}

static struct where arrow_at(const struct rule_text *text, const struct rule *rule)
{
    struct rule_parts parts;
    struct err err = { 0 };

    return rule_split(text, &parts, &err) == 0 ? rule_text_at(text, parts.arrow.p) : rule->at;
}

/* A bidirectional rule is parsed twice, the second time with its sides exchanged. */
static enum rule_outcome load_rule(struct loader *l, const struct rule_text *text,
                                   struct err *err)
{
    struct rule *rule, *back;
    enum rule_outcome outcome = get_rule(l, text, false, &rule, err);

    if (outcome != RULE_OK)
        return outcome;
    if (check_duplicate(l, rule, err) < 0)
        return RULE_FAILED;
    keep_rule(l, rule);
    if (!(rule->flags & RULE_BIDIRECTIONAL))
        return RULE_OK;
    if (is_symmetric(rule)) {
        log_at(LOG_LEVEL_WARNING, "detect-parse", arrow_at(text, rule),
               "rule %u is bidirectional, but source and destination are the same: one direction "
               "says it all", rule->sid);
        return RULE_OK;
    }
    outcome = get_rule(l, text, true, &back, err);
    if (outcome == RULE_OK)
        keep_rule(l, back);
    return outcome;
}

/* For the command ruleset-failed-rules. The number is limited, because a wrong variable
 * can fail every rule of a file. */
static void keep_failure(struct ruleset *set, const struct rule_text *text, const struct err *err)
{
    struct ruleset_failure failure;

    if (set->failures.count >= RULESET_FAILURES_MAX)
        return;
    failure = (struct ruleset_failure){
        .rule = arena_text(&set->arena, text->text),
        .file = arena_text(&set->arena, text_of(text->file)),
        .error = arena_text(&set->arena, text_of(err->text)),
        .line = text->part.at[0].line,
        .at = err->at,
    };
    failure.at.file = failure.file;
    ARRAY_PUSH(&set->failures, failure);
}

/* rule_file_read() calls it for each rule. A wrong rule is logged and left out; whether
 * that ends the start is up to the caller (--init-errors-fatal). */
static void visit_rule(const struct rule_text *text, void *arg)
{
    struct loader *l = arg;
    struct err err;

    switch (load_rule(l, text, &err)) {
    case RULE_OK:
        l->report->loaded++;
        break;
    case RULE_FAILED:
        l->report->failed++;
        log_err(LOG_LEVEL_ERROR, "detect-parse", &err);
        log_error("detect", "error parsing signature \"%s\" from file %s at line %u",
                  text->text.p, text->file, text->part.at[0].line);
        keep_failure(l->set, text, &err);
        break;
    case RULE_IGNORED:
        break;
    case RULE_SKIPPED:
        l->report->skipped++;
        log_at(LOG_LEVEL_INFO, "detect-requires", err.at, "rule skipped: %s", err.text);
        log_info("detect", "Skipping signature due to missing requirements: %s from file %s at "
                 "line %u", text->text.p, text->file, text->part.at[0].line);
        break;
    }
    arena_reset(&l->texts);
}

/* --- files ------------------------------------------------------------------------------------ */

static struct rule_visitor visitor_of(struct loader *l)
{
    return (struct rule_visitor){
        .visit = visit_rule, .arg = l, .names = &l->set->arena,
        .texts = l->request->drop_texts ? &l->texts : &l->set->arena,
    };
}

static void load_text(struct loader *l, const char *rules)
{
    struct rule_visitor visitor = visitor_of(l);

    l->report->files++;
    rule_lines_read(text_of(rules), "rules", &visitor);
}

/* Suricata accepts /dev/null as a file without rules, without a warning. */
static void load_file(struct loader *l, const char *path)
{
    struct rule_visitor visitor = visitor_of(l);
    unsigned before = l->report->loaded;
    struct stat st;
    struct err err;

    if (strcmp(path, "/dev/null") == 0)
        return;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        log_warning("detect", "%s is a directory, no rule file; %s/*.rules would be the files in "
                    "it", path, path);
        l->report->files++;
        return;
    }
    log_config("detect", "Loading rule file: %s", path);
    l->report->files++;
    if (rule_file_read(path, &visitor, &err) < 0) {
        l->report->files_failed++;
        log_err(LOG_LEVEL_ERROR, "detect", &err);
    } else if (l->report->loaded == before) {
        log_config("detect", "No rules loaded from %s.", path);
    }
}

/* A pattern without files is a warning, and counts as a failed file (for -T). */
static void load_pattern(struct loader *l, const char *pattern)
{
    glob_t found;
    int r = glob(pattern, 0, NULL, &found);

    if (r == GLOB_NOMATCH) {
        log_warning("detect", "No rule files match the pattern %s", pattern);
        l->report->files++;
        l->report->files_failed++;
        return;
    }
    if (r != 0) {
        log_error("detect", "rule files %s: %s", pattern,
                  r == GLOB_NOSPACE ? "out of memory" : strerror(errno));
        l->report->files_failed++;
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        load_file(l, found.gl_pathv[i]);
    globfree(&found);
}

/* Relative names are relative to `dir`. Names may contain wildcards. */
static void load_list(struct loader *l, const char *key, const char *dir)
{
    const struct conf_node *files = conf_find(l->request->conf, key);
    char path[4096];

    if (files == NULL)
        return;
    if (files->kind != CONF_LIST) {
        if (files->kind != CONF_NULL)
            conf_warning(files, "%s: expected a list of file names", key);
        return;
    }
    CONF_EACH(file, files) {
        if (file->value == NULL || file->value[0] == '\0')
            continue;
        if (file->value[0] == '/' || dir == NULL || dir[0] == '\0')
            snprintf(path, sizeof(path), "%s", file->value);
        else
            snprintf(path, sizeof(path), "%s/%s", dir, file->value);
        load_pattern(l, path);
    }
}

static void load_configured(struct loader *l)
{
    load_list(l, "rule-files", conf_string(l->request->conf, "default-rule-path", NULL));
}

static void load_firewall_files(struct loader *l)
{
    if (l->request->firewall_file != NULL)
        load_pattern(l, l->request->firewall_file);
    else
        load_list(l, "firewall.rule-files",
                  conf_string(l->request->conf, "firewall.rule-path", NULL));
}

/* --firewall-rules-exclusive loads that file alone, unless -S names another; -S replaces
 * the configured files, -s adds to them. */
static void load_files(struct loader *l)
{
    const struct ruleset_request *request = l->request;

    if (conf_bool(request->conf, "firewall.enabled", false)) {
        l->builder.firewall = true;
        load_firewall_files(l);
        l->builder.firewall = false;
        l->report->firewall_failed = l->report->failed > 0 || l->report->files_failed > 0;
        if (request->firewall_file != NULL && request->exclusive_file == NULL)
            return;
    }
    if (request->rules != NULL) {
        load_text(l, request->rules);
        return;
    }
    if (request->exclusive_file != NULL) {
        load_pattern(l, request->exclusive_file);
        return;
    }
    load_configured(l);
    for (const char *const *file = request->extra_files; file != NULL && *file != NULL; file++)
        load_pattern(l, *file);
}

/* Suricata's texts, because scripts look for them. */
static void log_result(const struct ruleset_report *report)
{
    if (report->loaded > 0)
        log_info("detect", "%u rule files processed. %u rules successfully loaded, %u rules "
                 "failed, %u rules skipped", report->files, report->loaded, report->failed,
                 report->skipped);
    else if (report->files > 0)
        log_warning("detect", "%u rule files specified, but no rules were loaded!",
                    report->files);
    else
        log_info("detect", "No signatures supplied.");
}

/* --- the set ---------------------------------------------------------------------------------- */

static void drop_removed(struct ruleset *set)
{
    size_t retained = 0;

    for (size_t i = 0; i < set->rules.count; i++)
        if (set->rules.at[i] != NULL)
            set->rules.at[retained++] = set->rules.at[i];
    set->rules.count = retained;
}

/* Thresholds, host bits and tags survive a reload, so the new set shares them with the
 * previous one. NULL: no memory for their tables. */
static struct ruleset *ruleset_new(const struct ruleset_request *request)
{
    struct ruleset *set = xcalloc(1, sizeof(*set));
    struct dataset_table *previous =
        request->previous != NULL ? request->previous->datasets : NULL;

    arena_init(&set->arena, 1 << 20, 0);
    set->refs = 1;
    set->is_inline = request->is_inline;
    set->conf = set->read_from = request->conf;
    set->strict = request->strict_all || request->strict_keywords != NULL;
    set->config_dir = request->config_dir;
    set->suricata_9 = conf_is_suricata_9(request->conf);
    set->packet_facts = conf_bool(request->conf, "detect.packet-facts", false);
    set->flowbits_max =
        (unsigned)conf_u64_range(request->conf, "detect.flowbits.max-per-signature",
                                 set->suricata_9 ? FLOWBITS_OF_SURICATA_9 : 0, 1, UINT8_MAX);
    expressions_init(&set->expressions,
                     request->previous != NULL ? &request->previous->expressions : NULL);
    address_table_init(&set->addresses, &set->arena);
    port_table_init(&set->ports, &set->arena);
    set->state = request->previous != NULL ? rule_state_ref(request->previous->state)
                                           : rule_state_new(request->conf);
    if (set->state == NULL) {
        ruleset_unref(set);
        return NULL;
    }
    set->load = ++set->state->loads;
    set->host_bits = set->state->host_bits;
    set->threshold_state = set->state->thresholds;
    set->tags = set->state->tags;
    if (previous != NULL || conf_find(request->conf, "datasets") != NULL)
        set->datasets = dataset_table_new(request->conf, previous);
    return set;
}

/* Counts the types of rules after classification. The line is Suricata's. */
static void log_kinds(const struct ruleset *set)
{
    unsigned addresses = 0, payload = 0, app = 0, events = 0, halves = 0;

    for (size_t i = 0; i < set->rules.count; i++) {
        halves += set->rules.at[i]->is_facts;
        switch ((enum rule_type)set->rules.at[i]->type) {
        case RULE_IP_ONLY:
        case RULE_LIKE_IP_ONLY:
            addresses++;
            break;
        case RULE_PACKET_STREAM:
        case RULE_STREAM:
            payload++;
            break;
        case RULE_APP_LAYER:
        case RULE_APP_TX:
            app++;
            break;
        case RULE_DECODER_EVENT:
            events++;
            break;
        default:
            payload += (set->rules.at[i]->flags & RULE_NEEDS_PAYLOAD) != 0;
            break;
        }
    }
    log_info("detect", "%zu signatures processed. %u are IP-only rules, %u are inspecting packet "
             "payload, %u inspect application layer, %u are decoder event only",
             set->rules.count - halves, addresses, payload, app, events);
}

/* "$NAME", as a rule would write it. */
static struct text var_reference(struct rule_builder *b, const struct conf_node *node)
{
    char name[256];

    snprintf(name, sizeof(name), "$%s", node->name);
    return text_of(arena_text(b->parser.arena, text_of(name)));
}

/* An empty list "[]" is no error as long as no rule names the variable. */
static bool names_nothing(const struct set_vars *vars, const struct conf_node *node)
{
    const char *value = vars->find(vars->arg, text_of(node->name));

    return value != NULL && value[0] == '[' && value[strspn(value, "[] ")] == '\0';
}

/* Checks variables that no rule uses, too, so that their errors are reported. */
static void check_vars(struct rule_builder *b, const struct conf_node *conf)
{
    struct ruleset *set = b->parser.ruleset;
    struct err err;

    CONF_EACH (node, conf_find(conf, "vars.address-groups"))
        if (!names_nothing(&b->address_vars, node) &&
            address_set_get(&set->addresses, var_reference(b, node), &b->address_vars, node->at,
                            &err) == NULL)
            conf_fatal(node, "%s", err.text);
    CONF_EACH (node, conf_find(conf, "vars.port-groups"))
        if (!names_nothing(&b->port_vars, node) &&
            port_set_get(&set->ports, var_reference(b, node), &b->port_vars, node->at,
                         &err) == NULL)
            conf_fatal(node, "%s", err.text);
}

/* The builder and the tables by which rules and sets are found die with the load. */
static void load_rules(struct ruleset *set, const struct ruleset_request *request,
                       struct ruleset_report *report)
{
    struct loader l = {
        .set = set, .request = request, .report = report,
        .by_number = { .hash = number_hash, .equal = has_same_number },
    };

    arena_init(&l.texts, 64 << 10, 0);
    set->names = rule_names_load(&set->arena, request->conf);
    set->iprep = iprep_load(request->conf);
    rule_builder_init(&l.builder, set, request, rule_finish);
    l.builder.shares = true;
    unchanged_open(&l.unchanged, set, request);
    check_vars(&l.builder, request->conf);
    load_files(&l);
    log_result(report);
    unchanged_close(&l.unchanged);
    buffer_registry_close(set);
    drop_removed(set);
    if (set->rules.count > 0)
        threshold_config_load(set, request->conf);
    rule_builder_fini(&l.builder);
    address_table_fini(&set->addresses);
    port_table_fini(&set->ports);
    index_fini(&l.by_number);
    arena_fini(&l.texts);
}

/* NULL with *err set when the set cannot be compiled; single wrong rules are only counted
 * in *report. The caller owns the reference. */
struct ruleset *ruleset_load(const struct ruleset_request *request, struct ruleset_report *report,
                             struct err *err)
{
    struct ruleset *set = ruleset_new(request);

    *report = (struct ruleset_report){ 0 };
    if (set == NULL) {
        err_set(err, "out of memory for the tables that rules need");
        return NULL;
    }
    if (!request->disabled)
        load_rules(set, request, report);
    if (ruleset_compile(set, request->previous, err) < 0 ||
        firewall_make(set, request->conf, err) < 0) {
        ruleset_unref(set);
        return NULL;
    }
    renumber_rules(set, request->previous);
    if (request->previous != NULL && ruleset_profile_is_on(request->previous))
        ruleset_profile_start(set);
    if (set->rules.count > 0)
        set->required.files |= APP_FILE_TRACK;     /* alerts name the files of their transaction */
    if (request->app != NULL)
        app_require(request->app, &set->required);
    if (!request->disabled && !(request->all_or_none && report->failed > 0))
        log_kinds(set);
    set->conf = NULL;
    set->expressions.previous = NULL;
    rule_blocks_pack(set);
    return set;
}

/* Packet threads and outputs hold references; the last one frees the set, on whichever
 * thread that is. */
struct ruleset *ruleset_ref(struct ruleset *set)
{
    __atomic_fetch_add(&set->refs, 1, __ATOMIC_RELAXED);
    return set;
}

/* Frees what is not in the arena first. The arena is freed last, because everything else points
 * into it. */
void ruleset_unref(struct ruleset *set)
{
    if (set == NULL || __atomic_sub_fetch(&set->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    firewall_free(set->firewall);
    for (unsigned i = 0; i < EARLY_HOOK_COUNT; i++)
        ARRAY_FREE(&set->hook[i]);
    ruleset_plan_free(set);
    profile_free(set->profile);
    profile_free(set->costs);
    part_costs_free(set->parts);
    for (size_t i = 0; i < set->to_free.count; i++)
        set->to_free.at[i].keyword->free_arg((void *)set->to_free.at[i].arg);
    ARRAY_FREE(&set->to_free);
    rule_blocks_release(set);
    expressions_fini(&set->expressions);
    ARRAY_FREE(&set->scripts);
    ARRAY_FREE(&set->failures);
    ARRAY_FREE(&set->rules);
    rule_state_unref(set->state);
    iprep_free(set->iprep);
    rule_names_fini(set->names);
    address_table_fini(&set->addresses);
    port_table_fini(&set->ports);
    arena_fini(&set->arena);
    free(set);
}

struct dataset_table *ruleset_datasets(const struct ruleset *set)
{
    return set->datasets;
}

struct host_bits *ruleset_host_bits(const struct ruleset *set)
{
    return set->host_bits;
}

void ruleset_require(const struct ruleset *set, const struct app_conf *app)
{
    app_require(app, &set->required);
}

void ruleset_clear_hosts(struct ruleset *set)
{
    rule_state_clear(set->state);
}

unsigned ruleset_rule_count(const struct ruleset *set)
{
    return (unsigned)set->rules.count;
}

const struct ruleset_failure *ruleset_failures(const struct ruleset *set, size_t *count)
{
    *count = set->failures.count;
    return set->failures.at;
}

const struct rule *ruleset_rule(const struct ruleset *set, unsigned i)
{
    return set->rules.at[i];
}
