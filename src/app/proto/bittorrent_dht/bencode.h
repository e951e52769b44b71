/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/bittorrent_dht/bencode.h - canonical bencode (BEP 3) through the cursor. */
#ifndef APP_BITTORRENT_DHT_BENCODE_H
#define APP_BITTORRENT_DHT_BENCODE_H

#include "base/text/bytes.h"

enum bencode_kind { BENCODE_INT, BENCODE_BYTES, BENCODE_LIST, BENCODE_DICT };

struct bencode {
    enum bencode_kind kind;
    int64_t number;
    struct slice bytes;         /* of a string; for a list or dictionary its contents */
};

/* Takes the next value, parsed to its end; `depth`: maximum nesting of lists and dictionaries.
 * False, and the cursor failed, for an invalid value. */
bool bencode_take(struct bytes *in, unsigned depth, struct bencode *out);
/* Takes the next pair of a dictionary. False at its end. */
bool bencode_take_pair(struct bytes *in, struct slice *key, struct bencode *value);

#endif
