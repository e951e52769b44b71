-- SPDX-License-Identifier: GPL-2.0-or-later
local config = require("suricata.config")
local library = require("suricata.ssh")

function init(args)
    library.enable_hassh()
    return { protocol = "ssh" }
end

function setup(args)
    file = assert(io.open(config.log_path() .. "/ssh.txt", "w"))
end

function log(args)
    local tx = library.get_tx()

    file:write(tx:client_proto(), " ", tx:client_hassh(), " ", tx:server_hassh_string(), "\n")
end

function deinit(args)
    file:close()
end
