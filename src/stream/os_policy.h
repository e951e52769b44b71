/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/os_policy.h - host-os-policy: the operating system of a host, because systems treat
 * ambiguous TCP segments differently. */
#ifndef STREAM_OS_POLICY_H
#define STREAM_OS_POLICY_H

#include "base/text/ip.h"
#include "conf/conf.h"

enum os_policy {
    OS_UNKNOWN,         /* not looked up yet */
    OS_NONE, OS_BSD, OS_BSD_RIGHT, OS_OLD_LINUX, OS_LINUX, OS_OLD_SOLARIS, OS_SOLARIS, OS_HPUX10,
    OS_HPUX11, OS_IRIX, OS_MACOS, OS_WINDOWS, OS_VISTA, OS_WINDOWS2K3,
    OS_FIRST,           /* keeps the first copy; cannot be configured */
    OS_LAST,            /* takes the last copy; cannot be configured */
    OS_POLICY_COUNT
};

struct os_policies;
/* Returns NULL with *err set on a malformed address. Read-only once created. */
struct os_policies *os_policies_new(const struct conf_node *root, struct err *err);
void os_policies_free(struct os_policies *policies);

/* Finds the policy of an address by the longest prefix; OS_BSD if no list includes it. Never
 * OS_UNKNOWN, BSD_RIGHT or OLD_SOLARIS, which TCP handling does not distinguish. */
enum os_policy os_policy_find(const struct os_policies *policies, const struct ip *ip);

const char *os_policy_name(enum os_policy os);          /* as configured */
enum os_policy os_policy_by_name(const char *name);     /* OS_UNKNOWN: no such name */

#endif
