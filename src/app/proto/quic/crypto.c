/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/crypto.c - removes the protection of initial packets (RFC 9001 section 5). Anyone
 * can derive their keys from the first connection id. libcrypto does the work; its contexts live as
 * long as the thread. */
#include "app/proto/quic/quic.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "app/lib/digest.h"

#define SECRET_SIZE 32  /* SHA-256 */
#define SALT_SIZE 20
#define HMAC_BLOCK 64       /* bytes, SHA-256 */
#define HMAC_TEXT_MAX 255   /* bytes of text */
#define SAMPLE_SIZE 16                  /* bytes, RFC 9001 section 5.4.2 */
#define TAG_SIZE 16                     /* bytes, AES-128-GCM */
#define NUMBER_MAX 4                    /* bytes of a packet number */

/* A thread's contexts and one packet buffer. One packet is decrypted at a time. */
struct quic_crypto {
    EVP_CIPHER_CTX *ecb, *gcm;
    struct digests *digests;
    struct buf packet;                  /* the one at work: decrypted in place */
};

/* NULL: no memory, or libcrypto refuses the ciphers. Packets are then read without decryption. */
struct quic_crypto *quic_crypto_new(void)
{
    struct quic_crypto *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    c->ecb = EVP_CIPHER_CTX_new();
    c->gcm = EVP_CIPHER_CTX_new();
    c->digests = digests_new();
    if (c->ecb != NULL && c->gcm != NULL &&
        EVP_EncryptInit_ex(c->ecb, EVP_aes_128_ecb(), NULL, NULL, NULL) == 1 &&
        EVP_DecryptInit_ex(c->gcm, EVP_aes_128_gcm(), NULL, NULL, NULL) == 1)
        return c;
    quic_crypto_free(c);
    return NULL;
}

void quic_crypto_free(struct quic_crypto *c)
{
    if (c == NULL)
        return;
    EVP_CIPHER_CTX_free(c->ecb);
    EVP_CIPHER_CTX_free(c->gcm);
    digests_free(c->digests);
    buf_fini(&c->packet);
    free(c);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Salts by version: RFC 9001 section 5.2, RFC 9369 section 3.3.1, drafts 23 to 34, and versions of
 * Facebook and Google. */
static const struct { uint32_t from, to; uint8_t salt[SALT_SIZE]; } salts[] = {
    { 0x00000001, 0x00000001,
      { 0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c,
        0xad, 0xcc, 0xbb, 0x7f, 0x0a } },
    { 0xff000021, 0xff000022,
      { 0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c,
        0xad, 0xcc, 0xbb, 0x7f, 0x0a } },
    { QUIC_V2, QUIC_V2,
      { 0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d,
        0xcb, 0xf9, 0xbd, 0x2e, 0xd9 } },
    { 0xff00001d, 0xff000020,
      { 0xaf, 0xbf, 0xec, 0x28, 0x99, 0x93, 0xd2, 0x4c, 0x9e, 0x97, 0x86, 0xf1, 0x9c, 0x61, 0x11,
        0xe0, 0x43, 0x90, 0xa8, 0x99 } },
    { 0xff000017, 0xff00001c,
      { 0xc3, 0xee, 0xf7, 0x12, 0xc7, 0x2e, 0xbb, 0x5a, 0x11, 0xa7, 0xd2, 0x43, 0x2b, 0xb4, 0x63,
        0x65, 0xbe, 0xf9, 0xf5, 0x02 } },
    { 0xfaceb002, 0xfaceb002,
      { 0xc3, 0xee, 0xf7, 0x12, 0xc7, 0x2e, 0xbb, 0x5a, 0x11, 0xa7, 0xd2, 0x43, 0x2b, 0xb4, 0x63,
        0x65, 0xbe, 0xf9, 0xf5, 0x02 } },
    { QUIC_Q050, QUIC_Q050,
      { 0x50, 0x45, 0x74, 0xef, 0xd0, 0x66, 0xfe, 0x2f, 0x9d, 0x94, 0x5c, 0xfc, 0xdb, 0xd3, 0xa7,
        0xf0, 0xd3, 0xb5, 0x6b, 0x45 } },
};

/* HMAC-SHA-256 (RFC 2104) for keys of at most one block. libcrypto's own takes locks and memory for
 * each of these few bytes. False: no SHA-256. */
static bool hmac(struct quic_crypto *c, struct slice key, struct slice text,
                 uint8_t out[SECRET_SIZE])
{
    uint8_t inner[HMAC_BLOCK + HMAC_TEXT_MAX] = { 0 }, outer[HMAC_BLOCK + SECRET_SIZE] = { 0 };

    if (text.len > HMAC_TEXT_MAX)
        return false;
    memcpy(inner, key.data, key.len);
    memcpy(outer, key.data, key.len);
    for (unsigned i = 0; i < HMAC_BLOCK; i++) {
        inner[i] ^= 0x36;
        outer[i] ^= 0x5c;
    }
    if (text.len > 0)
        memcpy(inner + HMAC_BLOCK, text.data, text.len);
    return digest(c->digests, DIGEST_SHA256, inner, HMAC_BLOCK + text.len,
                  outer + HMAC_BLOCK) == SECRET_SIZE &&
           digest(c->digests, DIGEST_SHA256, outer, sizeof(outer), out) == SECRET_SIZE;
}

/* HKDF-Expand-Label (RFC 8446 section 7.1) for at most one block of SHA-256. */
static bool expand(struct quic_crypto *c, const uint8_t secret[SECRET_SIZE], const char *label,
                   uint8_t *out, size_t size)
{
    uint8_t info[64], block[SECRET_SIZE];
    size_t len = strlen(label);

    info[0] = 0;
    info[1] = (uint8_t)size;
    info[2] = (uint8_t)(6 + len);
    memcpy(info + 3, "tls13 ", 6);
    memcpy(info + 9, label, len);
    info[9 + len] = 0;                  /* no context */
    info[10 + len] = 1;                 /* the first block */
    if (!hmac(c, (struct slice){ secret, SECRET_SIZE },
              (struct slice){ info, (uint32_t)(11 + len) }, block))
        return false;
    memcpy(out, block, size);
    return true;
}

/* Secret, header protection key, key and IV of one direction (RFC 9001 section 5.1). */
static bool make_direction(struct quic_crypto *c, struct quic_keys *keys, enum direction d,
                      const uint8_t *initial, bool is_v2)
{
    uint8_t secret[SECRET_SIZE];

    return expand(c, initial, d == TO_SERVER ? "client in" : "server in", secret, SECRET_SIZE) &&
           expand(c, secret, is_v2 ? "quicv2 hp" : "quic hp", keys->ds[d].protect,
                  QUIC_KEY_SIZE) &&
           expand(c, secret, is_v2 ? "quicv2 key" : "quic key", keys->ds[d].key,
                  QUIC_KEY_SIZE) &&
           expand(c, secret, is_v2 ? "quicv2 iv" : "quic iv", keys->ds[d].iv, QUIC_IV_SIZE);
}

/* `known` stays false for other versions: their packets are read without decryption. */
void quic_keys_make(struct quic_crypto *c, struct quic_keys *keys, uint32_t version,
                    struct slice dcid)
{
    uint8_t initial[SECRET_SIZE];

    if (c == NULL)
        return;

    for (size_t i = 0; i < ARRAY_LEN(salts); i++) {
        if (version < salts[i].from || version > salts[i].to)
            continue;
        keys->known = hmac(c, (struct slice){ salts[i].salt, SALT_SIZE }, dcid, initial) &&
                      make_direction(c, keys, TO_SERVER, initial, version == QUIC_V2) &&
                      make_direction(c, keys, TO_CLIENT, initial, version == QUIC_V2);
        return;
    }
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Removes header protection (RFC 9001 section 5.4) from the first byte and the packet number.
 * Returns the number's length; 0: error. */
static unsigned unmask(struct quic_crypto *c, const uint8_t *key, uint8_t *first, uint8_t *number)
{
    uint8_t mask[SAMPLE_SIZE + 16];
    unsigned size;
    int len;

    if (EVP_EncryptInit_ex(c->ecb, NULL, NULL, key, NULL) != 1 ||
        EVP_EncryptUpdate(c->ecb, mask, &len, number + NUMBER_MAX, SAMPLE_SIZE) != 1)
        return 0;
    *first ^= mask[0] & ((*first & 0x80) != 0 ? 0x0f : 0x1f);
    size = (*first & 3) + 1u;
    for (unsigned i = 0; i < size; i++)
        number[i] ^= mask[1 + i];
    return size;
}

/* RFC 9001 section 5.3: the nonce is the IV XOR the packet number; the header is authenticated
 * data. False: not authentic, or other keys. */
static bool decrypt(struct quic_crypto *c, const struct quic_dir_keys *keys, uint32_t header,
                    unsigned number, struct slice *out)
{
    uint8_t nonce[QUIC_IV_SIZE], *packet = c->packet.data, *body = packet + header + number;
    uint32_t size = (uint32_t)c->packet.len - header - number - TAG_SIZE;
    int len;

    memcpy(nonce, keys->iv, sizeof(nonce));
    for (unsigned i = 0; i < number; i++)
        nonce[QUIC_IV_SIZE - number + i] ^= packet[header + i];
    if (EVP_DecryptInit_ex(c->gcm, NULL, NULL, keys->key, nonce) != 1 ||
        EVP_CIPHER_CTX_ctrl(c->gcm, EVP_CTRL_GCM_SET_TAG, TAG_SIZE, body + size) != 1 ||
        EVP_DecryptUpdate(c->gcm, NULL, &len, packet, (int)(header + number)) != 1 ||
        EVP_DecryptUpdate(c->gcm, body, &len, body, (int)size) != 1 ||
        EVP_DecryptFinal_ex(c->gcm, body + len, &len) != 1)
        return false;
    *out = (struct slice){ .data = body, .len = size };
    return true;
}

/* Works on a copy, because the datagram is the packet's. */
bool quic_decrypt(struct quic_crypto *c, const struct quic_dir_keys *keys,
                  const struct quic_header *h, const uint8_t *packet, struct slice *out)
{
    unsigned number;

    if (c == NULL || h->payload < NUMBER_MAX + MAX(SAMPLE_SIZE, TAG_SIZE))
        return false;
    buf_clear(&c->packet);
    if (!buf_add(&c->packet, packet, (size_t)h->size + h->payload))
        return false;
    number = unmask(c, keys->protect, c->packet.data, c->packet.data + h->size);
    return number > 0 && decrypt(c, keys, h->size, number, out);
}
