/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/libraries.c - prints the version of each library for --build-info.
 *
 * The versions are those at run time, because an update of a shared library may have changed one
 * since the build. A library without such a function shows its header's version, and the line
 * says so. */
#include "config.h"

#include "main/libraries.h"

#include "base/system/late_library.h"

#include <htp/htp.h>
#include <hwloc.h>
#include <jansson.h>
#include <lzma.h>
#include <nghttp2/nghttp2.h>
#include <openssl/crypto.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <yaml.h>
#include <zlib.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#ifdef HAVE_BROTLI
#include <brotli/decode.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_BPF
/* libbpf.h does not go with pcap.h: both define struct bpf_insn. */
unsigned libbpf_major_version(void);
unsigned libbpf_minor_version(void);
#endif
#ifdef HAVE_MAGIC
#include <magic.h>
#endif
#ifdef HAVE_LUA
#include <lua.h>
#endif
#ifdef HAVE_MAXMINDDB
#include <maxminddb.h>
#endif
#ifdef HAVE_HIREDIS
#include <hiredis/hiredis.h>
#endif
#ifdef HAVE_RDKAFKA
#include <librdkafka/rdkafka.h>
#endif
#ifdef HAVE_MIMALLOC
int mi_version(void);
#endif

/* An archive of libhtp that the build was given, instead of the system's shared library. */
#ifdef HAVE_HTP_ARCHIVE
#define HTP_LINKAGE " (linked in)"
#else
#define HTP_LINKAGE ""
#endif

/* The column is that of Suricata's --build-info. */
static void print_text(const char *name, const char *version, const char *linkage)
{
    printf("  %-40s %s%s\n", name, version, linkage);
}

static void print_pair(const char *name, unsigned major, unsigned minor)
{
    printf("  %-40s %u.%u\n", name, major, minor);
}

static void print_triple(const char *name, unsigned major, unsigned minor, unsigned patch)
{
    printf("  %-40s %u.%u.%u\n", name, major, minor, patch);
}

/* A library that other runs may never load. */
static void print_late(const char *name, const char *file, const char *function)
{
    const struct late_function list[] = { { function, 0 }, { NULL, 0 } };
    const char *(*version)(void);
    struct err err;

    print_text(name, late_library_load(file, list, &version, &err) == 0 ? version()
                                                                        : "not installed", "");
}

/* Libraries without which the program cannot be built. */
static void print_required(void)
{
    char pcre[64] = "";
    unsigned hwloc = hwloc_get_api_version();

    (void)pcre2_config(PCRE2_CONFIG_VERSION, pcre);
    print_text("libyaml", yaml_get_version_string(), "");
    print_text("libpcap", pcap_lib_version(), "");
    print_text("libpcre2", pcre, "");
    print_text("jansson", jansson_version_str(), "");
    print_triple("hwloc (interface)", hwloc >> 16, hwloc >> 8 & 0xff, hwloc & 0xff);
    print_text("libcrypto", OpenSSL_version(OPENSSL_VERSION), "");
    print_text("libnghttp2", nghttp2_version(0)->version_str, "");
    print_text("zlib", zlibVersion(), "");
    print_text("liblzma", lzma_version_string(), "");
    print_text("libhtp", htp_get_version(), HTP_LINKAGE);
}

#ifdef HAVE_HS
static void print_hs(void)
{
    print_late("libhs", HS_FILE, "hs_version");
}
#endif

#ifdef HAVE_BROTLI
/* Brotli packs its version as 8, 12 and 12 bits (BrotliDecoderVersion). */
static void print_brotli(void)
{
    uint32_t version = BrotliDecoderVersion();

    print_triple("brotli", version >> 24, version >> 12 & 0xfff, version & 0xfff);
}
#endif

#ifdef HAVE_ZSTD
static void print_zstd(void) { print_text("zstd", ZSTD_versionString(), ""); }
#endif

#ifdef HAVE_LZ4
static void print_lz4(void) { print_text("liblz4", LZ4_versionString(), ""); }
#endif

#ifdef HAVE_BPF
static void print_bpf(void)
{
    print_pair("libbpf", libbpf_major_version(), libbpf_minor_version());
}
#endif

#ifdef HAVE_MAGIC
/* Decimal digits: 545 is 5.45. */
static void print_magic(void)
{
    print_pair("libmagic", (unsigned)magic_version() / 100, (unsigned)magic_version() % 100);
}
#endif

#ifdef HAVE_LUA
static void print_lua(void) { print_text("Lua (headers)", LUA_RELEASE, ""); }
#endif

#ifdef HAVE_MAXMINDDB
static void print_maxminddb(void) { print_text("libmaxminddb", MMDB_lib_version(), ""); }
#endif

#ifdef HAVE_HIREDIS
static void print_hiredis(void)
{
    print_triple("hiredis (headers)", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}
#endif

#ifdef HAVE_MICROHTTPD
static void print_microhttpd(void)
{
    print_late("libmicrohttpd", MICROHTTPD_FILE, "MHD_get_version");
}
#endif

#ifdef HAVE_RDKAFKA
static void print_rdkafka(void) { print_text("librdkafka", rd_kafka_version_str(), ""); }
#endif

#ifdef HAVE_MIMALLOC
/* Decimal digits: 212 is 2.1.2. */
static void print_mimalloc(void)
{
    print_triple("mimalloc", (unsigned)mi_version() / 100, (unsigned)mi_version() / 10 % 10,
                 (unsigned)mi_version() % 10);
}
#endif

static void (*const printers[])(void) = {
    print_required,
#ifdef HAVE_HS
    print_hs,
#endif
#ifdef HAVE_BROTLI
    print_brotli,
#endif
#ifdef HAVE_ZSTD
    print_zstd,
#endif
#ifdef HAVE_LZ4
    print_lz4,
#endif
#ifdef HAVE_BPF
    print_bpf,
#endif
#ifdef HAVE_MAGIC
    print_magic,
#endif
#ifdef HAVE_LUA
    print_lua,
#endif
#ifdef HAVE_MAXMINDDB
    print_maxminddb,
#endif
#ifdef HAVE_HIREDIS
    print_hiredis,
#endif
#ifdef HAVE_MICROHTTPD
    print_microhttpd,
#endif
#ifdef HAVE_RDKAFKA
    print_rdkafka,
#endif
#ifdef HAVE_MIMALLOC
    print_mimalloc,
#endif
};

void libraries_print(void)
{
    for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++)
        printers[i]();
}
