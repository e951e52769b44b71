/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcap_clock.c - preloaded by `dpdk`: measures what a thread that reads a capture through libpcap
 * uses of its CPU, from the first packet to the end of the file.
 *
 * DPDK's driver net_pcap reads so. An engine that polls uses a CPU also without packets, and its
 * statistics come once a second, so neither tells how fast it is. This way all engines are
 * measured alike, with what the driver costs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void report(unsigned long packets, double begin)
{
    const char *path = getenv("PCAP_CLOCK");
    FILE *f = path != NULL ? fopen(path, "w") : NULL;

    if (f != NULL) {
        fprintf(f, "%lu %.6f\n", packets, seconds() - begin);
        fclose(f);
    }
    kill(getpid(), SIGTERM);
}

/* One thread reads: net_pcap has one queue for a file. */
int pcap_next_ex(pcap_t *p, struct pcap_pkthdr **header, const u_char **data)
{
    static int (*next)(pcap_t *, struct pcap_pkthdr **, const u_char **);
    static unsigned long packets;
    static double begin;
    static int is_over;
    int status;

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "pcap_next_ex");
        begin = seconds();
    }
    status = next(p, header, data);
    if (status == 1) {
        packets++;
    } else if (is_over == 0) {
        is_over = 1;
        report(packets, begin);
    }
    return status;
}
