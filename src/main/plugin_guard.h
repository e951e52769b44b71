/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/plugin_guard.h - names the plugin that ends or stops the process while it is loaded. */
#ifndef MAIN_PLUGIN_GUARD_H
#define MAIN_PLUGIN_GUARD_H

/* Around plugins_load(), on the main thread. In between, a signal that ends the process names the
 * plugin first, exit() ends with a failing status, and so do plugins that take longer than
 * PLUGIN_LOAD_SECONDS. */
void plugin_guard_begin(void);
void plugin_guard_end(void);

#define PLUGIN_LOAD_SECONDS 60

#endif
