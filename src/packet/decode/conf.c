/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/conf.c - settings of the decoders. */
#include "packet/decode/decode_private.h"

#include "base/array.h"
#include "conf/compatibility.h"

#include <stdlib.h>
#include <strings.h>

/* Limits variables in variables; also ends a loop of them. */
#define VARIABLES_DEEP 8

/* Decoders compare ports with a short list; a range ("80:90") counts as its first port. */
static void port_set_add(struct port_set *set, const struct conf_node *at, struct text number)
{
    struct text low = { "", 0 }, rest = number;
    uint64_t port;

    text_split(&rest, ':', &low);
    if (!text_to_u64(low, 65535, &port)) {
        conf_warning(at, "failed to parse port \"%.*s\"; it is left out", TEXT(number));
        return;
    }
    if (set->count == PORT_SET_MAX) {
        conf_warning(at, "at most %d ports are looked at; \"%.*s\" is ignored", PORT_SET_MAX,
                     TEXT(number));
        return;
    }
    set->port[set->count++] = (uint16_t)port;
}

/* For instance "4789", "any", "$VXLAN_PORTS" or "[4789, $OTHER]". */
static void port_set_parse(struct port_set *set, const struct conf_node *root,
                           const struct conf_node *at, struct text value, unsigned depth)
{
    struct text one;

    value = text_trim(value);
    if (value.n >= 2 && value.p[0] == '[' && value.p[value.n - 1] == ']')
        value = text_trim((struct text){ value.p + 1, value.n - 2 });
    while (text_split(&value, ',', &one)) {
        if (one.n == 0)
            continue;
        if (text_equal_nocase(one, "any")) {
            set->any = true;
        } else if (one.p[0] != '$') {
            port_set_add(set, at, one);
        } else {
            char *name = text_dup(text_from(one, 1));
            const struct conf_node *var = conf_find(conf_find(root, "vars.port-groups"), name);

            if (var == NULL || depth == VARIABLES_DEEP)
                conf_error(at, "port group \"%s\" is not defined in vars.port-groups", name);
            else
                port_set_parse(set, root, var, text_of(var->value), depth + 1);
            free(name);
        }
    }
}

/* `otherwise` is the default. Without a configuration a tunnel decoder is enabled, as in
 * Suricata. */
static void port_set_load(struct port_set *set, const struct conf_node *root, const char *path,
                          const char *otherwise)
{
    const struct conf_node *node = conf_find(root, path);
    const struct conf_node *ports = conf_find(node, "ports");

    set->enabled = conf_bool(node, "enabled", true);
    if (!set->enabled)
        return;
    if (ports == NULL)
        port_set_parse(set, root, NULL, text_of(otherwise), 0);
    else if (ports->kind == CONF_SCALAR)
        port_set_parse(set, root, ports, text_of(ports->value), 0);
    CONF_EACH(item, ports)
        port_set_parse(set, root, item, text_of(item->value), 0);
}

static bool event_is_counted(enum packet_event event, const struct decode_conf *conf, bool decoder,
                             bool stream)
{
    if (packet_event_is_of_9(event))
        return decoder && conf->suricata_9;
    return event <= EVENT_TOO_MANY_LAYERS ? decoder : stream && !packet_event_is_detect(event);
}

/* Event counters that are not configured are not registered, so they do not appear in
 * statistics. */
static void register_counters(struct decode_conf *conf, const struct conf_node *root)
{
    const char *prefix = conf_string(root, "stats.decoder-events-prefix", "decoder.event");
    bool decoder = conf_bool(root, "stats.decoder-events", true);
    bool stream = conf_bool(root, "stats.stream-events", false);

#define X(name, counter, kind) conf->id.name = counter_register(counter, COUNTER_##kind);
    DECODE_COUNTER_LIST(X)
#undef X
    conf->id.inner_lost = counter_register_own("engine.inner_lost", COUNTER_SUM);
    for (unsigned i = 0; i < PACKET_EVENT_COUNT; i++) {
        char name[PACKET_EVENT_NAME_MAX];

        conf->event_counted[i] = event_is_counted((enum packet_event)i, conf, decoder, stream);
        if (conf->event_counted[i])
            conf->event_id[i] =
                counter_register(packet_event_counter_name((enum packet_event)i, prefix, name),
                                 COUNTER_SUM);
    }
}

/* Suricata 9 has the setting, and is strict by default. */
static uint8_t vxlan_reserved(const struct conf_node *root)
{
    static const char *const words[] = { "", "strict", "permissive", NULL };
    int otherwise = conf_is_suricata_9(root) ? VXLAN_STRICT : VXLAN_LAST_BYTE;

    return (uint8_t)conf_choice(root, "decoder.vxlan.reserved-bits-check", words, otherwise);
}

/* Suricata's keys and defaults. */
struct decode_conf *decode_conf_new(const struct conf_node *root, struct err *err)
{
    struct decode_conf *conf = xcalloc(1, sizeof(*conf));

    conf->defrag = defrag_conf_new(root, err);
    if (conf->defrag == NULL) {
        free(conf);
        return NULL;
    }
    conf->max_layers =
        (unsigned)conf_u64_range(root, "decoder.max-layers", PACKET_LAYERS_DEFAULT, 0, 255);
    conf->use_vlan = conf_bool(root, "vlan.use-for-tracking", true);
    conf->use_recursion = conf_bool(root, "decoder.recursion-level.use-for-tracking", true);
    port_set_load(&conf->teredo, root, "decoder.teredo", "any");
    port_set_load(&conf->geneve, root, "decoder.geneve", "6081");
    port_set_load(&conf->vxlan, root, "decoder.vxlan", "4789");
    conf->vxlan.dst_only = true;        /* RFC 7348: the source port is any */
    conf_check_compatibility(root);
    conf->vxlan_reserved = vxlan_reserved(root);
    conf->suricata_9 = conf_is_suricata_9(root);
    if (conf_find(root, "decoder.erspan.typeI.enabled") != NULL)
        conf_warning(conf_find(root, "decoder.erspan.typeI.enabled"),
                     "ERSPAN type I is always decoded; this key has no effect");
    register_counters(conf, root);
    return conf;
}

void decode_conf_set_run(struct decode_conf *conf, unsigned decoders, bool is_inline)
{
    defrag_conf_set_run(conf->defrag, decoders, is_inline);
}

struct defrag_conf *decode_conf_defrag(struct decode_conf *conf)
{
    return conf->defrag;
}

void decode_conf_simulate_defrag_memcap(struct decode_conf *conf, uint64_t packet_number)
{
    defrag_conf_simulate_memcap(conf->defrag, packet_number);
}

void decode_conf_free(struct decode_conf *conf)
{
    if (conf == NULL)
        return;
    defrag_conf_free(conf->defrag);
    free(conf);
}
