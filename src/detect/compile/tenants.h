/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/tenants.h - `multi-detect:`, several rulesets in one engine, each for the traffic
 * of one tenant.
 *
 * A table of tenants is built aside, shared read-only by all threads, and replaced as a whole like
 * a ruleset. A new table shares the unchanged tenants of the old one. */
#ifndef DETECT_TENANTS_H
#define DETECT_TENANTS_H

#include <net/if.h>

#include "base/array.h"
#include "conf/conf.h"
#include "detect/rule/ruleset.h"

enum tenant_selector { TENANT_BY_NOTHING, TENANT_BY_VLAN, TENANT_BY_DEVICE, TENANT_DIRECT };

/* 0 is no tenant: the rules of the main configuration. */
struct tenant {
    uint32_t refs;                      /* atomic */
    uint32_t id;
    char *file;                         /* its configuration */
    struct conf *conf;
    struct ruleset *rules;
    struct ruleset_report report;
    uint64_t loaded_us;
};

struct tenant_mapping {
    uint32_t id;
    uint16_t vlan;                      /* 0: selected by device */
    char device[IFNAMSIZ];
};

struct tenants {
    uint32_t refs;                      /* atomic */
    enum tenant_selector selector;
    uint32_t direct;                    /* the tenant of all packets of this capture; 0: none */
    ARRAY_OF(struct tenant *) list;
    ARRAY_OF(struct tenant_mapping) mappings;
};

/* Reads `multi-detect:` of the configuration. `request` is the engine's own. NULL with an empty
 * err: multi-detect is off. */
struct tenants *tenants_load(const struct ruleset_request *request, struct err *err);
/* Returns pcap-file.tenant-id; 0: none. */
uint32_t tenants_direct(const struct conf_node *root);
struct tenants *tenants_ref(struct tenants *t);
void tenants_unref(struct tenants *t);

/* Returns a copy, to change before other threads see it. */
struct tenants *tenants_copy(const struct tenants *t);
/* Adds a tenant, or replaces the one with this number. file NULL: reads its present file again. */
int tenants_put(struct tenants *t, const struct ruleset_request *request, uint32_t id,
                const char *file, struct err *err);
/* Reads all tenants again. -1: one could not be read. */
int tenants_reload(struct tenants *t, const struct ruleset_request *request, struct err *err);
bool tenants_remove(struct tenants *t, uint32_t id);
/* False: another tenant has the VLAN already. To unmap: this tenant does not have it. */
bool tenants_map_vlan(struct tenants *t, uint32_t id, uint16_t vlan);
bool tenants_unmap_vlan(struct tenants *t, uint32_t id, uint16_t vlan);

/* True if is_so() holds for the rules of a tenant. False for NULL. */
bool tenants_any(const struct tenants *t, bool (*is_so)(const struct ruleset *rules));
/* True if a tenant has a rule on the raw data of streams. */
bool tenants_look_at_streams(const struct tenants *t);
bool tenants_look_at_overlap(const struct tenants *t);
/* Index in the list, or -1. */
int tenants_find(const struct tenants *t, uint32_t id);
/* Returns the tenant of the packet; 0: none. */
uint32_t tenants_of(const struct tenants *t, const struct packet *p);

#endif
