/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/list.h - the registration list of rule keywords: one line each.
 *
 * K(symbol) stands for `const struct keyword_ops keyword_<symbol>` in a file of
 * detect/keywords/<family>/. Keywords about payloads and buffers are listed in
 * keywords/payload/; those that protocols declare are in no list. */
#ifndef DETECT_KEYWORDS_LIST_H
#define DETECT_KEYWORDS_LIST_H

#define KEYWORD_LIST(K)     \
    /* meta */              \
    K(sid)                  \
    K(gid)                  \
    K(rev)                  \
    K(msg)                  \
    K(classtype)            \
    K(priority)             \
    K(reference)            \
    K(metadata)             \
    K(target)               \
    K(requires)             \
    K(noalert)              \
    K(alert)                \
    K(prefilter)            \
    K(bypass)

#endif
