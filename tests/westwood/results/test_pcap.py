# SPDX-License-Identifier: BSD-3-Clause
"""tshark finds nothing malformed in a capture, and the same retransmissions as we do."""

import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from golden_files import assert_golden, digest
from one_link import BACK, one_link

from westwood import Scenario, simulate
from westwood.errors import InputError
from westwood.results import pcap

needs_tshark = pytest.mark.skipif(
    not shutil.which("tshark"), reason="no tshark: apt-get install tshark"
)


def slow(value: str) -> Any:
    return pytest.param(value, marks=pytest.mark.slow)


# tshark may take a retransmission soon after an ACK for a reordered segment. At the start of the
# sender's link it can't, since nothing can be reordered there.
RESENT = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
WRONG = "_ws.malformed or _ws.expert.severity == error or ip.checksum.status == 0"


def count(file: Path, which: str) -> int:
    """Counts the packets that match a tshark display filter; verifies checksums."""
    options = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    done = subprocess.run(
        ["tshark", "-r", file, *options, "-Y", which, "-T", "fields", "-e", "frame.number"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.count("\n")


def fields(file: Path, which: str, *names: str) -> list[list[str]]:
    chosen = [word for name in names for word in ("-e", name)]
    done = subprocess.run(
        ["tshark", "-r", file, "-Y", which, "-T", "fields", *chosen],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


@needs_tshark
@pytest.mark.parametrize(
    "cc", ["newreno", "sack", *(slow(cc) for cc in ("tahoe", "westwood+-linux", "bbr"))]
)
def test_tshark_counts_the_same_retransmissions(cc, tmp_path):
    scenario = Scenario.preset("table1").with_settings({"duration": "100s", "tcp.cc": cc})
    result = simulate(scenario, 3, capture="access")
    file = tmp_path / "access.pcap"
    written = pcap.write(result, file)
    (row,) = result.flow_rows
    assert count(file, "ip") == written
    assert count(file, WRONG) == 0
    assert row["retransmitted"] > 20
    assert count(file, RESENT) == pytest.approx(row["retransmitted"], rel=0.01)
    data = count(file, "tcp.len > 0")
    assert data == pytest.approx(row["sent"], rel=0.01)


def mixed(duration: str = "30s") -> Scenario:
    """ECN, datagrams, long headers, SACK blocks, both directions, several connections."""
    red = {"kind": "red", "limit": "50p", "min": 3, "max": 40, "weight": 0.05, "ecn": True}
    loss = {"loss": {"rate": 0.02}, "reorder": {"rate": 0.02, "delay": "9ms"}}
    transfers = {"arrivals": {"every": "3s", "size": "20kB"}, "receive_window": "300kB"}
    return one_link(
        {"name": "ecn", "cc": "westwood+", "ecn": True},
        {"name": "sack", "cc": "sack", "header": "52B", **BACK},
        {"name": "udp", "app": {"kind": "udp", "rate": "300kbps"}},
        {"name": "web", "cc": "cubic", **transfers},
        link={"name": "l", "rate": "3Mbps", "delay": "20ms", "queue": red, **loss},
        duration=duration,
    )


@needs_tshark
def test_every_kind_of_packet_is_sound(small, tmp_path):
    result = simulate(mixed(), 1, capture="l")
    file = tmp_path / "l.pcap"
    written = pcap.write(result, file)
    assert (count(file, "ip"), count(file, WRONG)) == (written, 0)
    assert count(file, "tcp.checksum.status == 0 and not tcp.payload") == 0
    marked = sum(way.marked for way in (*result.raw.forward, *result.raw.backward))
    assert marked > 0 and count(file, "ip.dsfield.ecn == 1") == 0
    assert count(file, "tcp.flags.ece == 1 and tcp.flags.syn == 0") >= marked / 3
    assert count(file, "tcp.flags.cwr == 1 and tcp.flags.syn == 0") > 0
    assert count(file, "udp.length == 1480") == pytest.approx(result.rows["sent"][2], abs=60)
    assert count(file, "tcp.options.sack_le") > 20
    syns = fields(
        file,
        "tcp.flags.syn == 1 and tcp.flags.ack == 0 and tcp.srcport != 10001",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.dstport",
    )
    assert {tuple(syn) for syn in syns} == {("1448", "5", "5001"), ("1448", "3", "5001")}
    sizes = fields(file, "tcp.srcport == 10001 and tcp.len == 1448", "ip.len", "tcp.hdr_len")
    assert sizes and {tuple(size) for size in sizes} == {("1500", "32")}
    # Window scaling: the receiver announces 300 kB.
    announced = fields(file, "tcp.dstport == 10004 and tcp.flags.syn == 0", "tcp.window_size")
    assert {int(size) for (size,) in announced} == {300_000}


@needs_tshark
def test_packets_of_an_l4s_flow_carry_ect1(small, tmp_path):
    file = tmp_path / "l.pcap"
    l4s = mixed("5s").with_settings({"ecn.ect1": True})
    pcap.write(simulate(l4s, 1, capture="l"), file)
    assert count(file, "ip.dsfield.ecn == 1") > 0
    assert count(file, "ip.dsfield.ecn == 2") == 0


@needs_tshark
def test_a_transfer_ends_with_a_fin_and_its_ack(small, tmp_path):
    """RFC 9293, 3.10.4 and 3.10.7.4: the FIN takes a sequence number and is acknowledged."""
    whole = small.with_settings({"tcp.size": "100kB", "bottleneck.loss.rate": 0.02})
    file = tmp_path / "a.pcap"
    pcap.write(simulate(whole, 1, capture="access"), file)
    names = ("tcp.seq", "tcp.len", "tcp.dstport")
    fins = fields(file, "tcp.flags.fin == 1", *names)
    assert fins and {int(seq) + int(size) for seq, size, _ in fins} == {100_001}
    assert {port for *_, port in fins} == {"5001"}
    acks = [int(ack) for (ack,) in fields(file, "tcp.srcport == 5001", "tcp.ack")]
    assert max(acks) == acks[-1] == 100_002
    assert count(file, WRONG) == 0


def test_the_file_is_in_nanoseconds_and_in_order(small, tmp_path):
    result = simulate(small, 1, capture="bottleneck")
    file = tmp_path / "b.pcap"
    written = pcap.write(result, file)
    content = file.read_bytes()
    assert struct.unpack_from("<IHHiIII", content)[:3] == (0xA1B23C4D, 2, 4)
    place, last, packets = 24, (0, 0), 0
    while place < len(content):
        seconds, rest, stored, length = struct.unpack_from("<IIII", content, place)
        assert last <= (seconds, rest) and rest < 10**9 and stored <= length
        last, place, packets = (seconds, rest), place + 16 + stored, packets + 1
    assert packets == written and last <= (20, 0)


def test_headers_that_tcp_can_not_have_are_refused(small, tmp_path):
    odd = small.with_settings({"tcp.header": "42B", "tcp.timestamps": False})
    result = simulate(odd, 1, capture="bottleneck")
    with pytest.raises(
        InputError, match=r"tcp\.header = \"42B\": a capture needs a header of 40B to 80B"
    ):
        pcap.write(result, tmp_path / "never.pcap")


def test_the_command_line_captures_the_chosen_link(westwood, small_file, tmp_path):
    called = westwood("trace", small_file, "--pcap", "cap.pcap", "--at", "access")
    assert (called.code, called.out, called.err) == (0, "cap.pcap\n", "")
    called = westwood("trace", small_file, "--pcap", "again.pcap").refusal()
    assert called == "westwood: --at: is missing, expected one of: access, bottleneck\n"
    called = westwood("trace", small_file, "--pcap", "again.pcap", "--at", "acces").refusal()
    assert "no such link" in called


def test_a_run_gives_the_same_capture_in_every_version(small, tmp_path):
    whole = small.with_settings({"tcp.size": "100kB", "tcp.header": "80B", "duration": "20s"})
    runs = {"mixed": (mixed("12s"), "l"), "transfer": (whole, "access")}
    file, hashes = tmp_path / "l.pcap", {}
    for name, (scenario, link) in runs.items():
        packets = pcap.write(simulate(scenario, 1, capture=link), file)
        hashes[name] = [packets, digest(file.read_bytes())]
    assert_golden("captures", hashes)


def test_the_checksums_of_a_capture_are_right(small, tmp_path):
    """RFC 1071: the ones' complement sum of the words, with the checksum, is -0."""
    file = tmp_path / "l.pcap"
    pcap.write(simulate(mixed("5s"), 1, capture="l"), file)
    content, place = file.read_bytes(), 24
    while place < len(content):
        stored, length = struct.unpack_from("<II", content, place + 8)
        packet = content[place + 16 : place + 16 + stored]
        assert ones_complement(packet[:20]) == 0xFFFF
        assert struct.unpack_from(">H", packet, 2)[0] == length
        if packet[9] == 6:  # the payload, all zeros, is left out
            pseudo = packet[12:20] + struct.pack(">HH", 6, length - 20)
            assert ones_complement(pseudo + packet[20:]) == 0xFFFF
        place += 16 + stored


def ones_complement(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total
