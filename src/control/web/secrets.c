/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/secrets.c - which settings must not leave the machine: passwords of sinks, keys, the
 * listener's own token.
 *
 * Sinks pass options on to libraries (librdkafka has hundreds), so there is no list of keys: a
 * word of the key decides, or the form of the value. A value that is hidden for nothing is better
 * than a secret that is shown. */
#include "control/web/web_private.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

/* Parts of a key, in any case. */
static const char *const parts[] = {
    "passw", "passphrase", "passcode", "token", "secret", "credential", "private", "oauthbearer",
    "apikey", "api-key", "api_key", "api.key", "access-key", "access_key", "access.key",
};

/* Words of a key: others contain these letters. */
static const char *const words[] = { "pem", "jaas", "psk", "pwd", "jwt", "bearer" };

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = text; (at = strcasestr(at, word)) != NULL; at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[len]))
            return true;
    return false;
}

/* "scheme://user:password@host" */
static bool has_login(const char *value)
{
    const char *at = strstr(value, "://"), *colon;
    size_t len;

    if (at == NULL)
        return false;
    at += 3;
    len = strcspn(at, "/?# ");
    colon = memchr(at, ':', len);
    return colon != NULL && memchr(colon, '@', len - (size_t)(colon - at)) != NULL;
}

bool web_is_secret(const char *key, const char *value)
{
    for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
        if (strcasestr(key, parts[i]) != NULL)
            return true;
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (has_word(key, words[i]))
            return true;
    return value != NULL && (strstr(value, "-----BEGIN ") != NULL || has_login(value) ||
                             strcasestr(value, "password=") != NULL);
}
