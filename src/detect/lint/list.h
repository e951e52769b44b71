/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/list.h - the checks of --lint: K(symbol) stands for `const struct lint_check
 * lint_<symbol>` in a file of this directory. */
#ifndef DETECT_LINT_LIST_H
#define DETECT_LINT_LIST_H

#define LINT_CHECK_LIST(K)  \
    /* refused.c */         \
    K(refused)              \
    K(upper_case)           \
    /* direction.c */       \
    K(wrong_direction)      \
    K(client_port)          \
    K(wrong_protocol)       \
    /* length.c */          \
    K(never_length)         \
    K(never_window)         \
    /* together.c */        \
    K(never_together)       \
    K(never_number)         \
    /* facts.c */           \
    K(not_in_buffer)        \
    K(syn_established)      \
    /* proto/encoded.c */   \
    K(encoded_content)      \
    /* flowbits.c */        \
    K(flowbit_never_set)    \
    K(flowbit_never_read)   \
    /* threshold.c */       \
    K(threshold_never)      \
    K(always_suppressed)    \
    /* cost.c */            \
    K(pcre_without_content) \
    K(slow_pcre)            \
    K(only_negated)         \
    K(no_fast_pattern)      \
    /* fast_pattern.c */    \
    K(short_fast_pattern)   \
    K(common_fast_pattern)  \
    K(shared_fast_pattern)  \
    K(poor_fast_pattern)    \
    /* duplicate.c */       \
    K(duplicate)            \
    K(shadowed)             \
    /* deprecated.c */      \
    K(deprecated)           \
    /* about.c */           \
    K(missing_msg)          \
    K(missing_classtype)    \
    K(missing_rev)

#endif
