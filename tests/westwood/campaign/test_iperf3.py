# SPDX-License-Identifier: BSD-3-Clause
"""An upload over loopback, to a server that takes iperf3's steps."""

import contextlib
import socket
import struct
import threading

import pytest

from westwood.campaign import iperf3

BYTES = 200_000


def hear(talk: socket.socket) -> None:
    """Reads the client's JSON text."""
    (size,) = struct.unpack("!I", talk.recv(4, socket.MSG_WAITALL))
    talk.recv(size, socket.MSG_WAITALL)


def serve(server: socket.socket, takes: int) -> None:
    """Reads `takes` bytes of an upload; each byte sent announces a step of the protocol."""
    talk, _ = server.accept()
    with talk, contextlib.suppress(ConnectionResetError):  # by a client that gives up
        cookie = talk.recv(37, socket.MSG_WAITALL)
        talk.sendall(b"\x09")  # parameters
        hear(talk)
        talk.sendall(b"\x0a")  # streams
        data, _ = server.accept()
        with data:
            assert data.recv(37, socket.MSG_WAITALL) == cookie
            talk.sendall(b"\x01\x02")  # start, run
            data.recv(takes, socket.MSG_WAITALL)
            assert talk.recv(1) == b"\x04"  # end
            talk.sendall(b"\x0d")  # results
            hear(talk)
            talk.sendall(struct.pack("!I", 2) + b"{}" + b"\x0e")  # its own results, display
            assert talk.recv(1) == b"\x10"  # done


def upload(load: iperf3.Load, takes: int, timeout_s: float = 20) -> iperf3.Uploaded:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server, takes))
        thread.start()
        try:
            return iperf3.upload("127.0.0.1", server.getsockname()[1], "reno", load, timeout_s)
        finally:
            thread.join()


def test_an_upload_ends_when_all_of_it_is_acknowledged():
    done = upload(iperf3.Load(size=BYTES), takes=BYTES)
    assert done.acked >= BYTES and 0 < done.seconds < 20
    assert done.peer == "127.0.0.1"
    assert done.retransmitted <= 2  # loss probes, where the machine stalls the receiver


def test_an_upload_is_sampled_while_it_runs():
    done = upload(iperf3.Load(seconds=0.4), takes=1_000_000)
    assert 0.4 <= done.seconds < 20
    times_s = done.trace["time_s"]
    assert times_s.filter(times_s.is_between(0, 0.3, closed="none")).len() > 0


def test_an_upload_that_stalls_ends_at_its_time_limit():
    with pytest.raises(iperf3.ConnectionLost, match=r"timed out, \d+ of 100000000 bytes left"):
        upload(iperf3.Load(size=100_000_000), takes=1, timeout_s=0.2)
