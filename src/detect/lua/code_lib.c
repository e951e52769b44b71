/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/code_lib.c - the libraries suricata.hashlib and suricata.base64. The names of
 * functions and the texts of errors are Suricata's. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/lib/digest.h"
#include "base/text/base64.h"
#include "base/memory/traffic_memory.h"
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"

#include <openssl/evp.h>

#include <string.h>

#define CODED_PER_STEP 4        /* bytes hashed or decoded in the time of an instruction */

/* --- hashes ------------------------------------------------------------------------------- */

#define HASHER_CLASS "suricata:hasher" /* the metatable's name */

/* OpenSSL may refuse MD5 and SHA-1 in FIPS mode; the callers report that as an error of
 * the script. */
static const EVP_MD *algorithm(enum digest which)
{
    return which == DIGEST_MD5 ? EVP_md5() : which == DIGEST_SHA1 ? EVP_sha1() : EVP_sha256();
}

/* As bytes, or as lower case hexadecimal digits. */
static int push_digest(lua_State *state, const uint8_t *hash, unsigned len, bool hex)
{
    char text[2 * EVP_MAX_MD_SIZE];

    if (hex)
        lua_pushlstring(state, text, hex_text(hash, len, 0, HEX_LOWER, text));
    else
        lua_pushlstring(state, (const char *)hash, len);
    return 1;
}

/* The hash of one string, without an object. */
static int digest_of(lua_State *state, enum digest which, bool hex)
{
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    size_t n;
    const char *in = luaL_checklstring(state, 1, &n);

    lua_sandbox_charge(state, n / CODED_PER_STEP);
    if (EVP_Digest(in, n, hash, &len, algorithm(which), NULL) != 1)
        return luaL_error(state, "this hash is not to be had here");
    return push_digest(state, hash, len, hex);
}

/* About what OpenSSL 3 allocates for a context of SHA-256. */
#define HASHER_BYTES 512

/* An object that is fed in parts. Lua's collector frees it. OpenSSL's memory counts for
 * global-memcap, but not in the sandbox. */
static int hasher_new(lua_State *state, enum digest which)
{
    EVP_MD_CTX **hasher = lua_newuserdatauv(state, sizeof(*hasher), 0);

    *hasher = traffic_memory_take(HASHER_BYTES) ? EVP_MD_CTX_new() : NULL;
    luaL_setmetatable(state, HASHER_CLASS);
    if (*hasher == NULL || EVP_DigestInit_ex(*hasher, algorithm(which), NULL) != 1)
        return luaL_error(state, "this hash is not to be had here");
    return 1;
}

/* luaL_error() does not return. */
static EVP_MD_CTX *hasher_of(lua_State *state)
{
    EVP_MD_CTX **hasher = luaL_checkudata(state, 1, HASHER_CLASS);

    if (*hasher == NULL)
        luaL_error(state, "the hash has been finalized");
    return *hasher;
}

/* Also called by finalize, so it must allow a second call. */
static int hasher_gc(lua_State *state)
{
    EVP_MD_CTX **hasher = luaL_checkudata(state, 1, HASHER_CLASS);

    if (*hasher != NULL)
        traffic_memory_release(HASHER_BYTES);
    EVP_MD_CTX_free(*hasher);
    *hasher = NULL;
    return 0;
}

static int hasher_update(lua_State *state)
{
    EVP_MD_CTX *hasher = hasher_of(state);
    size_t n;
    const char *in = luaL_checklstring(state, 2, &n);

    lua_sandbox_charge(state, n / CODED_PER_STEP);
    EVP_DigestUpdate(hasher, in, n);
    return 0;
}

/* A hasher gives its result once; it is freed at once, not by the collector. */
static int hasher_end(lua_State *state, bool hex)
{
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    EVP_DigestFinal_ex(hasher_of(state), hash, &len);
    hasher_gc(state);
    return push_digest(state, hash, len, hex);
}

static int hasher_finalize(lua_State *state) { return hasher_end(state, false); }
static int hasher_finalize_to_hex(lua_State *state) { return hasher_end(state, true); }

/* Three functions for each algorithm: digest, hexadecimal digest, object. */
#define HASH(name, which)                                                                      \
    static int name##_digest(lua_State *state) { return digest_of(state, which, false); }      \
    static int name##_hexdigest(lua_State *state) { return digest_of(state, which, true); }    \
    static int name##_new(lua_State *state) { return hasher_new(state, which); }
HASH(md5, DIGEST_MD5)
HASH(sha1, DIGEST_SHA1)
HASH(sha256, DIGEST_SHA256)

#define HASH_FUNCTIONS(name)                    \
    { #name "_digest", name##_digest },         \
    { #name "_hexdigest", name##_hexdigest },   \
    { #name "_hex_digest", name##_hexdigest },  \
    { #name, name##_new }

int lua_open_hashlib(lua_State *state)
{
    static const luaL_Reg functions[] = { HASH_FUNCTIONS(md5), HASH_FUNCTIONS(sha1),
                                          HASH_FUNCTIONS(sha256), { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "update", hasher_update },
        { "finalize", hasher_finalize },
        { "finalize_to_hex", hasher_finalize_to_hex },
        { "__gc", hasher_gc },
        { NULL, NULL },
    };

    return lua_library(state, functions, HASHER_CLASS, methods);
}

/* --- base64 ------------------------------------------------------------------------------- */

/* RFC 4648, section 4. */
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes become four characters. `pad`: with '=' up to a multiple of four. */
static int encode(lua_State *state, bool pad)
{
    size_t n;
    const uint8_t *in = (const uint8_t *)luaL_checklstring(state, 1, &n);
    luaL_Buffer out;

    lua_sandbox_charge(state, n / CODED_PER_STEP);
    luaL_buffinit(state, &out);
    for (size_t i = 0; i < n; i += 3) {
        size_t have = MIN(n - i, (size_t)3);
        uint32_t v = (uint32_t)in[i] << 16 | (have > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                     (have > 2 ? in[i + 2] : 0);

        for (unsigned k = 0; k <= have; k++)
            luaL_addchar(&out, alphabet[v >> (18 - 6 * k) & 63]);
        for (size_t k = have; pad && k < 3; k++)
            luaL_addchar(&out, '=');
    }
    luaL_pushresult(&out);
    return 1;
}

static int base64_encode(lua_State *state) { return encode(state, true); }
static int base64_encode_nopad(lua_State *state) { return encode(state, false); }

/* luaL_error() on input that `flags` do not allow. */
static int push_decoded(lua_State *state, const char *in, size_t n, unsigned flags)
{
    struct slice text = { (const uint8_t *)in, (uint32_t)n };
    luaL_Buffer out;
    int64_t len;

    lua_sandbox_charge(state, n / CODED_PER_STEP);
    len = base64_decode(
        text, flags, (uint8_t *)luaL_buffinitsize(state, &out, base64_capacity(text.len)));

    if (len < 0)
        return luaL_error(state, "malformed base64");
    luaL_pushresultsize(&out, (size_t)len);
    return 1;
}

enum padding { PADDING_NEEDED, PADDING_NONE, PADDING_OPTIONAL }; /* what '=' at the end may be */

/* The three strict functions: anything outside the alphabet is an error (RFC 4648, section
 * 3.3). */
static int decode_padded(lua_State *state, enum padding padding)
{
    size_t n, pad = 0;
    const char *in = luaL_checklstring(state, 1, &n);

    while (pad < 2 && pad < n && in[n - pad - 1] == '=')
        pad++;
    if ((padding == PADDING_NEEDED && n % 4 != 0) || (padding == PADDING_NONE && pad > 0) ||
        (pad > 0 && n % 4 != 0))
        return luaL_error(state, "malformed base64");
    return push_decoded(state, in, n - pad, 0);
}

static int base64_decode_padded(lua_State *state) { return decode_padded(state, PADDING_NEEDED); }
static int base64_decode_nopad(lua_State *state) { return decode_padded(state, PADDING_NONE); }
static int base64_decode_padopt(lua_State *state)
{
    return decode_padded(state, PADDING_OPTIONAL);
}

/* Skips what is not in the alphabet (RFC 2045, section 6.8). */
static int base64_decode_rfc2045(lua_State *state)
{
    size_t n;
    const char *in = luaL_checklstring(state, 1, &n);

    return push_decoded(state, in, n, BASE64_SKIP_WRONG);
}

/* Decodes up to the first character that is not in the alphabet. */
static int base64_decode_rfc4648(lua_State *state)
{
    size_t n;
    const char *in = luaL_checklstring(state, 1, &n);

    return push_decoded(state, in, n, BASE64_TO_WRONG);
}

int lua_open_base64(lua_State *state)
{
    static const luaL_Reg functions[] = {
        { "encode", base64_encode },
        { "encode_nopad", base64_encode_nopad },
        { "decode", base64_decode_padded },
        { "decode_nopad", base64_decode_nopad },
        { "decode_padopt", base64_decode_padopt },
        { "decode_rfc2045", base64_decode_rfc2045 },
        { "decode_rfc4648", base64_decode_rfc4648 },
        { NULL, NULL },
    };

    return lua_library(state, functions, NULL, NULL);
}
#endif
