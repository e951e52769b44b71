# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion of idsc. The running engine names the commands.

complete -c idsc -f
complete -c idsc -s s -l socket -r -F -d 'the control socket'
complete -c idsc -s h -l help -d 'list the options'
complete -c idsc -n __fish_is_first_token -a "(idsc help 2> /dev/null | string replace -r ' .*' '')"
