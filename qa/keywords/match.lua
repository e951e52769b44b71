-- SPDX-License-Identifier: GPL-2.0-or-later
-- match.lua - for the keyword lua: a query for a name of more than 100 characters.
local dns = require("suricata.dns")

function init(args)
    return {}
end

function match(args)
    local tx, err = dns.get_tx()
    return tx ~= nil and #(tx:rrname() or "") > 100 and 1 or 0
end
