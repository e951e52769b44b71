-- SPDX-License-Identifier: GPL-2.0-or-later
local config = require("suricata.config")
local library = require("suricata.file")

function init(args)
    return { type = "file" }
end

function setup(args)
    file = assert(io.open(config.log_path() .. "/file.txt", "w"))
end

function log(args)
    local f = library.get_file()

    file:write(f:name(), " ", tostring(f:is_stored()), " ", f:file_id(), "\n")
end

function deinit(args)
    file:close()
end
