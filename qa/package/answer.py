# SPDX-License-Identifier: GPL-2.0-or-later
"""answer.py SOCKET: one client, as the control socket of the engine serves it."""
import json
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
file = server.accept()[0].makefile("rw")
for line in file:
    request = json.loads(line)
    message = request.get("arguments")
    if request.get("command") == "command-help":
        message = [{"name": "iface-stat", "args": [{"name": "iface", "type": "string",
                                                    "optional": False}]}]
    answer = {"message": message, "return": "OK"} if "command" in request else {"return": "OK"}
    file.write(json.dumps(answer) + "\n")
    file.flush()
