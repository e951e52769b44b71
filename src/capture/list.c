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

#define C(name) &capture_##name,
const struct capture_ops *const capture_table[] = { CAPTURE_LIST(C) NULL };
#undef C

const struct capture_ops *capture_find(const char *name)
{
    for (unsigned i = 0; capture_table[i] != NULL; i++)
        if (strcmp(capture_table[i]->name, name) == 0)
            return capture_table[i];
    return NULL;
}
