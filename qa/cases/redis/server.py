# SPDX-License-Identifier: GPL-2.0-or-later
"""server.py WHERE FOLDER [CLOSE-AFTER]: a stand-in for a redis server, until it is ended.

WHERE is the path of a socket, or 0 for a loopback port, whose number goes to FOLDER/port. Writes
each command as a JSON list to FOLDER/commands, and for each connection that ended a line to
FOLDER/connections: how many commands it brought, and how many came at once at most. With
CLOSE-AFTER the first connection is closed after so many answers."""
import json
import os
import socket
import sys
import threading


class Connection:
    def __init__(self, sock, commands, close_after):
        self.sock, self.commands, self.close_after = sock, commands, close_after
        self.data, self.count, self.most = b"", 0, 0

    def line(self, at):
        end = self.data.index(b"\r\n", at)
        return self.data[at:end], end + 2

    def command(self):
        """The next command, or None when it has not all come."""
        try:
            head, at = self.line(0)
            assert head[:1] == b"*", head
            args = []
            for _ in range(int(head[1:])):
                head, at = self.line(at)
                assert head[:1] == b"$", head
                size = int(head[1:])
                if len(self.data) < at + size + 2:
                    return None
                args.append(self.data[at:at + size].decode())
                assert self.data[at + size:at + size + 2] == b"\r\n"
                at += size + 2
        except ValueError:
            return None
        self.data = self.data[at:]
        return args

    def serve(self):
        while True:
            data = self.sock.recv(1 << 16)
            if not data:
                return
            self.data += data
            answers, now = b"", 0
            while self.count != self.close_after and (args := self.command()) is not None:
                now += 1
                self.count += 1
                self.commands.write(json.dumps(args) + "\n")
                answers += b"$3\r\n1-0\r\n" if args[0] == "XADD" else b":1\r\n"
            self.most = max(self.most, now)
            self.commands.flush()
            self.sock.sendall(answers)
            if self.count == self.close_after:
                return


def main():
    where, directory = sys.argv[1:3]
    close_after = int(sys.argv[3]) if len(sys.argv) > 3 else None
    if where == "0":
        listener = socket.create_server(("127.0.0.1", 0))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where)
        listener.listen()
    commands = open(os.path.join(directory, "commands"), "w", encoding="utf-8")
    with open(os.path.join(directory, "port.new"), "w", encoding="utf-8") as f:
        f.write(str(listener.getsockname()[1]) if where == "0" else where)
    os.rename(os.path.join(directory, "port.new"), os.path.join(directory, "port"))
    while True:
        sock, _ = listener.accept()
        connection = Connection(sock, commands, close_after)
        close_after = None

        def run(connection=connection):
            connection.serve()
            connection.sock.close()
            with open(os.path.join(directory, "connections"), "a", encoding="utf-8") as f:
                f.write(f"{connection.count} {connection.most}\n")
        threading.Thread(target=run, daemon=True).start()


main()
