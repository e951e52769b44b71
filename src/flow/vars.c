/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/vars.c - names of variables, and the variables of one flow.
 *
 * A flow has few of them, so they are an array in the order of setting, searched from the front.
 * Flowvars, whose keys may come from traffic, may be thousands: they have an array of their own,
 * with an index. */
#include "flow/vars.h"

#include "base/array.h"
#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"
#include "base/containers/map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- names: written at load time only ---- */

#define NAMES_PER_BLOCK 1024
#define NAME_BLOCKS 1024

/* A name does not move once it is counted, so readers take no lock. */
struct name_table {
    struct map ids;
    uint32_t count;                     /* atomic */
    char **block[NAME_BLOCKS];          /* of id - 1 */
};

static struct name_table name_tables[VAR_KIND_COUNT];
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

/* Scripts name variables while packets flow: 0 where there is no memory for another. */
static uint32_t add_name(struct name_table *table, const char *name)
{
    uint32_t id = table->count + 1;
    char ***block = &table->block[(id - 1) / NAMES_PER_BLOCK], *copy = strdup(name);

    if (*block == NULL)
        *block = calloc(NAMES_PER_BLOCK, sizeof(**block));
    if (copy == NULL || *block == NULL ||
        !map_try_put(&table->ids, name, strlen(name), (void *)(uintptr_t)id)) {
        free(copy);
        return 0;
    }
    (*block)[(id - 1) % NAMES_PER_BLOCK] = copy;
    __atomic_store_n(&table->count, id, __ATOMIC_RELEASE);
    return id;
}

/* At load time and by Lua scripts. 0: there are too many names. */
uint32_t var_name_id(enum var_kind kind, const char *name)
{
    struct name_table *table = &name_tables[kind];
    uintptr_t id;

    pthread_mutex_lock(&names_lock);
    id = (uintptr_t)map_get_string(&table->ids, name);
    if (id == 0 && table->count < NAMES_PER_BLOCK * NAME_BLOCKS)
        id = add_name(table, name);
    pthread_mutex_unlock(&names_lock);
    return (uint32_t)id;
}

/* A reload may add names at the same time: acquire pairs with the release above. */
const char *var_name(enum var_kind kind, uint32_t id)
{
    const struct name_table *table = &name_tables[kind];

    if (id == 0 || id > __atomic_load_n(&table->count, __ATOMIC_ACQUIRE))
        return NULL;
    return table->block[(id - 1) / NAMES_PER_BLOCK][(id - 1) % NAMES_PER_BLOCK];
}

/* ---- a flow's variables ---- */

/* Belongs to the inspecting thread. */
struct flow_var {
    uint8_t kind;
    uint16_t key_len, value_len;
    uint32_t id, number;                /* number: of a flowvar, the hash of its key */
    double entropy;
    uint8_t *text;                      /* key, then value; flowvars only */
};

struct var_list {
    uint32_t count, cap;
    struct flow_var *at;
};

struct flow_vars {
    struct var_list named;              /* bits and numbers */
    struct var_list texts;              /* flowvars, which are never removed */
    uint32_t *place;                    /* finds texts: open addressing, twice as many as their cap;
                                         * from 1, 0: free. NULL: none yet */
};

#define VARS_MAX 4096 /* limits what captures and scripts can set; rules set fewer */
#define VAR_TEXT_MAX UINT16_MAX

static void list_free(struct var_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        lib_free(list->at[i].text);
    lib_free(list->at);
}

void flow_vars_free(struct flow_vars *vars)
{
    if (vars == NULL)
        return;
    list_free(&vars->named);
    list_free(&vars->texts);
    lib_free(vars->place);
    lib_free(vars);
}

static struct flow_var *find(const struct flow *f, enum var_kind kind, uint32_t id)
{
    const struct flow_vars *vars = f->vars;

    if (vars == NULL)
        return NULL;
    for (uint32_t i = 0; i < vars->named.count; i++)
        if (vars->named.at[i].id == id && vars->named.at[i].kind == kind)
            return &vars->named.at[i];
    return NULL;
}

static bool grow(struct var_list *list)
{
    uint32_t cap = list->cap > 0 ? list->cap * 2 : 4;
    struct flow_var *at;

    if (list->count < list->cap)
        return true;
    if (cap > VARS_MAX)
        return false;
    at = lib_realloc(list->at, cap * sizeof(*at));
    if (at == NULL)
        return false;
    list->at = at;
    list->cap = cap;
    return true;
}

static struct flow_vars *vars_make(struct flow *f)
{
    if (f->vars == NULL)
        f->vars = lib_calloc(1, sizeof(*f->vars));
    return f->vars;
}

/* NULL at the limit or without memory: the variable is then not set, and rules see it so. */
static struct flow_var *append(struct flow *f, enum var_kind kind, uint32_t id)
{
    struct flow_vars *vars = vars_make(f);
    struct flow_var *v;

    if (vars == NULL || !grow(&vars->named))
        return NULL;
    v = &vars->named.at[vars->named.count++];
    *v = (struct flow_var){ .kind = (uint8_t)kind, .id = id };
    return v;
}

static void remove_var(struct flow *f, struct flow_var *v)
{
    struct var_list *list = &f->vars->named;
    size_t index = (size_t)(v - list->at);

    lib_free(v->text);
    list->count--;
    memmove(v, v + 1, (list->count - index) * sizeof(*v));
}

bool flowbit_is_set(const struct flow *f, uint32_t id)
{
    return find(f, VAR_FLOWBIT, id) != NULL;
}

void flowbit_set(struct flow *f, uint32_t id)
{
    if (find(f, VAR_FLOWBIT, id) == NULL)
        (void)append(f, VAR_FLOWBIT, id);
}

void flowbit_unset(struct flow *f, uint32_t id)
{
    struct flow_var *v = find(f, VAR_FLOWBIT, id);

    if (v != NULL)
        remove_var(f, v);
}

bool flowint_get(const struct flow *f, uint32_t id, uint32_t *value)
{
    const struct flow_var *v = find(f, VAR_FLOWINT, id);

    if (v == NULL)
        return false;
    *value = v->number;
    return true;
}

void flowint_put(struct flow *f, uint32_t id, uint32_t value)
{
    struct flow_var *v = find(f, VAR_FLOWINT, id);

    if (v == NULL)
        v = append(f, VAR_FLOWINT, id);
    if (v != NULL)
        v->number = value;
}

/* ---- flowvars ---- */

static uint32_t key_hash(uint32_t id, struct slice key)
{
    return (uint32_t)hash_bytes(key.data, key.len) ^ id;
}

static struct flow_var *find_text(const struct flow_vars *vars, uint32_t id, struct slice key)
{
    uint32_t hash = key_hash(id, key), mask;

    if (vars == NULL || vars->place == NULL)
        return NULL;
    mask = 2 * vars->texts.cap - 1;
    for (uint32_t i = hash & mask; vars->place[i] != 0; i = (i + 1) & mask) {
        struct flow_var *v = &vars->texts.at[vars->place[i] - 1];

        if (v->number == hash && v->id == id && v->key_len == key.len &&
            (key.len == 0 || memcmp(v->text, key.data, key.len) == 0))
            return v;
    }
    return NULL;
}

static void index_put(struct flow_vars *vars, uint32_t at)
{
    uint32_t mask = 2 * vars->texts.cap - 1, i;

    for (i = vars->texts.at[at].number & mask; vars->place[i] != 0; i = (i + 1) & mask)
        ;
    vars->place[i] = at + 1;
}

/* Makes room for one more, with an index for all of them. */
static bool grow_texts(struct flow_vars *vars)
{
    uint32_t cap = vars->texts.cap, *place;

    if (vars->texts.count < cap)
        return true;
    if (!grow(&vars->texts))
        return false;
    place = lib_calloc(2 * (size_t)vars->texts.cap, sizeof(*place));
    if (place == NULL) {
        vars->texts.cap = cap;          /* what the index is for */
        return false;
    }
    lib_free(vars->place);
    vars->place = place;
    for (uint32_t at = 0; at < vars->texts.count; at++)
        index_put(vars, at);
    return true;
}

static struct flow_var *append_text(struct flow *f, uint32_t id, struct slice key)
{
    struct flow_vars *vars = vars_make(f);

    if (vars == NULL || !grow_texts(vars))
        return NULL;
    vars->texts.at[vars->texts.count] =
        (struct flow_var){ .kind = VAR_FLOWVAR, .id = id, .number = key_hash(id, key) };
    index_put(vars, vars->texts.count);
    return &vars->texts.at[vars->texts.count++];
}

/* The flow keeps copies. Longer texts are truncated to 64 KiB. */
void flowvar_put(struct flow *f, uint32_t id, struct slice key, struct slice value)
{
    uint16_t key_len = (uint16_t)MIN(key.len, VAR_TEXT_MAX);
    uint16_t value_len = (uint16_t)MIN(value.len, VAR_TEXT_MAX);
    struct slice kept = { key.data, key_len };
    struct flow_var *v = find_text(f->vars, id, kept);
    uint8_t *text = lib_malloc((size_t)key_len + value_len + 1);

    if (text == NULL)
        return;
    if (v == NULL)
        v = append_text(f, id, kept);
    if (v == NULL) {
        lib_free(text);
        return;
    }
    if (key_len > 0)
        memcpy(text, key.data, key_len);
    if (value_len > 0)
        memcpy(text + key_len, value.data, value_len);
    lib_free(v->text);
    v->text = text;
    v->key_len = key_len;
    v->value_len = value_len;
}

void flow_entropy_put(struct flow *f, uint32_t id, double value)
{
    struct flow_var *v = find(f, VAR_ENTROPY, id);

    if (v == NULL)
        v = append(f, VAR_ENTROPY, id);
    if (v != NULL)
        v->entropy = value;
}

static struct flow_var_view view_of(const struct flow_var *v)
{
    struct flow_var_view view = { .kind = v->kind, .id = v->id, .entropy = v->entropy,
                                  .number = v->kind != VAR_FLOWVAR ? v->number : 0 };

    if (v->text != NULL) {
        view.key = (struct slice){ v->text, v->key_len };
        view.value = (struct slice){ v->text + v->key_len, v->value_len };
    }
    return view;
}

static bool each(const struct var_list *list,
                 bool (*visit)(const struct flow_var_view *v, void *arg), void *arg)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct flow_var_view view = view_of(&list->at[i]);

        if (!visit(&view, arg))
            return false;
    }
    return true;
}

/* False: `visit` stopped. */
bool flow_vars_each(const struct flow *f, bool (*visit)(const struct flow_var_view *v, void *arg),
                    void *arg)
{
    const struct flow_vars *vars = f->vars;

    return vars == NULL || (each(&vars->named, visit, arg) && each(&vars->texts, visit, arg));
}
