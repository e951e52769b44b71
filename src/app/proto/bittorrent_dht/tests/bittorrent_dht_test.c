/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/proto/bittorrent_dht/bencode.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define ID "2:id20:abcdefghij0123456789"
#define ID_HEX "6162636465666768696a30313233343536373839"
#define PING "d1:ad" ID "e1:q4:ping1:t2:aa1:v4:UT\1\2" "1:y1:qe"
#define ANNOUNCE "d1:ad" ID "12:implied_porti1e9:info_hash4:hash4:porti6881e5:token3:tok" \
                 "e1:q13:announce_peer1:t2:ab1:y1:qe"
#define PEERS "d1:rd" ID "5:nodes26:ABCDEFGHIJKLMNOPQRST\x0a\0\0\1\x1a\xe1" \
              "6:nodes638:ABCDEFGHIJKLMNOPQRST\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\0\x50" \
              "5:token3:tok6:valuesl6:\x0a\0\0\2\0\x50" "ee1:t2:aa1:y1:re"
#define ERROR "d1:eli201e7:A Errore1:t2:aa1:y1:ee"

TEST(bittorrent_dht_messages)
{
    static const struct split_step steps[] = {
        SPLIT_TS(PING), SPLIT_TC(PEERS), SPLIT_TS(ANNOUNCE), SPLIT_TC(ERROR), SPLIT_TC("else"),
    };
    const struct split_case c = { .udp = true, .port = 6881, .steps = steps, .count = 5 };

    split_expect(t, &c,
        "tx 0 bittorrent_dht {\"bittorrent_dht\":{\"transaction_id\":\"6161\",\"client_version\":"
        "\"55540102\",\"request_type\":\"ping\",\"request\":{\"id\":\"" ID_HEX "\"}}}\n"
        "tx 1 bittorrent_dht {\"bittorrent_dht\":{\"transaction_id\":\"6161\",\"response\":{"
        "\"id\":\"" ID_HEX "\",\"nodes\":[{\"id\":\"4142434445464748494a4b4c4d4e4f5051525354\","
        "\"ip\":\"10.0.0.1\",\"port\":6881}],\"nodes6\":[{\"id\":"
        "\"4142434445464748494a4b4c4d4e4f5051525354\",\"ip\":"
        "\"2001:0db8:0000:0000:0000:0000:0000:0001\",\"port\":80}],\"values\":[{\"ip\":"
        "\"10.0.0.2\",\"port\":80}],\"token\":\"746f6b\"}}}\n"
        "tx 2 bittorrent_dht {\"bittorrent_dht\":{\"transaction_id\":\"6162\",\"request_type\":"
        "\"announce_peer\",\"request\":{\"id\":\"" ID_HEX "\",\"info_hash\":\"68617368\","
        "\"token\":\"746f6b\",\"implied_port\":1,\"port\":6881}}}\n"
        "tx 3 bittorrent_dht {\"bittorrent_dht\":{\"transaction_id\":\"6161\",\"error\":{"
        "\"num\":201,\"msg\":\"A Error\"}}}\n"
        "flow bittorrent-dht bittorrent-dht bittorrent-dht\n");
}

static void check_malformed(struct test *t, const void *data, uint32_t len)
{
    const struct split_step steps[] = { SPLIT_TS(PING), { TO_SERVER, data, len } };
    const struct split_case c = { .udp = true, .port = 6881, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 1 event malformed_packet\n") != NULL);
    CHECK(strstr(text, "tx 1 bittorrent_dht") == NULL);
    free(text);
}
#define CHECK_MALFORMED(s) check_malformed(t, (s), sizeof(s) - 1)

TEST(bittorrent_dht_malformed)
{
    CHECK_MALFORMED("d1:ad" ID "e1:q4:ping1:t2:aa1:y1:q");              /* no end */
    CHECK_MALFORMED("d1:ad5:token1:ae1:q4:ping1:t2:aa1:y1:qe");         /* no id */
    CHECK_MALFORMED("d1:ad" ID "e1:t2:aa1:q4:ping1:y1:qe");             /* keys out of order */
    CHECK_MALFORMED("d1:ad" ID "4:porti65536ee1:q4:ping1:t2:aa1:y1:qe");
    CHECK_MALFORMED("d1:ad" ID "1:xlllleeeee1:q4:ping1:t2:aa1:y1:qe");  /* too deep */
    CHECK_MALFORMED("d1:ad" ID "e1:q4:ping1:t2:aa1:y1:xe");
    CHECK_MALFORMED("d1:rd" ID "6:valuesl5:shortee1:t2:aa1:y1:re");
}

TEST(bittorrent_dht_without_transaction)
{
    static const struct split_step steps[] = { SPLIT_TS("d1:ad" ID "e1:q4:ping1:y1:qe") };
    const struct split_case c = { .udp = true, .port = 6881, .steps = steps, .count = 1 };

    split_expect(t, &c,
        "tx 0 bittorrent_dht {\"bittorrent_dht\":{\"transaction_id\":\"\",\"request_type\":"
        "\"ping\",\"request\":{\"id\":\"" ID_HEX "\"}}}\n"
        "tx 0 event malformed_packet\n"
        "flow bittorrent-dht bittorrent-dht unknown\n");
}

static bool holds(const char *text)
{
    struct bytes in = bytes_of(text, strlen(text));
    struct bencode value;

    return bencode_take(&in, 3, &value) && bytes_left(&in) == 0;
}

TEST(bencode_is_canonical)
{
    CHECK(holds("i0e") && holds("i-7e") && holds("0:") && holds("3:abc"));
    CHECK(holds("le") && holds("de") && holds("lli1eee") && holds("d1:a1:b2:ab1:ce"));
    CHECK(!holds("i-0e") && !holds("i01e") && !holds("ie") && !holds("i1") && !holds("03:abc"));
    CHECK(!holds("4:abc") && !holds("l") && !holds("d1:ae") && !holds("d1:bi1e1:ai1ee"));
    CHECK(!holds("d1:ai1e1:ai1ee") && !holds("di1ei1ee") && !holds("llllee") && !holds(""));
    CHECK(!holds("i99999999999999999999e") && !holds("99999999999999999999:a"));
}
