/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/main.c - the program. */
#include "config.h"

#include <stdio.h>

int main(void)
{
    printf("This is %s version %s\n", PACKAGE_NAME, PACKAGE_VERSION);
    return 0;
}
