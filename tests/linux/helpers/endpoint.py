# SPDX-License-Identifier: BSD-3-Clause
"""This program is one end of TCP connections for tests.

endpoint.py receive ADDRESS PORT    prints "ready", then the bytes of each finished connection
endpoint.py send ADDRESS PORT CC SECONDS CONNECTIONS [BYTES_A_SECOND]     prints the bytes sent
"""

import resource
import selectors
import signal
import socket
import sys
import time

CHUNK = bytes(1 << 16)


def receive(address: str, port: int) -> None:
    """Reads and counts the data of any number of connections, until it is killed."""
    ready = selectors.DefaultSelector()
    listener = socket.create_server((address, port), backlog=4096)
    ready.register(listener, selectors.EVENT_READ)
    counts: dict[socket.socket, int] = {}
    print("ready", flush=True)
    buffer = bytearray(1 << 20)
    while True:
        for key, _ in ready.select():
            if key.fileobj is listener:
                conn, _ = listener.accept()
                counts[conn] = 0
                ready.register(conn, selectors.EVENT_READ)
                continue
            conn = key.fileobj  # type: ignore[assignment]
            size = conn.recv_into(buffer)
            counts[conn] += size
            if size == 0:
                ready.unregister(conn)
                conn.close()
                print(counts.pop(conn), flush=True)


def send(
    address: str, port: int, cc: str, seconds: float, connections: int, rate: float = 0
) -> None:
    """Sends as much as each connection takes, or `rate` bytes a second, then closes in order.

    SIGTERM ends the seconds early.
    """
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    ready = selectors.DefaultSelector()
    total = 0
    sockets = []
    for _ in range(connections):
        conn = socket.socket()
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
        conn.connect((address, port))
        conn.setblocking(False)
        sockets.append(conn)
        ready.register(conn, selectors.EVENT_WRITE)
    start = time.monotonic()
    while (now := time.monotonic()) < start + seconds and not stopped:
        piece = CHUNK[: int(rate / 50)] if rate else CHUNK
        for key, _ in ready.select(timeout=0 if rate else 0.1):
            total += key.fileobj.send(piece)  # type: ignore[union-attr]
        if rate:  # a piece for each connection every 20 ms
            time.sleep(max(0, now + 0.02 - time.monotonic()))
    for conn in sockets:
        conn.setblocking(True)
        conn.shutdown(socket.SHUT_WR)
    for conn in sockets:
        conn.recv(1)  # the other end has read everything and closes
        conn.close()
    print(total)


if __name__ == "__main__":
    what, address, port, *rest = sys.argv[1:]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if what == "receive":
        receive(address, int(port))
    else:
        cc, seconds, connections, *more = rest
        send(address, int(port), cc, float(seconds), int(connections), *map(float, more))
