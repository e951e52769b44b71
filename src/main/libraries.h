/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/libraries.h - the libraries in use, for --build-info. */
#ifndef MAIN_LIBRARIES_H
#define MAIN_LIBRARIES_H

/* Prints a line for each library with its version. */
void libraries_print(void);

#endif
