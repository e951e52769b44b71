/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/plugin_guard.c - a plugin runs code of others in this process: constructors in dlopen(), and
 * load(). Whatever ends the process there must name it. The handlers call only what
 * signal-safety(7) allows. */
#include "main/plugin_guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "plugins/load.h"

static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };

/* The main thread writes it; a handler interrupts that thread, or another one of the plugin. */
static struct {
    struct sigaction old[ARRAY_LEN(numbers)];
    bool is_registered;
} guard;

static void print(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static bool print_plugin(const char *what)
{
    const char *plugin = plugins_loading();

    if (plugin == NULL)
        return false;
    print("Error: plugins: ");
    print(plugin);
    print(what);
    return true;
}

static const char *reason_of(int number)
{
    switch (number) {
    case SIGSEGV: return ": SIGSEGV while it is loaded\n";
    case SIGBUS: return ": SIGBUS while it is loaded\n";
    case SIGFPE: return ": SIGFPE while it is loaded\n";
    case SIGILL: return ": SIGILL while it is loaded\n";
    case SIGABRT: return ": SIGABRT while it is loaded\n";
    default: return ": the time to load plugins is over\n";
    }
}

static void restore(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(numbers); i++)
        sigaction(numbers[i], &guard.old[i], NULL);
}

/* The handler that was there before has its turn, such as that of a sanitizer. */
static void on_signal(int number)
{
    print_plugin(reason_of(number));
    if (number == SIGALRM)
        _exit(EXIT_FAILURE);
    restore();
    raise(number);
}

/* exit() with any status: the engine has not started. */
static void on_exit_of_plugin(void)
{
    if (print_plugin(": it ends the process while it is loaded\n"))
        _exit(EXIT_FAILURE);
}

/* A plugin that calls _exit() runs no handler. The linker finds symbols of the program before those
 * of libc, so its call arrives here. libc's own exit() does not. */
#define PUBLIC __attribute__((visibility("default"), noreturn))

static _Noreturn void end_process(int status)
{
    if (print_plugin(": it ends the process while it is loaded\n"))
        status = EXIT_FAILURE;
    for (;;)
        syscall(SYS_exit_group, status);
}

PUBLIC void _exit(int status)
{
    end_process(status);
}

PUBLIC void _Exit(int status)
{
    end_process(status);
}

void plugin_guard_begin(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NODEFER };

    for (unsigned i = 0; i < ARRAY_LEN(numbers); i++)
        sigaction(numbers[i], &action, &guard.old[i]);
    if (!guard.is_registered)
        guard.is_registered = atexit(on_exit_of_plugin) == 0 &&
                              at_quick_exit(on_exit_of_plugin) == 0;
    alarm(PLUGIN_LOAD_SECONDS);
}

void plugin_guard_end(void)
{
    alarm(0);
    restore();
}
