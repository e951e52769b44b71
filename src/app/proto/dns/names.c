/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/names.c - record types and response codes (IANA, Domain Name System parameters). */
#include "app/proto/dns/dns.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Rule keywords and logs use these names. Their number stays below 64: log.c has a bit for each. */
const struct app_name dns_types[] = { DNS_TYPE_LIST(APP_NUMBER_ROW) { NULL, 0 } };

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

    if (LIKELY(type == DNS_A)) {
        memcpy(out, "A", sizeof("A"));
        return out;
    }
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
