/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/crash.c - writes a stack trace when the engine crashes. The handler calls only
 * what signal-safety(7) allows; backtrace() is the exception, which is loaded in advance. */
#include "control/crash.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define CALLS_MAX 64 /* innermost frames; the rest is cut off */
#define FILES_MAX 4  /* standard error and log files */

/* The main thread fills it before other threads start; the handler only reads. */
static int files[FILES_MAX] = { STDERR_FILENO };
static unsigned file_count = 1;

/* More files than FILES_MAX are ignored: one trace is enough. */
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

/* Returns to the default action at the end, so the exit status and the core file are those
 * of the original signal. */
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
    raise(number);                  /* SA_RESETHAND has put the default action back */
}

void crash_report_begin(void)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    struct sigaction action = { .sa_handler = report, .sa_flags = SA_RESETHAND | SA_NODEFER };
    struct sigaction old;
    void *call[1];

    (void)backtrace(call, 1);       /* loads libgcc, which allocates: a handler must not */
    for (unsigned i = 0; i < ARRAY_LEN(numbers); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);   /* keeps a sanitizer's handler */
}
