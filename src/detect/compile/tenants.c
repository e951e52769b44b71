/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/tenants.c - loads tenants from their files. Each tenant has its own configuration
 * with rule-files and vars. If the tenant's file lacks a setting on parsing or searching rules, the
 * engine's configuration applies. */
#include "detect/compile/tenants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/report/log.h"
#include "packet/packet.h"

#define VLAN_MAX 4094 /* IEEE 802.1Q reserves 4095 */

/* Sections that a tenant inherits from the engine's configuration. */
static const char *const common_keys[] = {
    "classification-file", "reference-config-file", "threshold-file", "mpm-algo", "spm-algo",
    "action-order", "detect", "pcre", "datasets", "app-layer", "threshold",
    "compatibility",
};

/* ---- one tenant ---- */

/* Several tables share a tenant (tenants_copy), on several threads; the last reference
 * frees it. */
static void tenant_unref(struct tenant *tenant)
{
    if (tenant == NULL || __atomic_sub_fetch(&tenant->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    ruleset_unref(tenant->rules);
    conf_free(tenant->conf);
    free(tenant->file);
    free(tenant);
}

/* Copies each scalar below `from` to the same path, unless the tenant has one. Lists are
 * not merged: half of a list would be a new meaning. */
static void inherit(struct conf *to, const struct conf_node *from)
{
    char path[512];

    if (from == NULL || from->kind == CONF_LIST)
        return;
    CONF_EACH(child, from)
        inherit(to, child);
    if (from->kind != CONF_SCALAR)
        return;
    conf_path(from, path, sizeof(path));
    if (conf_find(conf_root(to), path) == NULL)
        conf_set(to, path, from->value);
}

/* Applies --set multi-detect.ID.KEY=VALUE. */
static void overrule(struct conf *to, const struct conf_node *root, uint32_t id)
{
    char path[64];

    snprintf(path, sizeof(path), "multi-detect.%u", id);
    CONF_EACH(child, conf_find(root, path))
        if (child->kind == CONF_SCALAR)
            conf_set(to, child->name, child->value);
}

/* The position in *err borrows the file name from the tenant's configuration, which is
 * freed here. So the position becomes part of the text. */
static struct tenant *tenant_fail(struct tenant *tenant, struct err *err)
{
    char text[sizeof(err->text)];

    err_text(err, text, sizeof(text));
    err_set(err, "%s", text);
    tenant_unref(tenant);
    return NULL;
}

/* Files from the command line are the engine's, not the tenant's. `previous` hands the
 * state of rules over at reload. */
static struct tenant *tenant_load(const struct ruleset_request *base, uint32_t id,
                                  const char *file, struct ruleset *previous, struct err *err)
{
    struct tenant *tenant = xcalloc(1, sizeof(*tenant));
    struct ruleset_request request = *base;

    tenant->refs = 1;
    tenant->id = id;
    tenant->file = xstrdup(file);
    tenant->conf = conf_new();
    if (conf_load(tenant->conf, file, err) < 0)
        return tenant_fail(tenant, err);
    overrule(tenant->conf, base->conf, id);
    for (size_t i = 0; i < ARRAY_LEN(common_keys); i++)
        inherit(tenant->conf, conf_find(base->conf, common_keys[i]));
    request.conf = conf_root(tenant->conf);
    request.extra_files = NULL;
    request.exclusive_file = request.firewall_file = NULL;
    request.previous = previous;
    log_info("detect", "tenant id %u: loading %s", id, file);
    tenant->rules = ruleset_load(&request, &tenant->report, err);
    tenant->loaded_us = clock_wall_us();
    return tenant->rules != NULL ? tenant : tenant_fail(tenant, err);
}

/* ---- tables ---- */

struct tenants *tenants_ref(struct tenants *t)
{
    if (t != NULL)
        __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);
    return t;
}

/* A table is read-only once packet threads see it. A change makes a copy and exchanges it. */
void tenants_unref(struct tenants *t)
{
    if (t == NULL || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < t->list.count; i++)
        tenant_unref(t->list.at[i]);
    ARRAY_FREE(&t->list);
    ARRAY_FREE(&t->mappings);
    free(t);
}

/* Copies the table, not the tenants. */
struct tenants *tenants_copy(const struct tenants *t)
{
    struct tenants *copy = xcalloc(1, sizeof(*copy));

    copy->refs = 1;
    copy->selector = t->selector;
    copy->direct = t->direct;
    for (size_t i = 0; i < t->list.count; i++) {
        __atomic_fetch_add(&t->list.at[i]->refs, 1, __ATOMIC_RELAXED);
        ARRAY_PUSH(&copy->list, t->list.at[i]);
    }
    for (size_t i = 0; i < t->mappings.count; i++)
        ARRAY_PUSH(&copy->mappings, t->mappings.at[i]);
    return copy;
}

int tenants_find(const struct tenants *t, uint32_t id)
{
    for (size_t i = 0; i < t->list.count; i++)
        if (t->list.at[i]->id == id)
            return (int)i;
    return -1;
}

/* Adds a tenant or reloads it; `file` NULL: from its own file again. On an error the old
 * tenant stays. */
int tenants_put(struct tenants *t, const struct ruleset_request *request, uint32_t id,
                const char *file, struct err *err)
{
    int at = tenants_find(t, id);
    struct tenant *old = at >= 0 ? t->list.at[at] : NULL, *tenant;

    if (file == NULL && old == NULL)
        return err_set(err, "there is no tenant %u", id);
    tenant = tenant_load(request, id, file != NULL ? file : old->file,
                         old != NULL ? old->rules : NULL, err);
    if (tenant == NULL)
        return -1;
    if (old == NULL) {
        ARRAY_PUSH(&t->list, tenant);
        return 0;
    }
    t->list.at[at] = tenant;
    tenant_unref(old);
    return 0;
}

int tenants_reload(struct tenants *t, const struct ruleset_request *request, struct err *err)
{
    for (size_t i = 0; i < t->list.count; i++)
        if (tenants_put(t, request, t->list.at[i]->id, NULL, err) < 0)
            return -1;
    return 0;
}

/* The order of tenants has no meaning, so the last one fills the hole. */
bool tenants_remove(struct tenants *t, uint32_t id)
{
    int at = tenants_find(t, id);

    if (at < 0)
        return false;
    tenant_unref(t->list.at[at]);
    t->list.at[at] = t->list.at[--t->list.count];
    return true;
}

/* False: the VLAN has a tenant. One VLAN cannot have two, because a packet has one set of
 * rules. */
bool tenants_map_vlan(struct tenants *t, uint32_t id, uint16_t vlan)
{
    for (size_t i = 0; i < t->mappings.count; i++)
        if (t->mappings.at[i].vlan == vlan)
            return false;
    ARRAY_PUSH(&t->mappings, (struct tenant_mapping){ .id = id, .vlan = vlan });
    return true;
}

bool tenants_unmap_vlan(struct tenants *t, uint32_t id, uint16_t vlan)
{
    for (size_t i = 0; i < t->mappings.count; i++)
        if (t->mappings.at[i].vlan == vlan && t->mappings.at[i].id == id) {
            t->mappings.at[i] = t->mappings.at[--t->mappings.count];
            return true;
        }
    return false;
}

bool tenants_any(const struct tenants *t, bool (*is_so)(const struct ruleset *rules))
{
    for (size_t i = 0; t != NULL && i < t->list.count; i++)
        if (is_so(t->list.at[i]->rules))
            return true;
    return false;
}

bool tenants_look_at_streams(const struct tenants *t)
{
    return tenants_any(t, ruleset_looks_at_streams);
}

bool tenants_look_at_overlap(const struct tenants *t)
{
    return tenants_any(t, ruleset_looks_at_overlap);
}

/* ---- the tenant of a packet ---- */

/* The outermost tag decides. A walk over the mappings per packet: there are few, and flows
 * cache the result. */
static uint32_t by_vlan(const struct tenants *t, const struct packet *p)
{
    if (p->vlan_count > 0)
        for (size_t i = 0; i < t->mappings.count; i++)
            if (t->mappings.at[i].vlan == p->vlan[0])
                return t->mappings.at[i].id;
    return 0;
}

/* The name of the capture interface, for several interfaces in one process. */
static uint32_t by_device(const struct tenants *t, const struct packet *p)
{
    if (p->device_name != NULL)
        for (size_t i = 0; i < t->mappings.count; i++)
            if (strcmp(t->mappings.at[i].device, p->device_name) == 0)
                return t->mappings.at[i].id;
    return 0;
}

uint32_t tenants_of(const struct tenants *t, const struct packet *p)
{
    switch (t->selector) {
    case TENANT_BY_VLAN: return by_vlan(t, p);
    case TENANT_BY_DEVICE: return by_device(t, p);
    case TENANT_DIRECT: return t->direct;
    case TENANT_BY_NOTHING: break;
    }
    return 0;
}

/* ---- from the configuration ---- */

/* Two selectors contradict other settings: VLAN ids that flows ignore, and interfaces in
 * IPS mode, where the two directions of a flow come from two of them. */
static int read_selector(struct tenants *t, const struct ruleset_request *request,
                         struct err *err)
{
    const struct conf_node *node = conf_find(request->conf, "multi-detect.selector");
    const char *word = conf_string(node, NULL, "");

    if (strcmp(word, "vlan") == 0)
        t->selector = TENANT_BY_VLAN;
    else if (strcmp(word, "direct") == 0)
        t->selector = TENANT_DIRECT;
    else if (strcmp(word, "device") == 0)
        t->selector = TENANT_BY_DEVICE;
    else if (node != NULL)
        return err_at(err, node->at, "multi-detect.selector: expected vlan, device or direct, got "
                      "\"%s\"", word);
    if (t->selector == TENANT_BY_VLAN && !conf_bool(request->conf, "vlan.use-for-tracking", true))
        return err_at(err, node->at, "multi-detect.selector: vlan needs vlan.use-for-tracking: "
                      "yes, or flows of two tenants could be one");
    if (t->selector == TENANT_BY_DEVICE && request->is_inline)
        return err_at(err, node->at, "multi-detect.selector: device cannot be used inline, where "
                      "a flow comes by two interfaces");
    return 0;
}

/* Logs the error; the mapping or tenant is then left out. */
static bool read_id(const struct conf_node *item, const char *key, uint32_t *id)
{
    const struct conf_node *node = conf_find(item, key);
    uint64_t number;

    if (node == NULL || !text_to_u64(text_of(node->value), UINT32_MAX, &number)) {
        conf_error(node != NULL ? node : item, "%s: expected the number of a tenant", key);
        return false;
    }
    *id = (uint32_t)number;
    return true;
}

/* Mappings of another selector are ignored, as in Suricata. */
static void read_mapping(struct tenants *t, const struct conf_node *item)
{
    struct tenant_mapping m = { 0 };
    const struct conf_node *vlan = conf_find(item, "vlan-id");
    const char *device = conf_string(item, "device", NULL);
    uint64_t number = 0;

    if (!read_id(item, "tenant-id", &m.id))
        return;
    if (t->selector == TENANT_BY_DEVICE && device != NULL) {
        snprintf(m.device, sizeof(m.device), "%s", device);
        ARRAY_PUSH(&t->mappings, m);
    } else if (t->selector == TENANT_BY_VLAN) {
        if (vlan == NULL || !text_to_u64(text_of(vlan->value), VLAN_MAX, &number) || number == 0)
            conf_error(vlan != NULL ? vlan : item, "vlan-id: expected 1 to %d", VLAN_MAX);
        else if (!tenants_map_vlan(t, m.id, (uint16_t)number))
            conf_error(vlan, "vlan-id: %s has a tenant already", vlan->value);
    }
}

/* Relative names are relative to multi-detect.config-path. */
static void tenant_path(const struct conf_node *root, const char *file, char *out, size_t size)
{
    const char *directory = conf_string(root, "multi-detect.config-path", NULL);

    if (directory != NULL && file[0] != '/')
        snprintf(out, size, "%s/%s", directory, file);
    else
        snprintf(out, size, "%s", file);
}

static bool read_tenant(struct tenants *t, const struct ruleset_request *request,
                        const struct conf_node *item, struct err *err)
{
    const struct conf_node *yaml = conf_find(item, "yaml");
    char path[4096];
    uint32_t id;

    if (!read_id(item, "id", &id))
        return false;
    if (yaml == NULL || yaml->kind != CONF_SCALAR) {
        conf_error(item, "yaml: expected the file with the rule-files of tenant %u", id);
        return false;
    }
    if (id == 0 || tenants_find(t, id) >= 0) {
        conf_error(item, id == 0 ? "id: 0 is no tenant's" : "id: tenant %u is there already", id);
        return false;
    }
    tenant_path(request->conf, yaml->value, path, sizeof(path));
    return tenants_put(t, request, id, path, err) == 0;
}

/* A tenant that cannot be loaded is left out, unless engine.init-failure-fatal is set. */
static int read_tenants(struct tenants *t, const struct ruleset_request *request, struct err *err)
{
    bool fatal = conf_bool(request->conf, "engine.init-failure-fatal", false);

    CONF_EACH(item, conf_find(request->conf, "multi-detect.tenants")) {
        if (read_tenant(t, request, item, err))
            continue;
        if (fatal)
            return -1;
        if (err->text[0] != '\0')
            log_err(LOG_LEVEL_ERROR, "detect", err);
        *err = (struct err){ 0 };
    }
    return 0;
}

/* The tenant of a capture file with the selector "direct"; 0: none. */
uint32_t tenants_direct(const struct conf_node *root)
{
    if (strcmp(conf_string(root, "pcap-file.tenant-id", "none"), "none") == 0)
        return 0;
    return (uint32_t)conf_u64_range(root, "pcap-file.tenant-id", 0, 0, UINT32_MAX);
}

/* NULL without an error when multi-detect is off. */
struct tenants *tenants_load(const struct ruleset_request *request, struct err *err)
{
    struct tenants *t;

    if (!conf_bool(request->conf, "multi-detect.enabled", false))
        return NULL;
    t = xcalloc(1, sizeof(*t));
    t->refs = 1;
    t->direct = tenants_direct(request->conf);
    if (read_selector(t, request, err) < 0) {
        tenants_unref(t);
        return NULL;
    }
    CONF_EACH(item, conf_find(request->conf, "multi-detect.mappings"))
        read_mapping(t, item);
    if (t->mappings.count == 0 &&
        (t->selector == TENANT_BY_VLAN || t->selector == TENANT_BY_DEVICE))
        conf_error(conf_find(request->conf, "multi-detect"), "no multi-detect mappings defined");
    if (read_tenants(t, request, err) < 0) {
        tenants_unref(t);
        return NULL;
    }
    return t;
}
