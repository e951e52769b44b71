/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/affinity.c - reads `threading:` into CPU sets. A set is read at its first use, because it
 * may exclude the CPUs of another. */
#include "engine/affinity.h"

#include "base/report/log.h"
#include "engine/cpu_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each mistake is logged; the last one is left in *err for the caller to log. */
#define LOG_AREA "ids"

/* `exclusive` is the mode of a set that does not configure one: threads that carry packets get a
 * CPU each, as in Suricata's shipped configuration. */
static const struct {
    const char *name;
    bool exclusive;
} roles[CPU_ROLES] = {
    [CPU_MANAGEMENT] = { "management", false },
    [CPU_RECEIVE] = { "receive", true },
    [CPU_DECODE] = { "decode", false },
    [CPU_STREAM] = { "stream", false },
    [CPU_WORKER] = { "worker", true },
    [CPU_VERDICT] = { "verdict", false },
    [CPU_REJECT] = { "reject", false },
    [CPU_OUTPUT] = { "output", false },
};

const char *cpu_role_name(enum cpu_role role)
{
    return roles[role].name;
}

/* Suricata writes `worker-cpu-set`, older files `worker_cpu_set` or `detect-cpu-set`. All mean the
 * same set as `worker`. */
bool cpu_role_find(struct text name, enum cpu_role *out)
{
    static const char *const tails[] = { "-cpu-set", "_cpu_set" };

    for (unsigned i = 0; i < ARRAY_LEN(tails); i++) {
        size_t n = strlen(tails[i]);

        if (name.n > n && memcmp(name.p + name.n - n, tails[i], n) == 0)
            name.n -= n;
    }
    if (text_equal_nocase(name, "detect")) {
        *out = CPU_WORKER;
        return true;
    }
    for (unsigned i = 0; i < CPU_ROLES; i++)
        if (text_equal_nocase(name, roles[i].name)) {
            *out = (enum cpu_role)i;
            return true;
        }
    return false;
}

/* low is nice 2, medium 0, high -2. The order of enum prio gives the level. */
int prio_nice(enum prio prio)
{
    return 2 - 2 * (int)prio;
}

static const char *const prio_words[] = { "low", "medium", "high", NULL };

const char *prio_name(enum prio prio)
{
    return prio_words[prio];
}

/* Priorities belong to CPUs. They only apply in exclusive sets, where a thread has one CPU. */
enum prio affinity_prio(const struct affinity_set *set, int cpu)
{
    if (cpu >= 0 && set->exclusive)
        for (unsigned i = 0; i < PRIO_COUNT; i++)
            if (cpu_set_has(&set->prio[i], (unsigned)cpu))
                return (enum prio)i;
    return set->prio_default;
}

/* SET_READING finds sets that exclude each other in a circle. */
enum set_state { SET_UNREAD, SET_READING, SET_READ };

/* State of reading `threading:`. It borrows everything and lives for one call. */
struct reader {
    struct affinity *a;
    const struct topology *topology;
    const char *const *interfaces;
    struct diagnostics *diagnostics;
    const struct conf_node *node[CPU_ROLES];
    enum set_state state[CPU_ROLES];
};

static int set_of_role(struct reader *r, enum cpu_role role, struct err *err);

/* The CPUs of another set, for `!management` in a list. Reads that set first if needed; an excluded
 * set that is not configured removes nothing. */
static int named_cpus(void *arg, enum cpu_role role, struct cpu_set *out, struct err *err)
{
    struct reader *r = arg;

    if (r->state[role] == SET_READING)
        return err_at(err, r->node[role]->at,
                      "%s-cpu-set leaves out a set that leaves it out in turn",
                      roles[role].name);
    if (set_of_role(r, role, err) < 0)
        return -1;
    *out = r->a->set[role].given ? r->a->set[role].cpus : (struct cpu_set){ 0 };
    return 0;
}

/* A list of the sets' own, not yet read. */
static struct cpu_list list_of(struct reader *r, const char *what, const char *const *interfaces)
{
    return (struct cpu_list){
        .topology = r->topology,
        .interfaces = interfaces,
        .diagnostics = r->diagnostics,
        .what = what,
        .named = named_cpus,
        .named_arg = r,
    };
}

/* Returns the index of the word in `words`, or -1 with an error that lists them. */
static int word_read(const struct conf_node *node, const char *what, const char *const *words,
                     const char *allowed, struct err *err)
{
    struct text t = text_trim(text_of(node->value));

    for (int i = 0; words[i] != NULL; i++)
        if (text_equal_nocase(t, words[i]))
            return i;
    err_at(err, node->at, "%s: expected %s, got \"%s\"", what, allowed, node->value);
    return -1;
}

/* Warns about CPUs with a priority that are not in the set: no thread of the set ever runs
 * there. */
static void prio_check(struct reader *r, const struct affinity_set *set,
                       const struct conf_node *node, const char *what, enum prio prio)
{
    struct cpu_set outside = set->prio[prio];
    char out_text[128], in_text[128];

    cpu_set_minus(&outside, &set->cpus);
    if (set->is_auto || cpu_set_count(&outside) == 0 || cpu_set_count(&set->cpus) == 0)
        return;
    diagnostics_add(r->diagnostics, node->at, NULL, "%s: CPU %s is not in the set, which has %s",
                    what, cpu_set_text(&outside, out_text, sizeof(out_text)),
                    cpu_set_text(&set->cpus, in_text, sizeof(in_text)));
}

/* One key of `prio:`: a list of CPUs for a level, or `default` with the name of a level. */
static int prio_level_read(struct reader *r, struct affinity_set *set, const struct conf_node *key,
                           struct err *err)
{
    struct cpu_list list;
    char what[96];
    int level;

    snprintf(what, sizeof(what), "%s-cpu-set: prio.%s", roles[set->role].name, key->name);
    if (strcmp(key->name, "default") == 0) {
        level = word_read(key, what, prio_words, "low, medium or high", err);
        if (level >= 0)
            set->prio_default = (enum prio)level;
        return level < 0 ? -1 : 0;
    }
    for (level = 0; prio_words[level] != NULL; level++)
        if (strcmp(key->name, prio_words[level]) == 0)
            break;
    if (prio_words[level] == NULL)
        return err_at(err, key->at, "prio: expected low, medium, high or default, got \"%s\"",
                      key->name);
    list = list_of(r, what, r->interfaces);
    list.may_exceed = true;
    if (cpu_list_parse(&list, key, err) < 0)
        return -1;
    set->prio[level] = list.cpus;
    prio_check(r, set, key, what, (enum prio)level);
    return 0;
}

static int prio_read(struct reader *r, struct affinity_set *set, const struct conf_node *node,
                     struct err *err)
{
    struct err mine = { 0 };
    int status = 0;

    if (node->kind != CONF_MAP) {
        (void)err_at(&mine, node->at, "prio: expected a map of low, medium, high, default");
        return log_err_also(LOG_AREA, err, &mine);
    }
    CONF_EACH(key, node) {
        if (prio_level_read(r, set, key, &mine) < 0)
            status = log_err_also(LOG_AREA, err, &mine);
    }
    return status;
}

/* `threads: auto`, or a number up to THREADS_MAX. */
static int threads_read(struct affinity_set *set, const struct conf_node *node, struct err *err)
{
    uint64_t n;
    struct text t = text_trim(text_of(node->value));

    if (text_equal_nocase(t, "auto"))
        return 0;
    if (!text_to_u64(t, 1024, &n) || n == 0)
        return err_at(err, node->at, "%s-cpu-set: threads: expected 1 to 1024 or auto, got \"%s\"",
                      roles[set->role].name, node->value);
    set->threads = (unsigned)n;
    return 0;
}

/* An empty set is no error: its threads are not pinned. */
static int cpus_read(struct reader *r, struct affinity_set *set, const struct conf_node *node,
                     const char *const *interfaces, struct err *err)
{
    const struct conf_node *cpu = conf_find(node, "cpu");
    struct cpu_list list;
    char what[96];

    snprintf(what, sizeof(what), "%s-cpu-set: cpu", roles[set->role].name);
    if (cpu != NULL) {
        list = list_of(r, what, interfaces);
        if (cpu_list_parse(&list, cpu, err) < 0)
            return -1;
        set->cpus = list.cpus;
        set->is_auto = list.is_auto;
    }
    if (cpu_set_count(&set->cpus) == 0)
        diagnostics_add(r->diagnostics, node->at, NULL,
                        "%s-cpu-set has no CPU: its threads run where the "
                        "kernel likes",
                        roles[set->role].name);
    return 0;
}

static int mode_read(struct affinity_set *set, const struct conf_node *node, struct err *err)
{
    static const char *const modes[] = { "balanced", "exclusive", NULL };
    int word = word_read(node, "mode", modes, "exclusive or balanced", err);

    if (word >= 0)
        set->exclusive = word == 1;
    return word < 0 ? -1 : 0;
}

/* Reads all keys even after a mistake, so that a user sees every mistake at once. */
static int set_read(struct reader *r, struct affinity_set *set, const struct conf_node *node,
                    const char *const *interfaces, struct err *err)
{
    const struct conf_node *mode = conf_find(node, "mode"), *prio = conf_find(node, "prio");
    const struct conf_node *threads = conf_find(node, "threads");
    struct err mine = { 0 };
    int status = 0;

    set->given = true;
    set->at = node->at;
    if (cpus_read(r, set, node, interfaces, &mine) < 0)
        status = log_err_also(LOG_AREA, err, &mine);
    if (mode != NULL && mode_read(set, mode, &mine) < 0)
        status = log_err_also(LOG_AREA, err, &mine);
    if (threads != NULL && threads_read(set, threads, &mine) < 0)
        status = log_err_also(LOG_AREA, err, &mine);
    if (prio != NULL && prio_read(r, set, prio, err) < 0)
        status = -1;
    return status;
}

/* Without captured interfaces (a file, -T) any name is accepted: the file may serve other runs. */
static bool interface_is_known(const struct reader *r, const char *name)
{
    if (r->interfaces == NULL || r->interfaces[0] == NULL)
        return true;
    for (unsigned i = 0; r->interfaces[i] != NULL; i++)
        if (strcmp(r->interfaces[i], name) == 0)
            return true;
    return false;
}

/* `interface-specific-cpu-set`: each item inherits mode and priorities of the role's set, but not
 * its CPUs or its number of threads. */
static int specific_read(struct reader *r, enum cpu_role role, const struct conf_node *list,
                         struct err *err)
{
    int status = 0;

    CONF_EACH(node, list) {
        struct affinity_set set = r->a->set[role];
        const char *one[] = { conf_string(node, "interface", NULL), NULL };
        struct err mine = { 0 };

        if (one[0] == NULL) {
            (void)err_at(&mine, node->at, "interface-specific-cpu-set: expected `interface: NAME`");
            status = log_err_also(LOG_AREA, err, &mine);
            continue;
        }
        if (!interface_is_known(r, one[0]))
            diagnostics_add(r->diagnostics, node->at, NULL,
                            "interface-specific-cpu-set: nothing is captured "
                            "from interface %s; from %s is",
                            one[0], r->interfaces[0]);
        memset(&set.cpus, 0, sizeof(set.cpus));
        set.interface = one[0];
        set.is_auto = false;
        set.threads = 0;
        if (set_read(r, &set, node, one, err) < 0)
            status = -1;
        ARRAY_PUSH(&r->a->specific, set);
    }
    return status;
}

/* Reads one set and its interface-specific ones, once. A set is also read early, when another set
 * excludes its CPUs. */
static int set_of_role(struct reader *r, enum cpu_role role, struct err *err)
{
    const struct conf_node *node = r->node[role];
    int status = 0;

    if (node == NULL || r->state[role] == SET_READ)
        return 0;
    r->state[role] = SET_READING;
    if (set_read(r, &r->a->set[role], node, r->interfaces, err) < 0)
        status = -1;
    if (specific_read(r, role, conf_find(node, "interface-specific-cpu-set"), err) < 0)
        status = -1;
    r->state[role] = SET_READ;
    return status;
}

static int find_set(struct reader *r, const struct conf_node *node, struct err *err)
{
    enum cpu_role role;

    if (!cpu_role_find(text_of(node->name), &role))
        return err_at(err, node->at, "cpu-affinity: no set \"%s\"; there are management, receive, "
                      "worker, verdict, and decode, stream, detect, reject, output of old, each "
                      "with -cpu-set behind it", node->name);
    r->node[role] = node;
    return 0;
}

/* `cpu-affinity` is a map of sets, or as in older files a list of maps with one key each. */
static int find_sets(struct reader *r, const struct conf_node *top, struct err *err)
{
    struct err mine = { 0 };
    int status = 0;

    if (top != NULL && top->kind == CONF_SCALAR && top->value[0] != '\0')
        return err_at(err, top->at,
                      "cpu-affinity: expected sets, as in worker-cpu-set: { cpu: [ 2-5 ] "
                      "}, got \"%s\"",
                      top->value);
    CONF_EACH(node, top) {
        if (top->kind == CONF_MAP) {
            if (find_set(r, node, &mine) < 0)
                status = log_err_also(LOG_AREA, err, &mine);
            continue;
        }
        CONF_EACH(inner, node)
            if (find_set(r, inner, &mine) < 0)
                status = log_err_also(LOG_AREA, err, &mine);
    }
    return status;
}

/* A loaded file has only dashes: the loader replaces underscores. A key of --set may still have
 * underscores. */
static const struct conf_node *threading_key(const struct conf_node *root, const char *dashed,
                                             const char *underscored)
{
    const struct conf_node *threading = conf_find(root, "threading");
    const struct conf_node *node = conf_find(threading, dashed);

    return node != NULL ? node : conf_find(threading, underscored);
}

static int ratio_read(struct affinity *a, const struct conf_node *node, struct err *err)
{
    double ratio;

    if (node == NULL)
        return 0;
    if (!text_to_double(text_trim(text_of(node->value)), &ratio)) {
        conf_warning(node, "expected a number above 0, up to 64, got \"%s\"; the default is used: "
                     "1", node->value);
        return 0;
    }
    a->ratio = ratio;
    if (ratio <= 0 || ratio > 64)
        return err_at(err, node->at,
                      "detect-thread-ratio: expected a number above 0, up to 64, got "
                      "\"%s\"",
                      node->value);
    return 0;
}

static enum autopin autopin_read(const struct conf_node *node)
{
    if (node != NULL && node->kind == CONF_SCALAR && strcasecmp(node->value, "force") == 0)
        return AUTOPIN_FORCE;
    return conf_bool(node, NULL, false) ? AUTOPIN_YES : AUTOPIN_NO;
}

static int threading_read(struct reader *r, const struct conf_node *root, struct err *err)
{
    const struct conf_node *enabled =
        threading_key(root, "set-cpu-affinity", "set_cpu_affinity");
    const struct conf_node *pin = conf_find(root, "threading.autopin");
    struct affinity *a = r->a;
    struct err mine = { 0 };
    int status = 0;

    a->ratio = 1.0;
    if (ratio_read(a, threading_key(root, "detect-thread-ratio", "detect_thread_ratio"), &mine) < 0)
        status = log_err_also(LOG_AREA, err, &mine);
    a->enabled = conf_bool(enabled, NULL, false);
    a->autopin = autopin_read(pin);
    a->autopin_at = pin != NULL ? pin->at : (struct where){ 0 };
    a->stack_size = conf_size(root, "threading.stack-size", 0);
    if (a->stack_size > 0 && a->stack_size < AFFINITY_STACK_LEAST) {
        conf_warning(conf_find(root, "threading.stack-size"), "a thread needs %u KiB at least, "
                     "which it gets", AFFINITY_STACK_LEAST >> 10);
        a->stack_size = AFFINITY_STACK_LEAST;
    }
    if (find_sets(r, threading_key(root, "cpu-affinity", "cpu_affinity"), err) < 0)
        status = -1;
    /* Sets are read only if affinity is enabled: shipped files carry sets for other machines. A set
     * that another one excludes has been read by then and has reported its mistakes. */
    for (unsigned i = 0; i < CPU_ROLES && a->enabled; i++)
        if (set_of_role(r, (enum cpu_role)i, err) < 0)
            status = -1;
    return status;
}

/* Returns NULL after a mistake; all mistakes have been logged by then. `interfaces` may be freed
 * afterwards: sets keep names from the configuration tree. */
struct affinity *affinity_new(const struct conf_node *root, const struct topology *topology,
                              const char *const *interfaces, struct diagnostics *diagnostics,
                              struct err *err)
{
    struct affinity *a = xcalloc(1, sizeof(*a));
    struct reader r = {
        .a = a, .topology = topology, .interfaces = interfaces, .diagnostics = diagnostics
    };

    for (unsigned i = 0; i < CPU_ROLES; i++)
        a->set[i] = (struct affinity_set){ .role = (enum cpu_role)i, .prio_default = PRIO_MEDIUM,
                                           .exclusive = roles[i].exclusive };
    if (threading_read(&r, root, err) < 0) {
        affinity_free(a);
        return NULL;
    }
    return a;
}

void affinity_free(struct affinity *a)
{
    if (a == NULL)
        return;
    ARRAY_FREE(&a->specific);
    free(a);
}

/* The set of an interface comes before the set of the role. */
const struct affinity_set *affinity_get(const struct affinity *a, enum cpu_role role,
                                        const char *interface)
{
    for (size_t i = 0; i < a->specific.count && interface != NULL; i++)
        if (a->specific.at[i].role == role &&
            strcmp(a->specific.at[i].interface, interface) == 0)
            return &a->specific.at[i];
    return &a->set[role];
}

/* A list outside of `threading:`, in a run mode's stage. It works on a copy, so that it can name
 * sets (`!management`) and cannot change them. */
int affinity_list(const struct affinity *a, struct cpu_list *list, const struct conf_node *node,
                  struct err *err)
{
    struct affinity copy = *a;
    struct reader r = { .a = &copy, .topology = list->topology, .interfaces = list->interfaces,
                        .diagnostics = list->diagnostics };
    int status;

    list->named = named_cpus;
    list->named_arg = &r;
    status = cpu_list_parse(list, node, err);
    list->named_arg = NULL;
    return status;
}
