/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/geoip.c - geoip: the country of an IPv4 address, from the
 * database `geoip-database` (MaxMind's format, read by libmaxminddb). */
#include "config.h"

#include "conf/conf.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset.h"

#include <stdlib.h>

#ifdef HAVE_MAXMINDDB
#include <maxminddb.h>

/* Bits; GEOIP_BOTH requires both sides, "any" is SRC | DST. */
enum { GEOIP_SRC = 1, GEOIP_DST = 2, GEOIP_BOTH = 4 };
#define COUNTRIES_MAX 64                /* in one rule, as in Suricata */
#define COUNTRY_LEN   2                 /* ISO 3166-1 alpha-2 */

struct geoip {
    uint8_t sides;
    bool negated, is_open;
    uint8_t count;
    char country[COUNTRIES_MAX][COUNTRY_LEN];
    MMDB_s db;                          /* mapped, so that one per rule costs little memory */
};

/* The string of the database has no NUL; its length counts. */
static bool is_listed(const struct geoip *g, const MMDB_entry_data_s *code)
{
    for (unsigned i = 0; i < g->count; i++)
        if (code->data_size == COUNTRY_LEN &&
            memcmp(g->country[i], code->utf8_string, COUNTRY_LEN) == 0)
            return true;
    return false;
}

/* An address whose country is unknown never matches, also when the test is negated. The
 * lookup reads mapped memory only: it takes no lock and allocates nothing. */
static bool country_of(const struct geoip *g, const struct ip *ip, MMDB_entry_data_s *code)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    MMDB_lookup_result_s found;
    int error = 0;

    memcpy(&address.sin_addr, ip->b, sizeof(address.sin_addr));
    found = MMDB_lookup_sockaddr(&g->db, (const struct sockaddr *)&address, &error);
    return error == MMDB_SUCCESS && found.found_entry &&
           MMDB_get_value(&found.entry, code, "country", "iso_code", NULL) == MMDB_SUCCESS &&
           code->has_data && code->type == MMDB_DATA_TYPE_UTF8_STRING;
}

static bool address_match(const struct geoip *g, const struct ip *ip)
{
    MMDB_entry_data_s code;

    return country_of(g, ip, &code) && is_listed(g, &code) != g->negated;
}

static void tell_country(const struct geoip *g, const struct ip *ip, struct buf *out)
{
    char text[IP_TEXT_SIZE];
    MMDB_entry_data_s code;

    ip_format(ip, text);
    if (country_of(g, ip, &code))
        buf_printf(out, "%s is in %.*s", text, (int)MIN(code.data_size, 8u), code.utf8_string);
    else
        buf_printf(out, "the country of %s is not known", text);
}

static bool geoip_tell(const struct rule_test *test, const struct match_input *in, struct buf *out)
{
    struct packet_ends ends = packet_ends(in->packet, match_side(in));
    const struct geoip *g = test->arg;

    if (ends.src->version != 4)
        return false;
    if (g->sides & (GEOIP_SRC | GEOIP_BOTH))
        tell_country(g, ends.src, out);
    if ((g->sides & GEOIP_BOTH) || g->sides == (GEOIP_SRC | GEOIP_DST))
        buf_add_string(out, ", ");
    if (g->sides & (GEOIP_DST | GEOIP_BOTH))
        tell_country(g, ends.dst, out);
    return true;
}

/* Suricata looks up IPv4 addresses only. */
static bool geoip_match(const struct match_input *in, const void *arg)
{
    struct packet_ends ends = packet_ends(in->packet, match_side(in));
    const struct geoip *g = arg;

    if (ends.src->version != 4)
        return false;
    if (g->sides & GEOIP_BOTH)
        return address_match(g, ends.src) && address_match(g, ends.dst);
    return ((g->sides & GEOIP_SRC) && address_match(g, ends.src)) ||
           ((g->sides & GEOIP_DST) && address_match(g, ends.dst));
}

/* The first word, when another one follows, may be a side. */
static bool sides_parse(struct text word, struct geoip *g)
{
    static const struct app_name names[] = {
        { "src", GEOIP_SRC }, { "dst", GEOIP_DST }, { "both", GEOIP_BOTH },
        { "any", GEOIP_SRC | GEOIP_DST } };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (text_equal(word, names[i].name))
            return g->sides = (uint8_t)names[i].value, true;
    return false;
}

/* One '!' negates the whole list. */
static int country_parse(struct rule_parser *p, struct text word, struct geoip *g)
{
    if (text_starts(word, "!")) {
        g->negated = true;
        word = text_trim(text_from(word, 1));
    }
    if (word.n != COUNTRY_LEN)
        return rule_error(p, "geoip: expected a country as two letters, found \"%.*s\"",
                          TEXT(word));
    if (g->count >= COUNTRIES_MAX)
        return rule_error(p, "geoip: more than %d countries", COUNTRIES_MAX);
    memcpy(g->country[g->count++], word.p, COUNTRY_LEN);
    return 0;
}

/* Opened once per use in a rule, at load time; geoip_free() closes it with the ruleset. */
static int database_open(struct rule_parser *p, struct geoip *g)
{
    const char *path = p->request != NULL ? conf_string(p->request->conf, "geoip-database", NULL)
                                          : NULL;
    int status;

    if (path == NULL)
        return rule_error(p, "geoip: the configuration names no geoip-database");
    if (rule_bind(p) < 0)
        return -1;
    status = MMDB_open(path, MMDB_MODE_MMAP, &g->db);
    if (status != MMDB_SUCCESS)
        return rule_error(p, "geoip: cannot open %s: %s", path, MMDB_strerror(status));
    g->is_open = true;
    return 0;
}

static int geoip_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct geoip *g = arg;
    struct text rest = in, word;

    g->sides = GEOIP_SRC | GEOIP_DST;
    for (bool first = true; text_split(&rest, ',', &word); first = false)
        if (!(first && rest.n > 0 && sides_parse(word, g)) && country_parse(p, word, g) < 0)
            return -1;
    if (g->count == 0)
        return rule_error(p, "geoip: expected [src|dst|both|any,][!]COUNTRY[,COUNTRY ...]");
    return database_open(p, g);
}

static void geoip_free(void *arg)
{
    struct geoip *g = arg;

    if (g->is_open)
        MMDB_close(&g->db);
}

const struct keyword_ops keyword_geoip = {
    .name = "geoip",
    .doc = "country of an IPv4 address, two letters each",
    .syntax = "[src|dst|both|any,][!]<country>[,<country>]...",
    .point = POINT_PACKET,
    .arg_size = sizeof(struct geoip),
    .parse = geoip_parse,
    .match = geoip_match,
    .tell = geoip_tell,
    .free_arg = geoip_free,
};

#else

static int geoip_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    return rule_error(p, "geoip: this program was built without libmaxminddb");
}

const struct keyword_ops keyword_geoip = {
    .name = "geoip",
    .doc = "country of an address (not in this build)",
    .syntax = "[src|dst|both|any,][!]<country>[,<country>]...",
    .point = POINT_NONE,
    .parse = geoip_parse,
};
#endif
