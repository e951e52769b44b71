-- SPDX-License-Identifier: GPL-2.0-or-later
local ntp = require("suricata.ntp")

function init(args)
    return {}
end

function match(args)
    local tx, err = ntp.get_tx()
    if tx == nil then
        return 0
    end
    if tx:version() == 4 and tx:mode() == 3 and tx:stratum() == 2 and tx:reference_id() == "abcd" then
        return 1
    end
    return 0
end
