-- SPDX-License-Identifier: GPL-2.0-or-later
local config = require("suricata.config")
local library = require("suricata.tls")

function init(args)
    return { protocol = "tls" }
end

function setup(args)
    file = assert(io.open(config.log_path() .. "/tls.txt", "w"))
end

function log(args)
    local chain = library.get_tx():get_server_cert_chain()

    file:write(#chain, " ", chain[0].length, " ", #chain[1].data, " ", tostring(chain[2]), "\n")
end

function deinit(args)
    file:close()
end
