/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/dpdk/eal.c - DPDK's environment (EAL): its start and its messages.
 *
 * EAL exists once in a process and cannot start again after it has failed. Its threads would be
 * the engine's, but the engine has its own and places them; so EAL gets one lcore, the thread that
 * starts. Threads that receive register with it (rte_thread_register) for their mempool caches. */
#include "config.h"

#ifdef HAVE_DPDK
#include "capture/dpdk/dpdk.h"
#include "capture/dpdk/rte.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report/log.h"

/* --- messages ----------------------------------------------------------------------------- */

/* EAL is one in a process, so this is too. first_error says more than the return value, and than
 * the errors that it leads to. */
static struct {
    bool is_done;
    int status;
    struct err err;
    char first_error[200];
} eal;

/* DPDK calls errors what often only means that something is not there, such as huge pages; so its
 * errors are our warnings. */
static ssize_t write_log(void *cookie, const char *text, size_t len)
{
    int level = rte_log_cur_msg_loglevel();
    size_t end = len;

    (void)cookie;
    while (end > 0 && text[end - 1] == '\n')
        end--;
    if (end == 0)
        return (ssize_t)len;
    if (level <= (int)RTE_LOG_ERR) {
        if (eal.first_error[0] == '\0')
            snprintf(eal.first_error, sizeof(eal.first_error), "%.*s", (int)end, text);
        log_warning("dpdk", "%.*s", (int)end, text);
    } else if (level <= (int)RTE_LOG_NOTICE) {
        log_info("dpdk", "%.*s", (int)end, text);
    } else {
        log_config("dpdk", "%.*s", (int)end, text);
    }
    return (ssize_t)len;
}

static void open_log(void)
{
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_log });

    if (f == NULL)
        return;
    setlinebuf(f);
    rte_openlog_stream(f);
}

/* --- start -------------------------------------------------------------------------------- */

static void cpus_text(char *buf, size_t size)
{
    cpu_set_t allowed;
    size_t at = 0;

    snprintf(buf, size, "0");
    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        return;
    for (int i = 0; i < CPU_SETSIZE && at + 8 < size; i++)
        if (CPU_ISSET(i, &allowed))
            at += (size_t)snprintf(buf + at, size - at, "%s%d", at > 0 ? "," : "", i);
}

/* Devices and shared files are released when the process ends, also after --plan. */
static void stop(void)
{
    (void)rte_eal_cleanup();
}

static int start(const struct conf_node *root, struct err *err)
{
    const struct conf_node *params = conf_find(root, "dpdk.eal-params");
    struct where at = params != NULL ? params->key_at : NO_LOCATION;
    struct dpdk_args args;
    cpu_set_t before;
    char cpus[512], *argv[DPDK_ARGS_MAX + 1];

    cpus_text(cpus, sizeof(cpus));
    if (dpdk_args_read(root, cpus, &args, err) < 0) {
        dpdk_args_free(&args);
        return -1;
    }
    open_log();
    /* EAL permutes argv, and binds the thread that calls it. */
    memcpy(argv, args.at, sizeof(argv));
    (void)pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
    if (rte_eal_init(args.count, argv) < 0)
        err_at(err, at, "eal-params: DPDK does not start: %s%s%s", rte_strerror(rte_errno),
               eal.first_error[0] != '\0' ? ": " : "", eal.first_error);
    else
        atexit(stop);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
    dpdk_args_free(&args);
    return err->text[0] != '\0' ? -1 : 0;
}

int dpdk_eal_start(const struct conf_node *root, struct err *err)
{
    if (!eal.is_done)
        eal.status = start(root, &eal.err);
    eal.is_done = true;
    if (eal.status < 0 && err != NULL)
        *err = eal.err;
    return eal.status;
}
#endif
