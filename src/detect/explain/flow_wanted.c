/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/flow_wanted.c - reads the name of a flow, and finds its packets. */
#include "detect/explain/flow_wanted.h"

/* "10.0.0.1:80", "[fe80::1]:80" */
static bool end_parse(struct text t, struct ip *ip, uint16_t *port)
{
    const char *colon = NULL;
    struct text address;
    uint64_t n;

    for (size_t i = 0; i < t.n; i++)
        if (t.p[i] == ':')
            colon = t.p + i;
    if (colon == NULL)
        return false;
    address = (struct text){ t.p, (size_t)(colon - t.p) };
    if (address.n > 2 && address.p[0] == '[' && address.p[address.n - 1] == ']')
        address = (struct text){ address.p + 1, address.n - 2 };
    if (!ip_parse(address, ip) ||
        !text_to_u64((struct text){ colon + 1, t.n - address.n - 1 -
                                        (address.p != t.p ? 2 : 0) }, UINT16_MAX, &n))
        return false;
    *port = (uint16_t)n;
    return true;
}

int flow_wanted_read(struct flow_wanted *w, const char *option, const char *flow, struct err *err)
{
    struct text rest = text_of(flow), one;
    unsigned n = 0;

    while (n < 2 && text_split(&rest, '-', &one) &&
           end_parse(text_trim(one), &w->ip[n], &w->port[n]))
        n++;
    if (n < 2 || rest.n > 0)
        return err_set(err, "%s: expected ADDRESS:PORT-ADDRESS:PORT, got \"%s\"", option, flow);
    w->given = true;
    return 0;
}

bool flow_is_wanted(const struct flow_wanted *w, const struct packet *p)
{
    if (!w->given)
        return true;
    for (unsigned i = 0; i < 2; i++)
        if (ip_equal(&p->src, &w->ip[i]) && p->src_port == w->port[i] &&
            ip_equal(&p->dst, &w->ip[1 - i]) && p->dst_port == w->port[1 - i])
            return true;
    return false;
}

unsigned flow_wanted_likeness(const struct flow_wanted *w, const struct packet *p)
{
    unsigned most = 0;

    for (unsigned i = 0; i < 2; i++) {
        unsigned alike = 2u * ip_equal(&p->src, &w->ip[i]) + (p->src_port == w->port[i]) +
                         2u * ip_equal(&p->dst, &w->ip[1 - i]) + (p->dst_port == w->port[1 - i]);

        most = MAX(most, alike);
    }
    return most;
}
