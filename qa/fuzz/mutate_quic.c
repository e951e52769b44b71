/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/mutate_quic.c - edits the frames within protected initial packets (RFC 9001 section 5).
 *
 * A changed byte of a protected packet only fails its tag. The packet is taken apart with the keys
 * of the input's first packet, its frames are edited, and it is protected again. What cannot be
 * taken apart becomes a packet with a small client hello. */
#include "mutate.h"

#include "app/proto/quic/quic.h"

#include <openssl/evp.h>
#include <string.h>

#define PAYLOAD_MAX 1300u
#define PAYLOAD_MIN 20u                 /* the sample for header protection needs 4 and 16 */
#define HEADER_MAX 64u
#define NUMBER_SIZE 4u
#define TAG_SIZE 16u
#define FIRST_PACKET 4u                 /* behind the protocol byte and the first chunk's header */

enum frame { PADDING = 0, PING = 1, ACK = 2, CRYPTO = 6, CLOSE = 0x1c };

/* Version, random, no session, one cipher, no compression, extensions: a name, versions, ALPN. */
static const uint8_t hello[] =
    "\x01\x00\x00\x4a\x03\x03" "0123456789abcdef0123456789abcdef" "\x00\x00\x02\x13\x01\x01\x00"
    "\x00\x1f\x00\x00\x00\x0b\x00\x09\x00\x00\x06" "a.test" "\x00\x2b\x00\x03\x02\x03\x04"
    "\x00\x10\x00\x05\x00\x03\x02" "h3";
#define HELLO_LEN (sizeof(hello) - 1)

struct keys { uint32_t version; struct slice dcid; struct quic_keys keys; };

static struct quic_crypto *crypto(void)
{
    static struct quic_crypto *c;

    if (c == NULL)
        c = quic_crypto_new();
    return c;
}

static bool is_decrypted_version(uint32_t version)
{
    return version == 1 || version == QUIC_V2;
}

/* Those of the first packet; an input that starts otherwise gets some. */
static void find_keys(const struct edit *e, struct keys *k)
{
    static const uint8_t dcid[] = "12345678";
    struct quic_header h;

    *k = (struct keys){ .version = 1, .dcid = { dcid, 8 } };
    if (e->len > FIRST_PACKET &&
        quic_header_parse(bytes_of(e->data + FIRST_PACKET, e->len - FIRST_PACKET), &h) &&
        h.type == QUIC_INITIAL && is_decrypted_version(h.version) && h.dcid.len <= 20) {
        k->version = h.version;
        k->dcid = h.dcid;
    }
    quic_keys_make(crypto(), &k->keys, k->version, k->dcid);
}

/* --- frames ----------------------------------------------------------------------------------- */

static unsigned put_number(uint8_t *out, uint32_t value)
{
    if (value < 64) {
        out[0] = (uint8_t)value;
        return 1;
    }
    if (value < 16384) {
        out[0] = (uint8_t)(0x40 | value >> 8);
        out[1] = (uint8_t)value;
        return 2;
    }
    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
    out[0] |= 0x80;
    return 4;
}

static void add_crypto(struct edit *p, size_t at, uint32_t offset, struct slice data)
{
    uint8_t frame[9 + 256];
    unsigned n = 0, len = MIN(data.len, 256u);

    frame[n++] = CRYPTO;
    n += put_number(frame + n, offset);
    n += put_number(frame + n, len);
    memcpy(frame + n, data.data, len);
    edit_replace(p, at, 0, frame, n + len);
}

/* A piece of the hello where it belongs, or elsewhere: holes, overlaps, offsets far away. */
static void add_piece(struct edit *p, size_t at)
{
    uint32_t from = edit_random(p, HELLO_LEN), len = 1 + edit_random(p, HELLO_LEN - from);
    uint32_t offset = from;

    if (edit_chance(p, 4))
        offset = edit_random(p, edit_chance(p, 2) ? 200 : 1u << 30);
    add_crypto(p, at, offset, (struct slice){ hello + from, len });
}

static void add_other(struct edit *p, size_t at)
{
    static const uint8_t types[] = { PADDING, PING, ACK, ACK + 1, CLOSE, 0x08, 0x1e, 0x30 };
    uint8_t frame[8] = { types[edit_random(p, sizeof(types))] };

    for (unsigned i = 1; i < sizeof(frame); i++)
        frame[i] = (uint8_t)edit_random(p, 8);
    edit_replace(p, at, 0, frame, 1 + edit_random(p, sizeof(frame)));
}

static void mutate_frames(struct edit *p)
{
    switch (edit_random(p, 5)) {
    case 0: add_piece(p, 0); break;
    case 1: add_piece(p, p->len); break;
    case 2: add_other(p, edit_chance(p, 2) ? 0 : p->len); break;
    default: edit_bytes(p, 0, MIN(p->len, (size_t)EDIT_PART_MAX / 2));
    }
}

/* --- protection ------------------------------------------------------------------------------- */

static size_t take_frames(const struct edit *e, const struct keys *k, size_t at, size_t len,
                          enum direction d, uint8_t *out)
{
    struct slice payload;
    struct quic_header h;

    if (!quic_header_parse(bytes_of(e->data + at, len), &h) || h.type != QUIC_INITIAL ||
        h.size > len || h.payload > len - h.size ||
        !quic_decrypt(crypto(), &k->keys.ds[d], &h, e->data + at, &payload) ||
        payload.len > PAYLOAD_MAX)
        return 0;
    memcpy(out, payload.data, payload.len);
    return payload.len;
}

/* RFC 9000 section 17.2.2, with the number 0 in four bytes. */
static size_t put_header(const struct keys *k, uint8_t *out, size_t payload)
{
    size_t n = 0, rest = NUMBER_SIZE + payload + TAG_SIZE;

    out[n++] = (k->version == QUIC_V2 ? 0xd0 : 0xc0) | (NUMBER_SIZE - 1);
    for (unsigned i = 0; i < 4; i++)
        out[n++] = (uint8_t)(k->version >> (24 - 8 * i));
    out[n++] = (uint8_t)k->dcid.len;
    if (k->dcid.len > 0)
        memcpy(out + n, k->dcid.data, k->dcid.len);
    n += k->dcid.len;
    out[n++] = 0;                       /* source id */
    out[n++] = 0;                       /* token */
    out[n++] = (uint8_t)(0x40 | rest >> 8);
    out[n++] = (uint8_t)rest;
    memset(out + n, 0, NUMBER_SIZE);
    return n + NUMBER_SIZE;
}

/* The nonce is the IV, because the packet number is 0. */
static bool encrypt(const struct quic_dir_keys *keys, uint8_t *packet, size_t header, size_t len)
{
    EVP_CIPHER_CTX *gcm = EVP_CIPHER_CTX_new(), *ecb = EVP_CIPHER_CTX_new();
    uint8_t mask[32], *body = packet + header;
    int n;
    bool ok = gcm != NULL && ecb != NULL &&
        EVP_EncryptInit_ex(gcm, EVP_aes_128_gcm(), NULL, keys->key, keys->iv) == 1 &&
        EVP_EncryptUpdate(gcm, NULL, &n, packet, (int)header) == 1 &&
        EVP_EncryptUpdate(gcm, body, &n, body, (int)len) == 1 &&
        EVP_EncryptFinal_ex(gcm, body + n, &n) == 1 &&
        EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_GCM_GET_TAG, TAG_SIZE, body + len) == 1 &&
        EVP_EncryptInit_ex(ecb, EVP_aes_128_ecb(), NULL, keys->protect, NULL) == 1 &&
        EVP_EncryptUpdate(ecb, mask, &n, body, 16) == 1;

    EVP_CIPHER_CTX_free(gcm);
    EVP_CIPHER_CTX_free(ecb);
    if (!ok)
        return false;
    packet[0] ^= mask[0] & 0x0f;
    for (unsigned i = 0; i < NUMBER_SIZE; i++)
        packet[header - NUMBER_SIZE + i] ^= mask[1 + i];
    return true;
}

void mutate_chunk(struct edit *e, size_t at, size_t len, uint8_t control)
{
    enum direction d = (enum direction)(control & 1);
    uint8_t payload[PAYLOAD_MAX], packet[HEADER_MAX + PAYLOAD_MAX + TAG_SIZE];
    struct edit p = { .data = payload, .max = PAYLOAD_MAX };
    struct keys k;
    size_t header;

    if (edit_chance(e, 5)) {            /* headers, other versions, short packets */
        edit_part(e, at, len);
        return;
    }
    find_keys(e, &k);
    p.state = edit_random(e, UINT32_MAX) | 1;
    p.len = take_frames(e, &k, at, len, d, payload);
    if (p.len == 0)
        add_crypto(&p, 0, 0, (struct slice){ hello, HELLO_LEN });
    else
        mutate_frames(&p);
    for (uint8_t zero = PADDING; p.len < PAYLOAD_MIN;)
        if (!edit_replace(&p, p.len, 0, &zero, 1))
            return;
    header = put_header(&k, packet, p.len);
    memcpy(packet + header, payload, p.len);
    if (encrypt(&k.keys.ds[d], packet, header, p.len))
        edit_replace(e, at, len, packet, header + p.len + TAG_SIZE);
}
