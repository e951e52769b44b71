/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ndpi.c - a plugin that asks nDPI for the protocol and the risks of flows: the keywords
 * `ndpi-protocol` and `ndpi-risk`, and the object `ndpi` in records, as Suricata's plugin has them.
 * For libndpi 4.2. */
#include <ids/plugin.h>

#include <errno.h>
#include <ndpi_api.h>
#include <stdio.h>
#include <stdlib.h>

/* Packets after which nDPI guesses, as in Suricata. */
enum { UDP_PACKETS = 8, TCP_PACKETS = 24 };

static const struct ids_api *ids;
/* For names, in all threads: nothing writes to it after load(). */
static struct ndpi_detection_module_struct *names;

struct ndpi_watched {
    struct ndpi_flow_struct flow;
    ndpi_protocol found;
    uint32_t packets;
    bool is_done;
};

/* The risks of this version, in the order of their numbers. */
#define RISK(name) [name] = #name
static const char *const risks[NDPI_MAX_RISK] = {
    RISK(NDPI_URL_POSSIBLE_XSS), RISK(NDPI_URL_POSSIBLE_SQL_INJECTION),
    RISK(NDPI_URL_POSSIBLE_RCE_INJECTION), RISK(NDPI_BINARY_APPLICATION_TRANSFER),
    RISK(NDPI_KNOWN_PROTOCOL_ON_NON_STANDARD_PORT), RISK(NDPI_TLS_SELFSIGNED_CERTIFICATE),
    RISK(NDPI_TLS_OBSOLETE_VERSION), RISK(NDPI_TLS_WEAK_CIPHER),
    RISK(NDPI_TLS_CERTIFICATE_EXPIRED), RISK(NDPI_TLS_CERTIFICATE_MISMATCH),
    RISK(NDPI_HTTP_SUSPICIOUS_USER_AGENT), RISK(NDPI_HTTP_NUMERIC_IP_HOST),
    RISK(NDPI_HTTP_SUSPICIOUS_URL), RISK(NDPI_HTTP_SUSPICIOUS_HEADER),
    RISK(NDPI_TLS_NOT_CARRYING_HTTPS), RISK(NDPI_SUSPICIOUS_DGA_DOMAIN),
    RISK(NDPI_MALFORMED_PACKET), RISK(NDPI_SSH_OBSOLETE_CLIENT_VERSION_OR_CIPHER),
    RISK(NDPI_SSH_OBSOLETE_SERVER_VERSION_OR_CIPHER), RISK(NDPI_SMB_INSECURE_VERSION),
    RISK(NDPI_TLS_SUSPICIOUS_ESNI_USAGE), RISK(NDPI_UNSAFE_PROTOCOL),
    RISK(NDPI_DNS_SUSPICIOUS_TRAFFIC), RISK(NDPI_TLS_MISSING_SNI),
    RISK(NDPI_HTTP_SUSPICIOUS_CONTENT), RISK(NDPI_RISKY_ASN), RISK(NDPI_RISKY_DOMAIN),
    RISK(NDPI_MALICIOUS_JA3), RISK(NDPI_MALICIOUS_SHA1_CERTIFICATE),
    RISK(NDPI_DESKTOP_OR_FILE_SHARING_SESSION), RISK(NDPI_TLS_UNCOMMON_ALPN),
    RISK(NDPI_TLS_CERT_VALIDITY_TOO_LONG), RISK(NDPI_TLS_SUSPICIOUS_EXTENSION),
    RISK(NDPI_TLS_FATAL_ALERT), RISK(NDPI_SUSPICIOUS_ENTROPY), RISK(NDPI_CLEAR_TEXT_CREDENTIALS),
    RISK(NDPI_DNS_LARGE_PACKET), RISK(NDPI_DNS_FRAGMENTED), RISK(NDPI_INVALID_CHARACTERS),
    RISK(NDPI_POSSIBLE_EXPLOIT), RISK(NDPI_TLS_CERTIFICATE_ABOUT_TO_EXPIRE),
};

/* --- packets ---------------------------------------------------------------------------------- */

static void *detection_new(void)
{
    struct ndpi_detection_module_struct *module = ndpi_init_detection_module(ndpi_no_prefs);
    NDPI_PROTOCOL_BITMASK all;

    if (module == NULL)
        return NULL;
    NDPI_BITMASK_SET_ALL(all);
    ndpi_set_protocol_detection_bitmask2(module, &all);
    ndpi_finalize_initialization(module);
    return module;
}

static void detection_free(void *module)
{
    if (module != NULL)
        ndpi_exit_detection_module(module);
}

static bool is_known(ndpi_protocol p)
{
    return p.master_protocol != NDPI_PROTOCOL_UNKNOWN || p.app_protocol != NDPI_PROTOCOL_UNKNOWN;
}

/* Fragments have no flow here; a frame may be longer than what nDPI can take. */
static void ndpi_packet(void *module, void *flow_data, const struct ids_packet *packet)
{
    struct ids_slice bytes = ids->network(packet);
    struct ndpi_watched *w = flow_data;
    struct ids_ends ends;
    uint8_t guessed;

    if (module == NULL || w->is_done || bytes.len == 0 || bytes.len > UINT16_MAX)
        return;
    ids->packet_ends(packet, &ends);
    w->packets++;
    w->found = ndpi_detection_process_packet(module, &w->flow, bytes.data,
                                             (unsigned short)bytes.len,
                                             ids->time_us(packet) / 1000);
    if (is_known(w->found)) {
        w->is_done = !ndpi_extra_dissection_possible(module, &w->flow);
    } else if (w->packets > (ends.proto == 17 ? UDP_PACKETS : TCP_PACKETS)) {
        w->found = ndpi_detection_giveup(module, &w->flow, 1, &guessed);
        w->is_done = true;
    }
}

static void ndpi_flow_end(void *flow_data)
{
    ndpi_free_flow_data(&((struct ndpi_watched *)flow_data)->flow);
}

/* --- records ---------------------------------------------------------------------------------- */

static void log_text(struct ids_json *json, const char *key, const char *text)
{
    if (text != NULL)
        ids->json_text(json, key, (struct ids_slice){ (const uint8_t *)text,
                                                      (uint32_t)strlen(text) });
}

static void log_risk(struct ids_json *json, unsigned number)
{
    const ndpi_risk_info *info = ndpi_risk2severity((ndpi_risk_enum)number);
    uint16_t client = 0, server = 0, total = ndpi_risk2score(1ULL << number, &client, &server);
    char key[16];

    snprintf(key, sizeof(key), "%u", number);
    ids->json_object(json, key);
    log_text(json, "risk", ndpi_risk2str((ndpi_risk_enum)number));
    if (info != NULL)
        log_text(json, "severity", ndpi_severity2str(info->severity));
    ids->json_object(json, "risk_score");
    ids->json_number(json, "total", total);
    ids->json_number(json, "client", client);
    ids->json_number(json, "server", server);
    ids->json_end(json);
    ids->json_end(json);
}

/* Behind the object that begins at `at`; NULL: it has no end. */
static const char *end_of_object(const char *at, const char *end)
{
    unsigned depth = 0;
    bool quoted = false;

    for (; at < end; at++) {
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && *at == '{')
            depth++;
        else if (!quoted && *at == '}' && --depth == 0)
            return at + 1;
    }
    return NULL;
}

/* What nDPI knows of single protocols: {"ndpi":{...},"http":{...}}. Later versions write these
 * objects into "ndpi", as Suricata's records have them; the first object is what ndpi_log() has
 * written, in the form of those versions. */
static void log_protocols(struct ids_json *json, const char *text, uint32_t len)
{
    const char *end = text + len, *first = len > 1 ? memchr(text + 1, '{', len - 1) : NULL;
    const char *rest = first != NULL ? end_of_object(first, end) : NULL;

    if (rest == NULL || end - rest < 3 || *rest != ',')
        return;
    ids->json_members(json, (struct ids_slice){ (const uint8_t *)rest + 1,
                                                (uint32_t)(end - rest - 2) });
}

/* nDPI only reads the flow here, although it takes it for writing. */
static void log_dpi(const struct ndpi_watched *w, struct ids_json *json)
{
    ndpi_serializer serializer;
    uint32_t len = 0;
    const char *text;

    if (ndpi_init_serializer(&serializer, ndpi_serialization_format_json) != 0)
        return;
    if (ndpi_dpi2json(names, (struct ndpi_flow_struct *)(uintptr_t)&w->flow, w->found,
                      &serializer) == 0 &&
        (text = ndpi_serializer_get_buffer(&serializer, &len)) != NULL)
        log_protocols(json, text, len);
    ndpi_term_serializer(&serializer);
}

static bool ndpi_log(const void *flow_data, struct ids_json *json)
{
    const struct ndpi_watched *w = flow_data;
    uint16_t proto = w->found.app_protocol != NDPI_PROTOCOL_UNKNOWN ? w->found.app_protocol
                                                                    : w->found.master_protocol;
    char text[64];

    if (w->flow.risk != 0) {
        ids->json_object(json, "flow_risk");
        for (unsigned i = 1; i < NDPI_MAX_RISK; i++)
            if (w->flow.risk >> i & 1)
                log_risk(json, i);
        ids->json_end(json);
    }
    log_text(json, "proto", ndpi_protocol2name(names, w->found, text, sizeof(text)));
    log_text(json, "proto_id", ndpi_protocol2id(names, w->found, text, sizeof(text)));
    log_text(json, "breed",
             ndpi_get_proto_breed_name(names, ndpi_get_proto_breed(names, proto)));
    if (w->found.category != NDPI_PROTOCOL_CATEGORY_UNSPECIFIED) {
        ids->json_number(json, "category_id", w->found.category);
        log_text(json, "category", ndpi_category_get_name(names, w->found.category));
    }
    log_dpi(w, json);
    return true;
}

static const struct ids_watcher ndpi = {
    .name = "ndpi", .flow_size = sizeof(struct ndpi_watched),
    .thread_open = detection_new, .thread_close = detection_free,
    .packet = ndpi_packet, .flow_free = ndpi_flow_end, .log = ndpi_log,
};

/* --- keywords --------------------------------------------------------------------------------- */

struct protocol_argument { uint16_t first, second; bool negated; };
struct risk_argument { uint64_t risks; bool negated; };

static const struct ndpi_watched *watched(const struct ids_packet *packet)
{
    const struct ids_flow *flow = ids->flow(packet);

    return flow != NULL ? ids->watched(flow, &ndpi) : NULL;
}

/* Takes "!" and copies the rest, ended by NUL. */
static bool copy_value(struct ids_value value, char *out, size_t size, bool *negated)
{
    *negated = value.len > 0 && value.text[0] == '!';
    if (value.len - *negated == 0 || value.len - *negated >= size)
        return false;
    memcpy(out, value.text + *negated, value.len - *negated);
    out[value.len - *negated] = '\0';
    return true;
}

/* "TLS", or "TLS.YouTube": both. */
static int protocol_parse(struct ids_value value, void *argument, struct ids_error *error)
{
    struct protocol_argument *a = argument;
    char text[128], *dot;
    int first, second = NDPI_PROTOCOL_UNKNOWN;

    if (!copy_value(value, text, sizeof(text), &a->negated))
        return ids->fail(error, "expected a protocol of nDPI");
    first = ndpi_get_protocol_id(names, text);
    dot = strchr(text, '.');
    if (first < 0 && dot != NULL) {     /* some names have a dot in them */
        *dot = '\0';
        first = ndpi_get_protocol_id(names, text);
        second = ndpi_get_protocol_id(names, dot + 1);
    }
    if (first < 0 || second < 0)
        return ids->fail(error, "nDPI knows no protocol \"%.*s\"", (int)value.len, value.text);
    a->first = (uint16_t)first;
    a->second = (uint16_t)second;
    return 0;
}

static bool has_protocol(ndpi_protocol found, uint16_t proto)
{
    return proto == NDPI_PROTOCOL_UNKNOWN || found.master_protocol == proto ||
           found.app_protocol == proto;
}

/* A rule has one protocol, or several that it excludes. */
static bool protocol_excludes(const void *argument, const void *earlier)
{
    const struct protocol_argument *a = argument, *b = earlier;

    return !a->negated || !b->negated || (a->first == b->first && a->second == b->second);
}

/* Nothing matches, negated or not, before nDPI has all that it looks for, or has given up. */
static bool protocol_match(const struct ids_packet *packet, const void *argument)
{
    const struct protocol_argument *a = argument;
    const struct ndpi_watched *w = watched(packet);

    if (w == NULL || !w->is_done)
        return false;
    return (has_protocol(w->found, a->first) && has_protocol(w->found, a->second)) != a->negated;
}

static int risk_of(const char *name)
{
    for (int i = 1; i < NDPI_MAX_RISK; i++)
        if (risks[i] != NULL && strcmp(risks[i], name) == 0)
            return i;
    return -1;
}

/* A mask such as 4096, as the sum of 2^N for risks of number N. */
static bool risk_mask(const char *text, uint64_t *risks)
{
    char *end;

    errno = 0;
    *risks = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* The same risks twice. */
static bool risk_excludes(const void *argument, const void *earlier)
{
    return ((const struct risk_argument *)argument)->risks ==
           ((const struct risk_argument *)earlier)->risks;
}

/* "NDPI_TLS_WEAK_CIPHER,NDPI_MALICIOUS_JA3": all of them. */
static int risk_parse(struct ids_value value, void *argument, struct ids_error *error)
{
    struct risk_argument *a = argument;
    char text[1024], *save, *name;
    int number;

    if (!copy_value(value, text, sizeof(text), &a->negated))
        return ids->fail(error, "expected risks of nDPI");
    if (text[0] >= '0' && text[0] <= '9')
        return risk_mask(text, &a->risks) && a->risks != 0
                   ? 0 : ids->fail(error, "expected a mask of risks, found \"%s\"", text);
    for (name = strtok_r(text, ", ", &save); name != NULL; name = strtok_r(NULL, ", ", &save)) {
        number = risk_of(name);
        if (number < 0)
            return ids->fail(error, "nDPI knows no risk \"%s\"", name);
        a->risks |= 1ULL << number;
    }
    return a->risks != 0 ? 0 : ids->fail(error, "expected risks of nDPI");
}

static bool risk_match(const struct ids_packet *packet, const void *argument)
{
    const struct risk_argument *a = argument;
    const struct ndpi_watched *w = watched(packet);

    if (w == NULL || !w->is_done)
        return false;
    return ((w->flow.risk & a->risks) == a->risks) != a->negated;
}

static const struct ids_keyword protocol_keyword = {
    .name = "ndpi-protocol", .doc = "the protocol that nDPI finds",
    .argument_size = sizeof(struct protocol_argument),
    .parse = protocol_parse, .excludes = protocol_excludes, .match = protocol_match,
};
static const struct ids_keyword risk_keyword = {
    .name = "ndpi-risk", .doc = "risks of the flow that nDPI finds",
    .argument_size = sizeof(struct risk_argument), .parse = risk_parse,
    .excludes = risk_excludes, .match = risk_match,
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    names = detection_new();
    if (names == NULL)
        return ids->fail(ids->error(engine), "nDPI does not start");
    if (ids->add_watcher(engine, &ndpi) < 0 || ids->add_keyword(engine, &protocol_keyword) < 0)
        return -1;
    return ids->add_keyword(engine, &risk_keyword);
}

IDS_PLUGIN("ndpi", "1.0", load);
