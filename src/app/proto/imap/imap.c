/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/imap/imap.c - IMAP (RFC 9051): detected, not parsed. */
#include "app/proto.h"

#define SERVER(text) { .transport = APP_TCP, .directions = APP_TC, .bytes = text, .nocase = true }

/* Untagged responses that servers send first (RFC 9051 section 7), and a client's CAPABILITY
 * command behind its tag. `depth` leaves 6 bytes for the tag. */
static const struct app_pattern patterns[] = {
    SERVER("* OK "), SERVER("* NO "), SERVER("* BAD "), SERVER("* LIST "), SERVER("* ESEARCH "),
    SERVER("* STATUS "), SERVER("* FLAGS "),
    { .transport = APP_TCP, .directions = APP_TS, .bytes = " CAPABILITY", .depth = 17,
      .nocase = true },
    { .bytes = NULL },
};

const struct app_proto app_imap = {
    .id = APP_PROTO_imap,
    .name = "imap",
    .transports = APP_TCP,
    .detection_only = true,     /* no transactions */
    .patterns = patterns,
};
