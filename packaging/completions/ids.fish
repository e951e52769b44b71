# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion of ids. The options come from `ids --help`, so this file knows none of them.

function __ids_complete
    for line in (ids --help 2> /dev/null)
        set -e letter name optional value text
        # Groups that match nothing leave empty variables.
        string match -rq -- '^  (?<letter>-[A-Za-z])?(?:, )?(?<name>--[a-z-]+)?'\
'(?:\[=(?<optional>[^]]*)\]| (?<value>[^ ]+))?(?: +(?<text>.*))?$' $line
        and test -n "$letter$name"; or continue
        set -l arguments -c ids -d "$text"
        test -n "$letter"; and set -a arguments -s (string sub -s 2 -- $letter)
        test -n "$name"; and set -a arguments -l (string sub -s 3 -- $name)
        test -n "$value"; and set -a arguments -r
        set -l metavar "$optional$value"
        switch $metavar
            case FILE PATH '*|FILE'
                set -a arguments -F
            case DIR
                set -a arguments -f -a '(__fish_complete_directories)'
            case IFACE
                set -a arguments -f -a '(__fish_print_interfaces)'
            case '*|*'
                set -a arguments -f -a (string replace -a '|' ' ' -- $metavar)
        end
        complete $arguments
    end
end

__ids_complete
