# SPDX-License-Identifier: BSD-3-Clause
"""The text of exported ns-3 programs; test_ns3_slow.py builds and runs them."""

import re

import pytest
from one_link import one_link

from westwood.engines import ns3_limits
from westwood.engines.export.ns3 import program
from westwood.errors import InputError
from westwood.scenario import Scenario
from westwood.scenario.scenario import presets

TABLE1 = Scenario.preset("table1")


def defaults(text: str) -> dict[str, str]:
    """Returns the program's attributes with their values, constants resolved."""
    constants = dict(re.findall(r"^const \S+ (\w+) = (.*?);", text, re.MULTILINE))
    pairs = re.findall(r'Config::SetDefault\("ns3::(\S+)",\s+\w+\((.*)\)\);', text)
    words = ((name, re.sub(r"^Seconds\((.*)\)$", r"\1", value)) for name, value in pairs)
    return {name: constants.get(value, value) for name, value in words}


def test_constants_with_units_come_first():
    top, _, below = program(TABLE1).partition("struct Flow")
    for line in (
        "const double DURATION_S = 600;",
        "const uint64_t BOTTLENECK_RATE_BPS = 2000000;",
        "const double ACCESS_DELAY_S = 0.045; // one way",
        "const uint32_t BOTTLENECK_QUEUE_PACKETS = 100; // at each end",
        "const double BOTTLENECK_FORWARD_LOSS_RATE = 0.005; // of packets to sink",
        "const uint32_t SEGMENT_BYTES = 360; // of payload",
        "const double MIN_RTO_S = 0.2;",
    ):
        assert line in top
    assert "2000000" not in below and "0.045" not in below


def test_it_says_what_to_change_for_mainlines_classes():
    text = program(TABLE1.with_settings({"tcp.cc": "westwood+", "tcp.recovery": "sack"}))
    lines = [line for line in text.splitlines() if '"ns3::Ww' in line and "::Protocol" not in line]
    assert len(lines) == 2 and all('// mainline: "ns3::Tcp' in line for line in lines)
    assert (
        "Ww"
        not in program(TABLE1.with_settings({"tcp.cc": "cubic", "tcp.recovery": "prr"})).split(
            "using namespace"
        )[1]
    )


def test_a_protocol_sets_only_its_own_attributes():
    defaults_ = defaults(program(TABLE1.with_settings({"tcp.cc": "westwood+"})))
    assert [name for name in defaults_ if name.startswith("WwTcpWestwood")] == [
        "WwTcpWestwood::Protocol"
    ]
    own_defaults = defaults(
        program(TABLE1.with_settings({"tcp.cc": {"name": "westwood", "tau": "250ms", "m": 4}}))
    )
    assert own_defaults["WwTcpWestwood::Protocol"] == '"westwood"'
    assert own_defaults["WwTcpWestwood::Tau"] == "MicroSeconds(250000)"
    assert own_defaults["WwTcpWestwood::M"] == "4"
    cubic = {"name": "westwood-cubic", "min_cwnd": 3}
    other = defaults(program(TABLE1.with_settings({"tcp.cc": cubic})))
    assert other["WwTcpWestwood::MinCwnd"] == "3" and "WwTcpWestwood::Tau" not in other


def test_flows_that_differ_set_their_own_before_they_start():
    scenario = Scenario.preset("ack-compression").with_settings({"download.min_rto": "1s"})
    text = program(scenario)
    assert "TcpSocketBase::MinRto" not in defaults(text.partition("main(")[2])
    for function, rto in (("SetTcpOfUpload", "0.2"), ("SetTcpOfDownload", "1")):
        assert f'{function}(Ptr<Node>)\n{{\n    Config::SetDefault("ns3::TcpSocketBase::MinRto", ' \
               f"TimeValue(Seconds({rto})));\n}}" in text  # fmt: skip
        assert f"&{function}));" in text


@pytest.mark.parametrize("preset", presets())
def test_a_preset_is_exported_or_refused_as_by_the_engine(preset):
    scenario = Scenario.preset(preset)
    try:
        ns3_limits.check(scenario)
    except InputError as refused:
        with pytest.raises(InputError, match=f"^{re.escape(str(refused))}$"):
            program(scenario)
        return
    text = program(scenario)
    assert text.count("{") == text.count("}") and text.isascii()
    assert "\n\n\n" not in text and " \n" not in text
    assert max(map(len, text.splitlines())) <= 110
    assert text.count("AddFlow(") == 1 + len(scenario.flows) + text.count("\nAddFlow(") - 1


def test_names_that_differ_only_in_punctuation_have_different_constants():
    links = [
        {"name": name, "between": [first_flow, other], "rate": "1Mbps", "delay": "1ms"}
        for name, first_flow, other in (("a-b", "x", "y"), ("a_b", "y", "z"), ("A+B", "z", "int"))
    ]
    flow = {"name": "int", "from": "x", "to": "int", "cc": "sack"}
    scenario = Scenario(
        name="n", duration="1s", seeds=1, profile="ns3-3.44", link=links, flow=[flow]
    )
    text = program(scenario)
    constants = re.findall(r"^const .* (\w+_RATE_BPS) =", text, re.MULTILINE)
    assert constants == ["A_B_RATE_BPS", "A_B_2_RATE_BPS", "A_B_3_RATE_BPS"]
    assert len(set(re.findall(r"NetDeviceContainer (\w+) =", text))) == 3


def test_long_lists_of_losses_are_wrapped_and_count_from_0():
    packets = list(range(1, 400, 2))
    text = program(
        TABLE1.with_settings({"bottleneck.loss": {"kind": "script", "packets": packets}})
    )
    listed = text.partition("LOST_PACKETS{")[2].partition("}")[0]
    assert [int(number) for number in listed.split(",")] == [number - 1 for number in packets]
    assert max(map(len, listed.splitlines())) <= 100
    late = {"kind": "script", "packets": [2**32]}
    with pytest.raises(InputError, match=r"bottleneck.loss.packets = 4294967296: .* as in ns-3"):
        program(TABLE1.with_settings({"bottleneck.loss": late}))


def test_the_command_prints_it_or_writes_it(westwood, tmp_path):
    words = ("ns3", "export", "table1", "--cc", "newreno", "--set", "duration=5s")
    printed = westwood(*words)
    assert printed.code == 0 and "const double DURATION_S = 5;" in printed.out
    written = westwood(*words, "--out", "prog.cc")
    assert written.code == 0 and written.out.strip() == "prog.cc"
    assert (tmp_path / "prog.cc").read_text() == printed.out


def test_a_name_that_no_file_can_have_is_a_one_line_error(westwood):
    done = westwood("ns3", "export", "table1", "--out", "x" * 300).refusal()
    assert "can't be used: File name too long" in done


def test_the_program_never_overwrites_its_scenario(westwood, small_file):
    before = small_file.read_bytes()
    overheads = ("access", "bottleneck")
    settings = [word for link in overheads for word in ("--set", f"{link}.overhead=2B")]
    done = westwood("ns3", "export", str(small_file), *settings, "--out", str(small_file)).refusal()
    assert "is the scenario" in done
    assert small_file.read_bytes() == before


def test_every_flow_has_its_own_port():
    flows = [{"cc": "sack", "count": 10_000}] * 7
    scenario = one_link(*flows, duration="1s", seeds=1, profile="ns3-3.44")
    with pytest.raises(InputError, match=r'flow = "70000 flows": .* expects at most 60000'):
        program(scenario)
