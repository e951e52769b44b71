/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/list.c - the capture methods. A new one is its directory and one line here. */
#include "config.h"

#include "capture/capture.h"

#include <string.h>

#ifdef HAVE_XDP
#define CAPTURE_XDP(C) C(af_xdp)
#else
#define CAPTURE_XDP(C)
#endif

#ifdef HAVE_DPDK
#define CAPTURE_DPDK(C) C(dpdk)
#else
#define CAPTURE_DPDK(C)
#endif

#ifdef HAVE_NFLOG
#define CAPTURE_NFLOG(C) C(nflog)
#else
#define CAPTURE_NFLOG(C)
#endif

#define CAPTURE_LIST(C) \
    C(pcap_file)         \
    C(af_packet)         \
    C(nfq)               \
    CAPTURE_NFLOG(C)     \
    CAPTURE_XDP(C)       \
    CAPTURE_DPDK(C)      \
    C(pcap_live)

#define C(name) extern const struct capture_ops capture_##name;
CAPTURE_LIST(C)
#undef C

#define COUNT(name) + 1
#define REGISTERED_MAX 8
#define C(name) &capture_##name,
/* The list, and what is registered while plugins load. */
const struct capture_ops *capture_table[0 CAPTURE_LIST(COUNT) + REGISTERED_MAX + 1] = {
    CAPTURE_LIST(C)
};
#undef C

int capture_register(const struct capture_ops *ops, struct err *err)
{
    size_t count = 0;

    if (capture_find(ops->name) != NULL)
        return err_set(err, "there is a capture method \"%s\" already", ops->name);
    while (capture_table[count] != NULL)
        count++;
    if (count + 1 == ARRAY_LEN(capture_table))
        return err_set(err, "at most %d capture methods can be added", REGISTERED_MAX);
    capture_table[count] = ops;
    return 0;
}

const struct capture_ops *capture_find(const char *name)
{
    for (unsigned i = 0; capture_table[i] != NULL; i++)
        if (strcmp(capture_table[i]->name, name) == 0)
            return capture_table[i];
    return NULL;
}
