/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/vars.c - names of variables, and the variables of one flow.
 *
 * A flow has few of them, so they are an array in the order of setting, searched from the front. */
#include "flow/vars.h"

#include "base/array.h"
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
    uint32_t id, number;
    double entropy;
    uint8_t *text;                      /* key, then value; flowvars only */
};

struct flow_vars {
    uint32_t count, cap;
    struct flow_var *at;
};

#define VARS_MAX 4096 /* limits what captures and scripts can set; rules set fewer */
#define VAR_TEXT_MAX UINT16_MAX

void flow_vars_free(struct flow_vars *vars)
{
    if (vars == NULL)
        return;
    for (uint32_t i = 0; i < vars->count; i++)
        lib_free(vars->at[i].text);
    lib_free(vars->at);
    lib_free(vars);
}

static struct flow_var *find(const struct flow *f, enum var_kind kind, uint32_t id)
{
    const struct flow_vars *vars = f->vars;

    if (vars == NULL)
        return NULL;
    for (uint32_t i = 0; i < vars->count; i++)
        if (vars->at[i].id == id && vars->at[i].kind == kind)
            return &vars->at[i];
    return NULL;
}

static bool grow(struct flow_vars *vars)
{
    uint32_t cap = vars->cap > 0 ? vars->cap * 2 : 4;
    struct flow_var *at;

    if (vars->count < vars->cap)
        return true;
    if (cap > VARS_MAX)
        return false;
    at = lib_realloc(vars->at, cap * sizeof(*at));
    if (at == NULL)
        return false;
    vars->at = at;
    vars->cap = cap;
    return true;
}

/* NULL at the limit or without memory: the variable is then not set, and rules see it so. */
static struct flow_var *append(struct flow *f, enum var_kind kind, uint32_t id)
{
    struct flow_var *v;

    if (f->vars == NULL) {
        f->vars = lib_calloc(1, sizeof(*f->vars));
        if (f->vars == NULL)
            return NULL;
    }
    if (!grow(f->vars))
        return NULL;
    v = &f->vars->at[f->vars->count++];
    *v = (struct flow_var){ .kind = (uint8_t)kind, .id = id };
    return v;
}

static void remove_var(struct flow *f, struct flow_var *v)
{
    struct flow_vars *vars = f->vars;
    size_t index = (size_t)(v - vars->at);

    lib_free(v->text);
    vars->count--;
    memmove(v, v + 1, (vars->count - index) * sizeof(*v));
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

static struct flow_var *find_text(const struct flow *f, uint32_t id, struct slice key)
{
    const struct flow_vars *vars = f->vars;

    if (vars == NULL)
        return NULL;
    for (uint32_t i = 0; i < vars->count; i++) {
        struct flow_var *v = &vars->at[i];

        if (v->kind == VAR_FLOWVAR && v->id == id && v->key_len == key.len &&
            (key.len == 0 || memcmp(v->text, key.data, key.len) == 0))
            return v;
    }
    return NULL;
}

/* The flow keeps copies. Longer texts are truncated to 64 KiB. */
void flowvar_put(struct flow *f, uint32_t id, struct slice key, struct slice value)
{
    uint16_t key_len = (uint16_t)MIN(key.len, VAR_TEXT_MAX);
    uint16_t value_len = (uint16_t)MIN(value.len, VAR_TEXT_MAX);
    struct flow_var *v = find_text(f, id, key);
    uint8_t *text = lib_malloc((size_t)key_len + value_len + 1);

    if (text == NULL)
        return;
    if (v == NULL)
        v = append(f, VAR_FLOWVAR, id);
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
    struct flow_var_view view = { .kind = v->kind, .id = v->id, .number = v->number,
                                  .entropy = v->entropy };

    if (v->text != NULL) {
        view.key = (struct slice){ v->text, v->key_len };
        view.value = (struct slice){ v->text + v->key_len, v->value_len };
    }
    return view;
}

/* False: `visit` stopped. */
bool flow_vars_each(const struct flow *f, bool (*visit)(const struct flow_var_view *v, void *arg),
                    void *arg)
{
    const struct flow_vars *vars = f->vars;

    for (uint32_t i = 0; vars != NULL && i < vars->count; i++) {
        struct flow_var_view view = view_of(&vars->at[i]);

        if (!visit(&view, arg))
            return false;
    }
    return true;
}
