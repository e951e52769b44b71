/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuid_mask.c - preloaded by `without-avx512`: the program and its libraries find no AVX-512.
 *
 * The kernel can make the instruction CPUID fault in a process (arch_prctl(2), ARCH_SET_CPUID).
 * Each fault is answered here with what the CPU says, less the features that are hidden. So engines
 * choose their code as on another CPU, Hyperscan too, which has no setting for that. The CPU still
 * runs these instructions: what was compiled for them works. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define FEATURES 7u                     /* the leaf that names them */

/* Of EBX, ECX and EDX: all parts of AVX-512, and GFNI, VAES and VPCLMULQDQ, which came with it. */
static const uint32_t hidden[3] = {
    1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31,
    1u << 1 | 1u << 6 | 1u << 8 | 1u << 9 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 14,
    1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25,
};

static int fault_on_cpuid(int on)
{
    return (int)syscall(SYS_arch_prctl, ARCH_SET_CPUID, !on);
}

static int is_cpuid(const uint8_t *code)
{
    return code[0] == 0x0f && code[1] == 0xa2;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint32_t leaf = (uint32_t)reg[REG_RAX], sub = (uint32_t)reg[REG_RCX], r[4];

    (void)info;
    if (!is_cpuid((const uint8_t *)reg[REG_RIP])) {
        signal(sig, SIG_DFL);           /* it happens once more, and ends the process */
        return;
    }
    fault_on_cpuid(0);
    __cpuid_count(leaf, sub, r[0], r[1], r[2], r[3]);
    fault_on_cpuid(1);
    for (unsigned i = 0; i < 3 && leaf == FEATURES && sub == 0; i++)
        r[i + 1] &= ~hidden[i];
    reg[REG_RAX] = r[0];
    reg[REG_RBX] = r[1];
    reg[REG_RCX] = r[2];
    reg[REG_RDX] = r[3];
    reg[REG_RIP] += 2;
}

__attribute__((constructor)) static void mask(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

    if (sigaction(SIGSEGV, &action, NULL) == 0 && fault_on_cpuid(1) == 0)
        return;
    perror("cpuid_mask: this CPU or kernel cannot mask CPUID");
    exit(2);
}
