/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/crash.c - the handler uses nothing but what signal-safety(7) allows. */
#include "control/crash.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define CALLS_MAX 64
#define FILES_MAX 4

/* Written by the main thread before others start; the handler reads. */
static int files[FILES_MAX] = { STDERR_FILENO };
static unsigned file_count = 1;

void crash_report_to(int fd)
{
    if (file_count < FILES_MAX)
        files[file_count++] = fd;
}

static const char *name_of(int number)
{
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    default: return "SIGABRT";
    }
}

static void print(int fd, const char *text)
{
    (void)!write(fd, text, strlen(text));
}

static void report(int number)
{
    void *call[CALLS_MAX];
    int count = backtrace(call, CALLS_MAX);

    for (unsigned i = 0; i < file_count; i++) {
        print(files[i], "Error: ids: ended by ");
        print(files[i], name_of(number));
        print(files[i], ", stack trace (addr2line -e FILE OFFSET tells the lines):\n");
        backtrace_symbols_fd(call, count, files[i]);
    }
    raise(number);                  /* its default, as SA_RESETHAND has put that back */
}

void crash_report_begin(void)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    struct sigaction action = { .sa_handler = report, .sa_flags = SA_RESETHAND | SA_NODEFER };
    struct sigaction old;
    void *call[1];

    (void)backtrace(call, 1);       /* loads what it needs, which a handler may not */
    for (unsigned i = 0; i < ARRAY_LEN(numbers); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);   /* a sanitizer's own would tell more */
}
