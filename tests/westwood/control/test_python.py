# SPDX-License-Identifier: BSD-3-Clause
"""A class of PythonControl runs as a control in C does; its mistakes end the run in one line."""

import pickle
import subprocess
import sys
import time
from typing import Any, ClassVar

import pytest
from one_link import one_link

from westwood import PythonControl, Scenario, simulate, simulate_many
from westwood.errors import InputError, RunError

SAME = ("goodput_bps", "sent", "retransmitted", "timeouts", "mean_cwnd", "max_cwnd")


class Reno(PythonControl):
    """RFC 5681 with byte counting, as core/reno.h has it."""

    def __init__(self):
        self.counted = 0

    def on_ack(self, window: Any, ack: Any) -> None:
        recovers = ack.phase == 2
        if ack.is_dupack or not ack.acked_segments or recovers or not ack.is_cwnd_limited:
            return
        if window.cwnd < window.ssthresh:
            window.cwnd += min(ack.acked_segments, 1 if ack.phase == 3 else 2)
            return
        self.counted += ack.acked_segments
        if self.counted >= window.cwnd:
            self.counted -= window.cwnd
            if self.counted >= window.cwnd:
                self.counted = 0
            window.cwnd += 1

    def on_loss(self, window: Any, now_us: int, in_flight: int, mss: int) -> None:
        self.counted = 0
        window.cwnd = window.ssthresh = max(in_flight // 2, 2)

    def on_rto(self, window: Any, now_us: int, in_flight: int, mss: int, repeated: bool) -> None:
        self.counted = 0
        if not repeated:
            window.ssthresh = max(in_flight // 2, 2)
        window.cwnd = 1

    def on_recovery_exit(self, window: Any, now_us: int, mss: int) -> None:
        self.counted = 0


def path(cc: Any, loss: float = 0.002, **settings: Any) -> Scenario:
    link = {"rate": "5Mbps", "delay": "30ms", "loss": {"rate": loss, "on": "forward"}}
    return one_link({"cc": cc, "undo": False, **settings}, link=link, name="mine", duration="60s")


def test_reno_in_python_is_reno_in_c():
    python_rows, built_in = (simulate(path(cc), seed=3).rows.select(SAME) for cc in (Reno, "sack"))
    assert python_rows.equals(built_in)


def test_each_connection_has_its_own_state():
    three = path(Reno, count=3, loss=0.01)
    others = path("sack", count=3, loss=0.01)
    assert simulate(three).rows.select(SAME).equals(simulate(others).rows.select(SAME))


def test_a_sweep_takes_a_class_and_threads_change_no_row():
    swept = path("sack").with_sweep({"tcp.cc": [Reno, "sack"]})
    rows = [simulate_many(swept, 4, workers=workers).select("seed", *SAME) for workers in (1, 2)]
    assert rows[0].equals(rows[1])
    assert rows[0][:4].equals(rows[0][4:])


def test_it_paces_if_it_needs_rates():
    class Constant(PythonControl):
        needs_rate = owns_recovery = True

        def on_ack(self, window: Any, ack: Any) -> None:
            window.pacing_bps, window.cwnd = 2e6, 1000

        def on_loss(self, *_: Any):
            pass

    goodput = simulate(path(Constant, loss=0)).rows["goodput_bps"][0]
    assert goodput == pytest.approx(2e6, rel=0.02)


def test_it_hears_of_each_segment():
    heard = {"sent": 0, "lost": 0}

    class Listening(Reno):
        def on_packet_sent(self, window: Any, sent: Any) -> None:
            heard["sent"] += 1

        def on_packet_lost(self, window: Any, lost: Any) -> None:
            heard["lost"] += 1

    row = simulate(path(Listening, loss=0.01)).rows.row(0, named=True)
    assert heard["sent"] == row["sent"]
    assert heard["lost"] >= row["lost"] > 0


class Broken(Reno):
    def on_loss(self, window: Any, now_us: int, in_flight: int, mss: int) -> None:
        window.cwnd //= 0


def test_an_exception_ends_the_run_with_its_place_and_the_seed():
    with pytest.raises(RunError) as caught:
        simulate(path(Broken), seed=5)
    message, line = str(caught.value), Broken.on_loss.__code__.co_firstlineno + 1
    assert message.startswith("mine, seed 5: Broken.on_loss(): ZeroDivisionError: ")
    assert message.endswith(f"test_python.py, line {line})") and "\n" not in message
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RunError, match=r"Broken\.on_loss"):
        simulate_many(path(Broken), 2, workers=2)


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("cwnd", 0, "sets cwnd out of range, expected 1 to 2^28 segments"),
        ("ssthresh", 2**31, "sets ssthresh out of range, expected less than 2^31 segments"),
        ("pacing_bps", -1.0, "pacing_bps: expected from 0 to 1.1e12"),
        ("cwnd", 2**70, f"cwnd = {2**70}: expected a whole number of segments"),
        ("ssthresh", 2.5, "ssthresh = 2.5: expected a whole number of segments"),
        ("ssthresh", None, "ssthresh = None: expected a whole number of segments"),
        ("pacing_bps", "9", "pacing_bps = '9': expected a number from 0 to 1.1e12"),
    ],
)
def test_a_window_out_of_range_is_an_error(name, value, expected):
    class Wild(Reno):
        def on_ack(self, window: Any, ack: Any) -> None:
            setattr(window, name, value)

    with pytest.raises(RunError) as caught:
        simulate(path(Wild))
    assert "Wild.on_ack(): " in str(caught.value)
    assert f"Error: {expected}" in str(caught.value) and "\n" not in str(caught.value)


def test_an_interrupt_is_no_mistake_of_the_control():
    class Stopped(Reno):
        def on_ack(self, window: Any, ack: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(path(Stopped))


def test_an_instance_is_no_control():
    with pytest.raises(InputError, match="expected the class Reno itself, not an instance"):
        path(Reno())


def test_a_class_without_its_calls_is_one_line():
    class Half(PythonControl):
        def on_ack(self, window: Any, ack: Any) -> None:
            pass

    with pytest.raises(InputError, match=r"Half lacks on_loss\(\)"):
        path(Half)


@pytest.mark.parametrize("trait", ["needs_rate", "owns_recovery", "ignores_marks"])
def test_a_trait_is_true_or_false(trait):
    with pytest.raises(InputError, match=rf"Odd\.{trait} = 2: expected True or False"):
        path(type("Odd", (Reno,), {trait: 2}))


@pytest.mark.parametrize("engine, profile", [("ns3", "ns3-3.44"), ("ns2", "rfc")])
def test_other_engines_refuse_it_by_its_key(engine, profile):
    with pytest.raises(InputError, match=r'tcp\.cc.*"Reno\.py"'):
        simulate(path(Reno).with_settings({"profile": profile}), engine=engine)


def test_another_process_does_not_have_the_class(tmp_path):
    kept = tmp_path / "scenario"
    kept.write_bytes(pickle.dumps(path(Reno)))
    code = f"import pickle, westwood\nwith open({str(kept)!r}, 'rb') as f: one = pickle.load(f)"
    code += "\nwestwood.simulate(one)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    line = done.stderr.splitlines()[-1]
    assert "Reno.py: exists only in the process that defined it" in line


@pytest.mark.clock
def test_a_call_takes_two_microseconds_at_most():
    class Idle(PythonControl):
        calls = 0

        def on_ack(self, window: Any, ack: Any) -> None:
            Idle.calls += 1
            window.cwnd = 50

        def on_loss(self, *_: Any):
            pass

    long = path(Idle, loss=0).with_settings({"duration": "600s"})
    began = time.thread_time()
    simulate(long)
    per_call_s = (time.thread_time() - began) / Idle.calls
    assert Idle.calls > 50_000 and per_call_s < 2e-6


class Held(PythonControl):
    parameters: ClassVar = {"held": (20, 1, 1000, "Segments")}
    quantities: ClassVar = {"acks": ("acks", "ACKs so far"), "twice": ("acks", "twice that")}

    def __init__(self):
        self.begins_with = self.held  # type: ignore[attr-defined]
        self.count = 0

    def on_ack(self, window: Any, ack: Any) -> None:
        self.count += 1
        window.cwnd = self.begins_with

    def on_loss(self, window: Any, now_us: int, in_flight: int, mss: int) -> None:
        window.cwnd = window.ssthresh = 10

    def observe(self, now_us: int) -> tuple[int, int]:
        return self.count, 2 * self.count


@pytest.mark.parametrize(
    ("given", "held"),
    [({}, 20), ({"tcp.cc.held": 12}, 12), ({"tcp.cc": {"name": Held, "held": 12}}, 12)],
)
def test_parameters_are_attributes_and_quantities_columns(given, held):
    settings = {"duration": "20s", "path.loss.rate": 0, "tcp.cc": Held, **given}
    trace = simulate(Scenario.preset("path").with_settings(settings), trace=True).trace
    assert trace["cwnd"].max() == held
    assert trace["acks"].max() > 100
    assert (trace["twice"] == 2 * trace["acks"]).all()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"parameters": {"held": (0, 1, 9, "")}}, "the default of held is not within its bounds"),
        (
            {"parameters": {"held": (1.5, 1, 9, "")}},
            "Bad.held: expected whole numbers below 2\\^32",
        ),
        ({"parameters": {"name": (1, 1, 9, "")}}, '"name" is named twice, or has another meaning'),
        ({"quantities": {str(i): ("", "") for i in range(5)}}, "Bad.quantities: .*at most 4"),
        ({"quantities": {"a b": ("", "")}}, '"a b" is no name'),
        ({"observe": None}, r"Bad lacks observe\(\)"),
        ({"quantities": {"acks": "acks"}}, r"Bad.quantities: acks: expected \(unit, text\)"),
        ({"quantities": {"acks": ("acks", 2)}}, r"Bad.quantities: acks: expected \(unit, text\)"),
        ({"quantities": ["acks"]}, "Bad.quantities: expected at most 4: a table of names"),
        (
            {"parameters": {"held": 20}},
            r"Bad.parameters: held: expected \(default, least, most, text",
        ),
        ({"parameters": {"held": (20, 1, 1000)}}, r"held: expected \(default, least, most, text\)"),
        ({"parameters": {1: (20, 1, 1000, "")}}, "Bad.parameters: expected a name"),
        ({"parameters": {"held": (True, 0, 1, "")}}, "Bad.held: expected whole numbers"),
        ({"parameters": {"on_rto": (1, 1, 9, "")}, "on_rto": print}, "Bad.on_rto: a parameter has"),
        ({"on_loss": 3}, "Bad.on_loss: expected a method"),
        ({"parameters": None}, "Bad.parameters: expected at most 16"),
    ],
)
def test_a_wrong_declaration_is_one_line(changed, expected):
    with pytest.raises(InputError, match=expected):
        Scenario.preset("path").with_settings({"tcp.cc": type("Bad", (Held,), changed)})


def test_observe_returns_a_number_for_each_quantity():
    settings = {"duration": "20s", "tcp.cc": type("Short", (Held,), {"observe": lambda *_: (1,)})}
    with pytest.raises(RunError, match=r"Short.observe\(\): .*a number for each of its quantities"):
        simulate(Scenario.preset("path").with_settings(settings), trace=True)
