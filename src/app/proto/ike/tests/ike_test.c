/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define SPIS(responder) "\0\0\0\0\0\0\0\1" responder
#define NOBODY "\0\0\0\0\0\0\0\0"
#define PEER "\0\0\0\0\0\0\0\2"

/* Main mode: one proposal with AES-128, SHA, pre-shared key, group 2; a vendor. */
#define TRANSFORM "\0\0\0\x24\1\1\0\0" "\x80\1\0\7" "\x80\2\0\2" "\x80\3\0\1" "\x80\4\0\2" \
                  "\x80\x0e\0\x80" "\0\x0c\0\4\0\1\x51\x80"
#define SA(next) next "\0\0\x38\0\0\0\1\0\0\0\1" "\0\0\0\x2c\1\1\0\1" TRANSFORM
#define MAIN_1 SPIS(NOBODY) "\1\x10\2\0" "\0\0\0\0" "\0\0\0\x5c" SA("\x0d") "\0\0\0\x08\xde\xad\xbe\xef"
#define MAIN_2 SPIS(PEER) "\1\x10\2\0" "\0\0\0\0" "\0\0\0\x54" SA("\0")

TEST(ike_main_mode)
{
    static const struct split_step steps[] = { SPLIT_TS(MAIN_1), SPLIT_TC(MAIN_2) };
    const struct split_case c = { .udp = true, .port = 500, .steps = steps, .count = 2 };

#define ATTRIBUTES "\"alg_enc\":\"EncAesCbc\",\"alg_enc_raw\":7,\"alg_hash\":\"HashSha\"," \
    "\"alg_hash_raw\":2,\"alg_auth\":\"AuthPreSharedKey\",\"alg_auth_raw\":1," \
    "\"alg_dh\":\"GroupAlternate1024BitModpGroup\",\"alg_dh_raw\":2,\"sa_key_length\":\"Unknown\"," \
    "\"sa_key_length_raw\":128,\"sa_life_duration\":\"Unknown\",\"sa_life_duration_raw\":86400"
    split_expect(t, &c,
        "tx 0 ike {\"ike\":{\"version_major\":1,\"version_minor\":0,\"init_spi\":"
        "\"0000000000000001\",\"resp_spi\":\"0000000000000000\",\"message_id\":0,"
        "\"exchange_type\":2,\"payload\":[\"SecurityAssociation\",\"Proposal\",\"Transform\","
        "\"VendorID\"],\"ikev1\":{\"doi\":1,\"encrypted_payloads\":false,\"client\":{"
        "\"proposals\":[{" ATTRIBUTES "}]},\"server\":{},\"vendor_ids\":[\"deadbeef\"]}}}\n"
        "tx 1 ike {\"ike\":{\"version_major\":1,\"version_minor\":0,\"init_spi\":"
        "\"0000000000000001\",\"resp_spi\":\"0000000000000002\",\"message_id\":0,"
        "\"exchange_type\":2," ATTRIBUTES ",\"payload\":[\"SecurityAssociation\",\"Proposal\","
        "\"Transform\"],\"ikev1\":{\"doi\":1,\"encrypted_payloads\":false,\"client\":{},"
        "\"server\":{}}}}\n"
        "flow ike ike ike\n");
}

/* IKE_SA_INIT: 3DES, HMAC-MD5 twice, group 1; one notification. */
#define INIT(responder, flags) SPIS(responder) "\x21\x20\x22" flags "\0\0\0\0" "\0\0\0\x58" \
    "\x22\0\0\x2c" "\0\0\0\x28\1\1\0\4" "\3\0\0\x08\1\0\0\3" "\3\0\0\x08\2\0\0\1" \
    "\3\0\0\x08\3\0\0\1" "\0\0\0\x08\4\0\0\1" "\x29\0\0\x08\0\1\0\0" "\0\0\0\x08\0\0\0\x0e"

TEST(ike_weak_sa_init)
{
    static const struct split_step steps[] = {
        SPLIT_TS(INIT(NOBODY, "\x08")), SPLIT_TC(INIT(PEER, "\x20")) };
    const struct split_case c = { .udp = true, .port = 500, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "\"role\":\"initiator\",\"payload\":[\"SecurityAssociation\","
                       "\"KeyExchange\",\"Notify\",\"NoNextPayload\"],\"ikev2\":{\"errors\":1,"
                       "\"notify\":[\"NO_PROPOSAL_CHOSEN\"]}") != NULL);
    CHECK(strstr(text, "\"role\":\"responder\",\"alg_enc\":\"ENCR_3DES\",\"alg_auth\":"
                       "\"AUTH_HMAC_MD5_96\",\"alg_prf\":\"PRF_HMAC_MD5\",\"alg_dh\":\"Modp768\","
                       "\"alg_esn\":\"NoESN\"") != NULL);
    CHECK(strstr(text, "tx 1 event weak_crypto_enc\n") != NULL);
    CHECK(strstr(text, "tx 1 event weak_crypto_prf\n") != NULL);
    CHECK(strstr(text, "tx 1 event weak_crypto_auth\n") != NULL);
    CHECK(strstr(text, "tx 1 event weak_crypto_dh\n") != NULL);
    CHECK(strstr(text, "event weak_crypto_no_dh") == NULL);
    free(text);
}

/* A proposal of AH with a transform of no known type and nothing else. */
TEST(ike_odd_proposals)
{
    static const struct split_step steps[] = {
        SPLIT_TS(SPIS(NOBODY) "\x21\x20\x22\x08" "\0\0\0\0" "\0\0\0\x38"
                 "\0\0\0\x1c" "\0\0\0\x18\1\2\0\2" "\3\0\0\x08\x09\0\0\3" "\0\0\0\x08\2\0\0\0"),
    };
    const struct split_case c = { .udp = true, .port = 500, .steps = steps, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event unknown_proposal\n") != NULL);
    CHECK(strstr(text, "event invalid_proposal\n") != NULL);
    CHECK(strstr(text, "event weak_crypto_no_dh\n") != NULL);
    CHECK(strstr(text, "event weak_crypto_no_auth\n") != NULL);
    CHECK(strstr(text, "event no_encryption\n") != NULL);
    free(text);
}

TEST(ike_extra_data_and_second_proposal)
{
    static const struct split_step steps[] = {
        SPLIT_TS(MAIN_1 "x"), SPLIT_TC(MAIN_2),
        SPLIT_TC(SPIS(PEER) "\3\x10\2\0" "\0\0\0\0" "\0\0\0\x40" TRANSFORM) };
    const struct split_case c = { .udp = true, .port = 500, .steps = steps, .count = 3 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 0 event payload_extra_data\n") != NULL);
    CHECK(strstr(text, "tx 2 event multiple_server_proposal\n") != NULL);
    free(text);
}

/* Security associations within security associations: given up, not followed down. */
TEST(ike_nesting_ends)
{
    enum { LEVELS = 1000, SIZE = 24 };
    uint8_t *data = calloc(1, 28 + LEVELS * SIZE);
    uint8_t *p = data + 28;

    memcpy(data, SPIS(NOBODY) "\1\x10\2\0", 20);
    for (unsigned left = LEVELS; left > 0; left--, p += SIZE) {
        p[2] = (uint8_t)((left * SIZE) >> 8);           /* an SA that holds all that follows */
        p[3] = (uint8_t)(left * SIZE);
        p[7] = p[11] = 1;
        p[12] = 1;                                      /* an empty proposal, then an SA */
        p[15] = 12;
    }
    const struct split_step step = { TO_SERVER, data, 28 + LEVELS * SIZE };
    const struct split_case c = { .udp = true, .port = 500, .steps = &step, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK_STRING(text, "flow ike ike unknown\n");
    free(text);
    free(data);
}
