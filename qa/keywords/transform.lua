-- SPDX-License-Identifier: GPL-2.0-or-later
-- transform.lua - for the keyword luaxform: the buffer backwards.
function init()
    return {}
end

function transform(input, args)
    local result = string.reverse(input)
    return result, #result
end
