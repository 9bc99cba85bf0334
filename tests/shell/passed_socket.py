"""Runs a command as systemd runs a service: with sockets that listen, and with
one at which the command says how it is. Prints what it says, and the address.

Usage: passed_socket.py COUNT COMMAND...

SPDX-License-Identifier: MIT
"""
import os
import socket
import sys

count = int(sys.argv[1])
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind("notify")
notify.settimeout(60)
listening = [socket.socket() for _ in range(count)]
for one in listening:
    one.bind(("127.0.0.1", 0))
    one.listen()
if count > 0:
    print("127.0.0.1:%d" % listening[0].getsockname()[1], flush=True)
child = os.fork()
if child == 0:
    for at, one in enumerate(listening):
        os.dup2(one.fileno(), 13 + at)
    for at in range(count):
        os.dup2(13 + at, 3 + at)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(count),
                      NOTIFY_SOCKET=os.path.abspath("notify"))
    os.execvp(sys.argv[2], sys.argv[2:])
for one in listening:
    one.close()
with open("service.pid", "w") as file:
    file.write(str(child))
if count < 2:
    print(notify.recv(100).decode(), flush=True)
    print(notify.recv(100).decode(), flush=True)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
