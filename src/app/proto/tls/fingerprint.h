/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/fingerprint.h - JA3, JA3S and JA4: fingerprints of the program that sent a hello.
 *
 * JA3 lists version, ciphers, extensions, groups and point formats in decimal, JA3S the first
 * three of a ServerHello. The fingerprint is the MD5 of that text. JA4 sorts the lists first,
 * because some browsers shuffle them. All leave out GREASE values, except JA3 over QUIC, as in
 * Suricata. */
#ifndef APP_TLS_FINGERPRINT_H
#define APP_TLS_FINGERPRINT_H

#include "app/lib/digest.h"
#include "app/proto/tls/hello.h"
#include "base/memory/arena.h"

/* The text, JA3 or JA3S by the kind of hello; in the arena. */
struct slice tls_ja3_string(const struct tls_hello *hello, struct arena *arena);
struct slice tls_ja3_string_with_grease(const struct tls_hello *hello, struct arena *arena);
/* Its MD5 in hex, in the arena; empty without MD5. */
struct slice tls_ja3_hash(struct slice string, struct digests *d, struct arena *arena);

#define TLS_JA4_LEN 36
/* Returns JA4 of a ClientHello; in the arena, which also has the space for sorting. */
struct slice tls_ja4(const struct tls_hello *hello, bool is_quic, struct digests *d,
                     struct arena *arena);

#endif
