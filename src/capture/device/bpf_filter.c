/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/bpf_filter.c - libpcap's filter language on bytes in memory: compiles once per
 * link type, and runs libpcap's interpreter. */
#include "capture/device/bpf_filter.h"

#include "base/array.h"
#include "base/memory/traffic_memory.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

/* libpcap's maximum. */
#define SNAPLEN 262144

/* A link type for which the expression does not compile matches nothing. */
struct program {
    int link_type;
    bool compiled;
    struct bpf_program code;
};

/* Belongs to one thread; programs are added as link types appear in a file. */
struct bpf_filter {
    char *expression;
    ARRAY_OF(struct program) programs;
};

static bool compile(struct program *p, const char *expression, struct err *err)
{
    pcap_t *dead = pcap_open_dead(p->link_type, SNAPLEN);

    if (dead == NULL)
        return false;
    p->compiled = pcap_compile(dead, &p->code, expression, 1, PCAP_NETMASK_UNKNOWN) == 0;
    if (!p->compiled)
        err_set(err, "bpf-filter \"%s\": %s", expression, pcap_geterr(dead));
    pcap_close(dead);
    return p->compiled;
}

/* An expression must compile for Ethernet or for raw IP, or it is an error of the user. */
struct bpf_filter *bpf_filter_new(const char *expression, struct err *err)
{
    struct bpf_filter *f = xcalloc(1, sizeof(*f));
    struct program ethernet = { .link_type = DLT_EN10MB }, raw = { .link_type = DLT_RAW };

    f->expression = xstrdup(expression);
    if (compile(&ethernet, expression, err)) {
        ARRAY_PUSH(&f->programs, ethernet);
        return f;
    }
    if (compile(&raw, expression, NULL)) {
        ARRAY_PUSH(&f->programs, raw);
        return f;
    }
    bpf_filter_free(f);
    return NULL;
}

void bpf_filter_free(struct bpf_filter *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->programs.count; i++)
        if (f->programs.at[i].compiled)
            pcap_freecode(&f->programs.at[i].code);
    ARRAY_FREE(&f->programs);
    free(f->expression);
    free(f);
}

/* The first packet of a new link type: compiles, and remembers failure as well. */
static COLD const struct program *program_for(struct bpf_filter *f, int link_type)
{
    struct program p = { .link_type = link_type };

    if (!ARRAY_HAS_SPACE(&f->programs, 1))
        return NULL;
    compile(&p, f->expression, NULL);
    f->programs.at[f->programs.count++] = p;
    return &f->programs.at[f->programs.count - 1];
}

/* The name is in parentheses because libpcap may define bpf_filter() as a macro. */
bool bpf_filter_matches(struct bpf_filter *f, int link_type, const uint8_t *data, uint32_t len,
                        uint32_t wire_len)
{
    const struct program *p = NULL;

    for (size_t i = 0; i < f->programs.count && p == NULL; i++)
        if (f->programs.at[i].link_type == link_type)
            p = &f->programs.at[i];
    if (UNLIKELY(p == NULL))
        p = program_for(f, link_type);
    return p != NULL && p->compiled && (bpf_filter)(p->code.bf_insns, data, wire_len, len) != 0;
}
