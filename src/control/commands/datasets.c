/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/datasets.c - adds values to datasets that rules use, and removes them.
 * While nothing changes a set, packet threads read it without a lock. Before its first
 * change by a command the set is marked, so that threads take the lock from then on. The
 * command waits until each thread has passed between two vectors; then no thread still
 * reads without the lock. */
#include "detect/state/dataset.h"

#include "control/private.h"

#define VALUE_MAX 4096 /* bytes; longer strings are rejected */
#define ROUND_MS 2000  /* a thread that takes longer is stuck */

/* The set a command is about. The reference keeps it valid across a reload. */
struct set_at {
    struct ruleset *rules;          /* referenced */
    struct dataset *set;
    uint8_t value[VALUE_MAX];
    uint32_t len;
};

static struct slice value_of(const struct set_at *at)
{
    return (struct slice){ .data = at->value, .len = at->len };
}

/* NULL, with *status set, when the set does not exist or has another type. */
static struct dataset *find_set(struct command *c, const struct ruleset *rules,
                                enum command_status *status)
{
    struct dataset_table *table = ruleset_datasets(rules);
    struct dataset *set;
    enum dataset_type type;

    if (!dataset_type_parse(text_of(request_string(c->request, "settype")), &type)) {
        *status = command_nok(c, "unknown settype");
        return NULL;
    }
    set = table != NULL ? dataset_find(table, request_string(c->request, "setname")) : NULL;
    if (set != NULL && dataset_type_of(set) == type)
        return set;
    *status = command_nok(c, "set not found or wrong type");
    return NULL;
}

/* -1 with *status set; then nothing is referenced. 0: the caller must release at->rules. */
static int begin(struct command *c, struct set_at *at, bool with_value,
                 enum command_status *status)
{
    unsigned generation;

    at->rules = run_context_rules(c->control->conf.context, &generation);
    at->set = find_set(c, at->rules, status);
    if (at->set == NULL)
        goto fail;
    if (!with_value || dataset_value_parse(at->set, text_of(request_string(c->request,
                                                                           "datavalue")),
                                           at->value, &at->len))
        return 0;
    *status = command_nok(c, "the value does not fit the type of the set");

fail:
    ruleset_unref(at->rules);
    return -1;
}

/* False: some thread did not pass in time. The set stays marked, so trying again costs
 * nothing. */
static bool may_change(struct command *c, const struct set_at *at)
{
    if (dataset_changes(at->set))
        return true;
    dataset_set_changes(at->set);
    return qsbr_synchronize(c->control->conf.context, NULL, NULL, ROUND_MS);
}

/* Runs change() on the set once no thread reads it without the lock. */
static enum command_status change_set(struct command *c, bool with_value,
                                      enum command_status (*change)(struct command *c,
                                                                    const struct set_at *at))
{
    struct set_at at;
    enum command_status status;

    if (begin(c, &at, with_value, &status) < 0)
        return status;
    status = may_change(c, &at) ? change(c, &at) : command_nok(c, "data is busy, try again");
    ruleset_unref(at.rules);
    return status;
}

#define SET_ARGS { "setname", ARG_STRING, false }, { "settype", ARG_STRING, false }
#define VALUE_ARG { "datavalue", ARG_STRING, false }

/* A value that is already there is a success, as in Suricata. */
static enum command_status report_added(struct command *c, const struct set_at *at, bool added)
{
    if (added)
        return command_ok(c, "data added");
    if (dataset_has(at->set, value_of(at), NULL))
        return command_ok(c, "data already in set");
    return command_nok(c, "failed to add data");
}

static enum command_status add(struct command *c, const struct set_at *at)
{
    return report_added(c, at, dataset_add(at->set, value_of(at)));
}

static enum command_status add_run(struct command *c)
{
    return change_set(c, true, add);
}

const struct command_ops command_dataset_add = {
    .name = "dataset-add", .doc = "puts a value into a set: base64, hex or an address",
    .args = { SET_ARGS, VALUE_ARG }, .run = add_run,
};

/* Checked here, because the text is copied into alerts as it is. */
static enum command_status add_json(struct command *c, const struct set_at *at)
{
    struct text json = text_of(request_string(c->request, "datajson"));

    if (!dataset_takes_json(at->set) || !request_is_json(json))
        return command_nok(c, "failed to add data");
    return report_added(c, at, dataset_add_json(at->set, value_of(at), json));
}

static enum command_status add_json_run(struct command *c)
{
    return change_set(c, true, add_json);
}

const struct command_ops command_dataset_add_json = {
    .name = "dataset-add-json", .doc = "puts a value with its JSON into a set",
    .args = { SET_ARGS, VALUE_ARG, { "datajson", ARG_STRING, false } }, .run = add_json_run,
};

static enum command_status remove_value(struct command *c, const struct set_at *at)
{
    return dataset_remove(at->set, value_of(at)) ? command_ok(c, "data removed")
                                                 : command_nok(c, "failed to remove data");
}

static enum command_status remove_run(struct command *c)
{
    return change_set(c, true, remove_value);
}

const struct command_ops command_dataset_remove = {
    .name = "dataset-remove", .doc = "takes a value out of a set",
    .args = { SET_ARGS, VALUE_ARG }, .run = remove_run,
};

/* Reads only, so it does not mark the set. */
static enum command_status lookup_run(struct command *c)
{
    struct set_at at;
    enum command_status status;

    if (begin(c, &at, true, &status) < 0)
        return status;
    status = dataset_has(at.set, value_of(&at), NULL) ? command_ok(c, "item found in set")
                                                      : command_nok(c, "item not found in set");
    ruleset_unref(at.rules);
    return status;
}

const struct command_ops command_dataset_lookup = {
    .name = "dataset-lookup", .doc = "is the value in the set?",
    .args = { SET_ARGS, VALUE_ARG }, .run = lookup_run,
};

static enum command_status clear(struct command *c, const struct set_at *at)
{
    dataset_clear(at->set);
    return command_ok(c, "dataset cleared");
}

static enum command_status clear_run(struct command *c)
{
    return change_set(c, false, clear);
}

const struct command_ops command_dataset_clear = {
    .name = "dataset-clear", .doc = "empties a set", .args = { SET_ARGS }, .run = clear_run,
};

/* Sets without a file for saving are skipped. */
static enum command_status dump_run(struct command *c)
{
    unsigned generation;
    struct ruleset *rules = run_context_rules(c->control->conf.context, &generation);

    if (ruleset_datasets(rules) != NULL)
        dataset_table_save(ruleset_datasets(rules));
    ruleset_unref(rules);
    return command_ok(c, "datasets dump done");
}

const struct command_ops command_dataset_dump = {
    .name = "dataset-dump", .doc = "writes the sets that have a file to it", .run = dump_run,
};
