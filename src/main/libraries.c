/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/libraries.c - prints the version of each library for --build-info. The libraries
 * are asked at run time, because an update of a shared library may have changed it since
 * the build. Only where a library has no such call does the header's version stand in, and
 * the line says so. */
#include "config.h"

#include "main/libraries.h"

#include <hs/hs.h>
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
#ifdef HAVE_MICROHTTPD
#include <microhttpd.h>
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
    print_text("libhs", hs_version(), "");
    print_text("libcrypto", OpenSSL_version(OPENSSL_VERSION), "");
    print_text("libnghttp2", nghttp2_version(0)->version_str, "");
    print_text("zlib", zlibVersion(), "");
    print_text("liblzma", lzma_version_string(), "");
    print_text("libhtp", htp_get_version(), HTP_LINKAGE);
}

/* Brotli packs its version as 8, 12 and 12 bits (BrotliDecoderVersion). */
static void print_decoders(void)
{
#ifdef HAVE_BROTLI
    uint32_t brotli = BrotliDecoderVersion();

    print_triple("brotli", brotli >> 24, brotli >> 12 & 0xfff, brotli & 0xfff);
#endif
#ifdef HAVE_ZSTD
    print_text("zstd", ZSTD_versionString(), "");
#endif
#ifdef HAVE_LZ4
    print_text("liblz4", LZ4_versionString(), "");
#endif
}

/* libmagic and mimalloc give decimal digits: 545 is 5.45, 212 is 2.1.2. */
void libraries_print(void)
{
    print_required();
    print_decoders();
#ifdef HAVE_BPF
    print_pair("libbpf", libbpf_major_version(), libbpf_minor_version());
#endif
#ifdef HAVE_MAGIC
    print_pair("libmagic", (unsigned)magic_version() / 100, (unsigned)magic_version() % 100);
#endif
#ifdef HAVE_LUA
    print_text("Lua (headers)", LUA_RELEASE, "");
#endif
#ifdef HAVE_MAXMINDDB
    print_text("libmaxminddb", MMDB_lib_version(), "");
#endif
#ifdef HAVE_HIREDIS
    print_triple("hiredis (headers)", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
#endif
#ifdef HAVE_MICROHTTPD
    print_text("libmicrohttpd", MHD_get_version(), "");
#endif
#ifdef HAVE_RDKAFKA
    print_text("librdkafka", rd_kafka_version_str(), "");
#endif
#ifdef HAVE_MIMALLOC
    print_triple("mimalloc", (unsigned)mi_version() / 100, (unsigned)mi_version() / 10 % 10,
                 (unsigned)mi_version() % 10);
#endif
}
