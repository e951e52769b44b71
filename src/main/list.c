/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/list.c - prints the registration lists (--list-..., --build-info). Tools such as
 * suricata-update read some of them, so titles and words are Suricata's where it has them. */
#include "config.h"

#include "main/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/proto.h"
#include "base/report/log.h"
#include "base/system/cpu.h"
#include "base/version.h"
#include "capture/capture.h"
#include "detect/rule/keyword.h"
#include "engine/run_mode.h"
#include "main/libraries.h"
#include "match/mpm_ngram.h"

static void print_line(const char *line, void *arg)
{
    (void)arg;
    puts(line);
}

/* --- keywords ----------------------------------------------------------------------------- */

/* An unknown name is an error, so that a script notices it. */
int list_keywords(const char *which)
{
    if (keyword_list_print(which != NULL ? which : "", print_line, NULL) == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "there is no keyword \"%s\"\n", which);
    return EXIT_FAILURE;
}

/* --- run modes ---------------------------------------------------------------------------- */

/* A run mode from the configuration is allowed with every capture. */
static bool capture_allows(const struct capture_ops *c, const struct run_mode *mode)
{
    if (mode->is_user)
        return true;
    for (unsigned i = 0; c->run_modes[i] != NULL; i++)
        if (strcmp(c->run_modes[i], mode->name) == 0)
            return true;
    return false;
}

static void list_modes_of(const struct capture_ops *capture, const char *label,
                          const struct run_modes *modes)
{
    for (unsigned i = 0; i < run_modes_count(modes); i++) {
        const struct run_mode *mode = run_modes_at(modes, i);
        bool is_default = strcmp(capture->default_run_mode, mode->name) == 0;

        if (capture_allows(capture, mode))
            printf("%-16s %-12s %-9s %s\n", label, mode->name, is_default ? "yes" : "",
                   mode->doc != NULL ? mode->doc : "");
    }
}

int list_run_modes(const struct conf_node *root)
{
    struct err err = { 0 };
    struct run_modes *modes = run_modes_new(root, &err);

    if (modes == NULL) {
        log_err(LOG_LEVEL_ERROR, "ids", &err);
        return EXIT_FAILURE;
    }
    printf("%-16s %-12s %-9s %s\n", "Capture", "Run mode", "Default", "What it does");
    for (unsigned c = 0; capture_table[c] != NULL; c++)
        list_modes_of(capture_table[c], capture_table[c]->label, modes);
    /* Captures by command are files, so they have the same run modes. */
    list_modes_of(capture_find("pcap-file"), "UNIX_SOCKET", modes);
    run_modes_free(modes);
    return EXIT_SUCCESS;
}

/* --- protocols ---------------------------------------------------------------------------- */

int list_protos(void)
{
    printf("=========Supported App Layer Protocols=========\n");
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto != NULL)
            printf("%s\n", proto->name);
    }
    return EXIT_SUCCESS;
}

/* Those that are no application's: --list-app-layer-protos has the others. */
int list_rule_protos(void)
{
    const char *name;

    for (unsigned i = 0; (name = rule_header_proto(i)) != NULL; i++)
        puts(name);
    return EXIT_SUCCESS;
}

static void list_proto_hooks(const struct app_proto *proto, enum direction d, const char *start,
                             const char *done)
{
    const char *name = app_proto_rule_name(proto);

    printf("%s:%s\n", name, start);
    for (const struct app_name *n = proto->progress_names[d]; n != NULL && n->name != NULL; n++)
        if (strcmp(n->name, start) != 0 && strcmp(n->name, done) != 0)
            printf("%s:%s\n", name, n->name);
    printf("%s:%s\n", name, done);
}

/* The states of one kind of transactions. */
static void list_kind_hooks(const struct app_proto *proto, const struct app_tx_kind *kind)
{
    for (unsigned d = TO_SERVER; d <= TO_CLIENT; d++)
        for (const struct app_name *n = kind->progress_names[d]; n->name != NULL; n++)
            printf("%s:%s:%s\n", app_proto_rule_name(proto), kind->name, n->name);
}

int list_hooks(void)
{
    printf("=========Supported App Layer Hooks=========\n");
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto == NULL)
            continue;
        list_proto_hooks(proto, TO_SERVER, "request_started", "request_complete");
        list_proto_hooks(proto, TO_CLIENT, "response_started", "response_complete");
        for (unsigned i = 0; proto->tx_kinds != NULL && proto->tx_kinds[i].name != NULL; i++)
            list_kind_hooks(proto, &proto->tx_kinds[i]);
    }
    return EXIT_SUCCESS;
}

/* The frame "stream" exists only over TCP. */
int list_frames(void)
{
    printf("=========Supported App Layer Frames=========\n");
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);
        const char *name;

        if (proto == NULL || proto->frames == NULL)
            continue;
        name = app_proto_rule_name(proto);
        for (unsigned i = 0; proto->frames[i] != NULL; i++) {
            if (proto->transports & APP_TCP)
                printf("tcp: %s.%s\n", name, proto->frames[i]);
            if ((proto->transports & APP_UDP) && strcmp(proto->frames[i], "stream") != 0)
                printf("udp: %s.%s\n", name, proto->frames[i]);
        }
    }
    return EXIT_SUCCESS;
}

/* --- the build ---------------------------------------------------------------------------- */

#ifdef HAVE_NFQ
#define WITH_NFQ "yes"
#else
#define WITH_NFQ "no"
#endif
#ifdef HAVE_NFLOG
#define WITH_NFLOG "yes"
#else
#define WITH_NFLOG "no"
#endif
#ifdef HAVE_XDP
#define WITH_XDP "yes"
#else
#define WITH_XDP "no"
#endif
#ifdef HAVE_BROTLI
#define WITH_BROTLI "yes"
#else
#define WITH_BROTLI "no"
#endif
#ifdef HAVE_ZSTD
#define WITH_ZSTD "yes"
#else
#define WITH_ZSTD "no"
#endif
#ifdef HAVE_LZ4
#define WITH_LZ4 "yes"
#else
#define WITH_LZ4 "no"
#endif
#ifdef HAVE_MAGIC
#define WITH_MAGIC "yes"
#else
#define WITH_MAGIC "no"
#endif
#ifdef HAVE_DPDK
#define WITH_DPDK "yes"
#else
#define WITH_DPDK "no"
#endif
#ifdef HAVE_LUA
#define WITH_LUA "yes"
#else
#define WITH_LUA "no"
#endif
#ifdef HAVE_MAXMINDDB
#define WITH_GEOIP "yes"
#else
#define WITH_GEOIP "no"
#endif
#ifdef HAVE_HIREDIS
#define WITH_HIREDIS "yes"
#else
#define WITH_HIREDIS "no"
#endif
#ifdef HAVE_HS
#define WITH_HS "yes"
#else
#define WITH_HS "no"
#endif
#ifdef HAVE_CAPNG
#define WITH_CAPNG "yes"
#else
#define WITH_CAPNG "no"
#endif
#ifdef HAVE_SYSTEMD
#define WITH_SYSTEMD "yes"
#else
#define WITH_SYSTEMD "no"
#endif

/* A row: our name, whether it is built in, the word in Suricata's line "Features:", and
 * the label in its lines "... support:". NULL: Suricata has none. */
static const struct { const char *name, *have, *word, *label; } features[] = {
    { "AF_PACKET", "yes", "AF_PACKET", "AF_PACKET" },
    { "NFQueue", WITH_NFQ, "NFQ", "NFQueue" },
    { "NFLOG", WITH_NFLOG, NULL, "NFLOG" },
    { "AF_XDP", WITH_XDP, "EBPF", "AF_XDP" },
    { "DPDK", WITH_DPDK, NULL, "DPDK" },
    { "Hyperscan", WITH_HS, NULL, "Hyperscan" },
    { "PCRE2 JIT", "yes", "PCRE_JIT", "PCRE jit" },
    { "libhtp", "yes", "HAVE_HTP_URI_NORMALIZE_HOOK", NULL },
    { "hwloc", "yes", NULL, "Hwloc" },
    { "brotli", WITH_BROTLI, NULL, NULL },
    { "zstd", WITH_ZSTD, NULL, NULL },
    { "liblz4", WITH_LZ4, NULL, "liblz4" },
    { "libmagic", WITH_MAGIC, "MAGIC", "libmagic" },
    { "Lua", WITH_LUA, "HAVE_LUA", NULL },
    { "GeoIP2", WITH_GEOIP, NULL, "GeoIP2" },
    { "hiredis", WITH_HIREDIS, NULL, "hiredis" },
    { "libcap_ng", WITH_CAPNG, "LIBCAP_NG", NULL },
    { "Systemd", WITH_SYSTEMD, NULL, "Systemd" },
};

/* Words that tools look for and that do not name a library here: JA3 and JA4 (suricata-update
 * disables their rules without HAVE_NSS), parsers that Suricata has in Rust, JSON, the control
 * socket. */
#define ALWAYS_THERE "HAVE_PACKET_FANOUT PCAP_SET_BUFF HAVE_NSS HTTP2_DECOMPRESSION HAVE_JA3 " \
                     "HAVE_JA4 HAVE_LIBJANSSON UNIX_SOCKET TLS TLS_C11 RUST"

static bool is_in(unsigned feature)
{
    return strcmp(features[feature].have, "yes") == 0;
}

/* Programs that depend on Suricata's version read the first version that they find. */
static void print_version(void)
{
    printf("This is Suricata version %s (its interface, spoken by ids)\n"
           "This is ids version %s\n", IDS_COMPATIBLE_RELEASE, IDS_VERSION);
}

int list_version(void)
{
    print_version();
    return EXIT_SUCCESS;
}

static void print_features(void)
{
    printf("Features: %s", ALWAYS_THERE);
    for (unsigned i = 0; i < ARRAY_LEN(features); i++)
        if (is_in(i) && features[i].word != NULL)
            printf(" %s", features[i].word);
    printf("\nBuilt with:");
    for (unsigned i = 0; i < ARRAY_LEN(features); i++)
        if (is_in(i))
            printf(" %s", features[i].name);
    printf("\nCompiler: %s\n\n", __VERSION__);
    for (unsigned i = 0; i < ARRAY_LEN(features); i++)
        printf("  %-40s %s\n", features[i].name, features[i].have);
}

/* Lines of Suricata's own report that other programs search for. */
static void print_for_suricata(void)
{
    static const char *const directories[][2] = {
        { "--prefix", IDS_PREFIX }, { "--sysconfdir", IDS_ETC }, { "--localstatedir", IDS_VAR },
        { "--datarootdir", IDS_SHARE },
    };
    char label[64];

    printf("\nSuricata Configuration:\n");
    for (unsigned i = 0; i < ARRAY_LEN(features); i++) {
        if (features[i].label == NULL)
            continue;
        snprintf(label, sizeof(label), "%s support:", features[i].label);
        printf("  %-40s %s\n", label, features[i].have);
    }
    for (unsigned i = 0; i < ARRAY_LEN(directories); i++)
        printf("  %-40s %s\n", directories[i][0], directories[i][1]);
}

/* Runs without a configuration. */
int list_build_info(void)
{
    print_version();
    print_features();
    printf("\n  %-40s %s\n  %-40s %s\n  %-40s %s\n", "Configuration", IDS_SYSCONFDIR "/ids.yaml",
           "Rules", IDS_DATADIR "/rules", "Logs", IDS_LOGDIR);
    printf("  %-40s %s\n  %-40s %s\n", "CPU (--cpu, IDS_CPU)", cpu_level(),
           "Search for many literals", mpm_ngram_kernel());
    printf("\nLibraries:\n");
    libraries_print();
    print_for_suricata();
    return EXIT_SUCCESS;
}

int list_features(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(features); i++)
        if (is_in(i))
            printf("%s\n", features[i].name);
    return EXIT_SUCCESS;
}

/* Runs after --set and the options are applied, so it shows the values that a run would use. */
int list_config(const struct conf *conf)
{
    conf_dump(conf, print_line, NULL);
    return EXIT_SUCCESS;
}
