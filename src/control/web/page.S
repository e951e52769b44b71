/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/page.S - the page, put into the program as it is. */
    .section .rodata
    .global web_page_html
    .global web_page_html_end
web_page_html:
    .incbin "src/control/web/page.html"
web_page_html_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
