/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/names.c - record types and response codes (IANA, Domain Name System parameters). */
#include "app/proto/dns/dns.h"

#include <ctype.h>
#include <stdio.h>

/* Rule keywords and logs use these names. Their number stays below 64: log.c has a bit for each. */
const struct app_name dns_types[] = {
    { "a", 1 }, { "ns", 2 }, { "md", 3 }, { "mf", 4 }, { "cname", 5 }, { "soa", 6 }, { "mb", 7 },
    { "mg", 8 }, { "mr", 9 }, { "null", 10 }, { "wks", 11 }, { "ptr", 12 }, { "hinfo", 13 },
    { "minfo", 14 }, { "mx", 15 }, { "txt", 16 }, { "rp", 17 }, { "afsdb", 18 }, { "x25", 19 },
    { "isdn", 20 }, { "rt", 21 }, { "nsap", 22 }, { "nsapptr", 23 }, { "sig", 24 }, { "key", 25 },
    { "px", 26 }, { "gpos", 27 }, { "aaaa", 28 }, { "loc", 29 }, { "nxt", 30 }, { "srv", 33 },
    { "atma", 34 }, { "naptr", 35 }, { "kx", 36 }, { "cert", 37 }, { "a6", 38 }, { "dname", 39 },
    { "opt", 41 }, { "apl", 42 }, { "ds", 43 }, { "sshfp", 44 }, { "ipseckey", 45 },
    { "rrsig", 46 }, { "nsec", 47 }, { "dnskey", 48 }, { "dhcid", 49 }, { "nsec3", 50 },
    { "nsec3param", 51 }, { "tlsa", 52 }, { "hip", 55 }, { "cds", 59 }, { "cdnskey", 60 },
    { "https", 65 }, { "spf", 99 }, { "tkey", 249 }, { "tsig", 250 }, { "maila", 254 },
    { "any", 255 }, { "uri", 256 },
    { NULL, 0 },
};

const struct app_name dns_rcodes[] = {
    { "noerror", 0 }, { "formerr", 1 }, { "servfail", 2 }, { "nxdomain", 3 }, { "notimp", 4 },
    { "refused", 5 }, { "yxdomain", 6 }, { "yxrrset", 7 }, { "nxrrset", 8 }, { "notauth", 9 },
    { "notzone", 10 }, { "badvers", 16 }, { "badkey", 17 }, { "badtime", 18 }, { "badmode", 19 },
    { "badname", 20 }, { "badalg", 21 }, { "badtrunc", 22 },
    { NULL, 0 },
};

const struct app_name dns_events[] = { DNS_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* Unassigned types are numbers. */
const char *dns_type_text(uint16_t type, char out[DNS_TYPE_SIZE])
{
    unsigned i = 0;

    for (const struct app_name *n = dns_types; n->name != NULL; n++) {
        if (n->value != type)
            continue;
        for (; n->name[i] != '\0'; i++)
            out[i] = (char)toupper((unsigned char)n->name[i]);
        out[i] = '\0';
        return out;
    }
    snprintf(out, DNS_TYPE_SIZE, "%u", type);
    return out;
}
