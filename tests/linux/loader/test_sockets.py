# SPDX-License-Identifier: BSD-3-Clause
"""Connections of any control are found through sock_diag and decoded, in any namespace."""

import math
import socket
import struct
import time
from pathlib import Path

import pytest
from machine import alone, joined, outcome

from westwood.errors import InputError, RunError
from westwood.kernel import namespaces, sock_diag, tcp_info
from westwood.kernel.sockets import Match, sampling, snapshot

RECORDED = Path(__file__).with_name("sock_diag.bin")
PORT = 5001


def recorded() -> list[bytes]:
    """Reads an answer of Linux 6.18: cubic by IPv4, BBRv1 by IPv6, reno by IPv4 in IPv6."""
    raw, offset, answers = RECORDED.read_bytes(), 0, []
    while offset < len(raw):
        size = struct.unpack_from("=I", raw, offset)[0]
        answers.append(raw[offset + 4 : offset + 4 + size])
        offset += 4 + size
    return answers


def test_the_kernels_answer_has_a_row_per_connection():
    frame = sock_diag.frame_of([(0.5, recorded())], 7)
    assert frame.columns == list(sock_diag.COLUMNS)
    assert frame.schema == sock_diag.empty().schema
    cubic, bbr, reno = frame.iter_rows(named=True)
    assert cubic["flow"] == "127.0.0.1:49952>127.0.0.1:45112"
    assert bbr["flow"] == "[::1]:51068>[::1]:45112"
    assert reno["flow"] == "127.0.0.1:49968>127.0.0.1:45112", "IPv4 in IPv6 is IPv4"
    assert [row["cc"] for row in (cubic, bbr, reno)] == ["cubic", "bbr", "reno"]
    assert [row["sent_bytes"] for row in (cubic, bbr, reno)] == [1_000_000, 500_000, 20_000]
    assert cubic["delivered_bytes"] == 1_000_001, "the SYN counts as a byte"
    assert (cubic["time_s"], cubic["netns"], cubic["state"]) == (0.5, 7, "open")
    assert (cubic["srtt_s"], cubic["rtt_min_s"], cubic["rto_s"]) == (1e-5, 1e-6, 0.204)
    assert math.isnan(cubic["ssthresh"]) and cubic["cwnd"] == 10 and cubic["mss"] == 65483
    assert cubic["app_limited"] is True and cubic["unsent_bytes"] == 0


def test_a_controls_own_values_are_unknown_for_the_others():
    cubic, bbr, reno = sock_diag.frame_of([(0, recorded())], 7).iter_rows(named=True)
    assert math.isnan(cubic["estimate_bps"]) and math.isnan(reno["pacing_gain"])
    assert bbr["estimate_bps"] == pytest.approx(bbr["delivery_bps"], rel=1e-3)
    assert bbr["pacing_gain"] == pytest.approx(2.885, rel=1e-3), "2/ln 2, in startup"


def test_values_that_an_older_kernel_lacks_are_unknown():
    """Linux 4.6 ends its structure after the segments sent, 6.1 before the timeouts."""
    info = tcp_info.decoded(bytes(range(160)))
    old, newer = tcp_info.columns(info, 160), tcp_info.columns(info, 240)
    assert old["sent"].to_list() == [0x9F9E9D9C] and old["sent_bytes"].to_list() == [None]
    assert math.isnan(old["delivery_bps"][0]) and newer["delivered"].to_list() == [0]
    assert newer["timeouts"].to_list() == [None]


def test_sockets_with_other_attributes_are_distinguished():
    """Each message is decoded by its own attributes, even if two have the same length."""
    frame = sock_diag.frame_of([(look, recorded()) for look in (0.0, 1.0)], 7)
    assert frame["cc"].to_list() == ["cubic", "bbr", "reno"] * 2
    assert frame["time_s"].to_list() == [0.0] * 3 + [1.0] * 3


@pytest.mark.parametrize("cut", [1, 17, 80, 200, 419])
def test_a_truncated_answer_gives_no_frame(cut):
    with pytest.raises(RunError, match="cut off"):
        sock_diag.frame_of([(0, [recorded()[0][:cut].ljust(17, b"\1")])], 7)


def test_the_kernels_refusal_gives_one_line():
    refusal = struct.pack("=IHHIIi", 36, 2, 0, 0, 0, -22) + bytes(16)
    with pytest.raises(RunError, match="sock_diag: Invalid argument"):
        sock_diag._is_last(refusal)


def test_own_connections_need_no_privileges():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as connection,
    ):
        other, _ = server.accept()
        connection.sendall(b"x" * 1000)
        assert other.recv(1000, socket.MSG_WAITALL)
        port = server.getsockname()[1]
        seen = snapshot(Match(port=port))
        assert sorted(seen["sent_bytes"]) == [0, 1000] and seen["cookie"].n_unique() == 2
        assert snapshot(Match(local_port=port))["received_bytes"].to_list() == [1000]
        only = snapshot(Match(remote_port=port, remote="127.0.0.1"))
        assert only["local_port"].to_list() == [connection.getsockname()[1]]
        assert snapshot(Match(port=port, cc=("nobody",))).is_empty()
        with sampling(Match(remote_port=port), every_s=0.01) as samples:
            time.sleep(0.2)
            connection.sendall(b"x" * 1000)
            time.sleep(0.1)
        other.close()
    frame = samples.frame()
    assert frame.height == samples.count >= 10 and frame["time_s"].is_sorted()
    assert frame["sent_bytes"].to_list()[:1] == [1000] and frame["sent_bytes"][-1] == 2000


def test_invalid_choices_are_named():
    for wrong in (0, 65536):
        with pytest.raises(InputError, match="expected a port from 1 to 65535"):
            snapshot(Match(port=wrong))
    with pytest.raises(InputError, match="every_s = 0"), sampling(every_s=0):
        pass
    for name in ("../net", "", "no-such-namespace", "0", "4194305"):
        with pytest.raises(InputError, match="expected a name in /run/netns or a process"):
            snapshot(netns=name)


@pytest.mark.kernel
def test_losses_of_every_control_in_another_namespace():
    """The sampler enters the sender's namespace, whose path loses packets."""
    with joined("--rate", 10e6, "--delay", 0.01, "--queue", 1000, "--drop", "100,300") as ends:
        sender, receiver = ends
        sink = receiver.receive("10.77.0.2", PORT)
        with sampling(Match(remote_port=PORT), sender.pid, 0.02) as samples:
            for cc in ("reno", "cubic"):
                outcome(sender.send("10.77.0.2", PORT, cc, 0.5), sink, 1)
        assert snapshot(Match(remote_port=PORT)).is_empty(), "it is in another namespace"
    frame = samples.frame()
    assert set(frame["cc"]) == {"reno", "cubic"} and frame["netns"].n_unique() == 1
    for _, rows in frame.group_by("cookie"):
        assert rows["delivered_bytes"].is_sorted() and rows["time_s"].is_sorted()
        assert rows["cwnd"].min() > 0 and rows["rtt_min_s"].drop_nans().min() > 0.009
    lossy = frame.filter(cc="reno")
    assert lossy["retransmitted"].max() >= 2 and lossy["ssthresh"].drop_nans().len() > 0


@pytest.mark.kernel
def test_an_unnamed_namespace_is_found():
    with alone() as host:
        name_of_inode = namespaces.everywhere()
        with namespaces.opened(host.pid) as there:
            assert there.inode in name_of_inode and there.inode != namespaces.own_inode()
            assert there.run(namespaces.own_inode) == there.inode


def test_an_error_inside_is_raised_outside():
    def fail():
        raise ZeroDivisionError

    with namespaces.opened(None) as namespace, pytest.raises(ZeroDivisionError):
        namespace.run(fail)
