# SPDX-License-Identifier: BSD-3-Clause
"""A queue that Linux can't have as the scenario wants it is refused by its key.

tests/linux/path/test_queues.py runs what is accepted.
"""

import subprocess
from typing import Any

import pytest
from one_link import one_link

from westwood import Scenario
from westwood.engines import linux_emulated, linux_limits, linux_queues
from westwood.errors import InputError, UnavailableError


def scenario(link: dict[str, Any], **flow: Any) -> Scenario:
    return one_link({"cc": "reno", **flow}, link=link, duration="1s", profile="linux")


def queue(kind: str, limit: str = "100p", **settings: Any) -> dict[str, Any]:
    return {"queue": {"kind": kind, "limit": limit, **settings}}


RED = queue("red", min=5, max=15)


def test_every_setting_with_a_word_is_free():
    linux_queues.check(scenario(queue("codel", target="13ms", interval="260ms", ecn=True)))
    linux_queues.check(scenario(queue("fq_codel", flows=64, quantum="300B", drop_batch=8)))
    linux_queues.check(scenario(queue("pie", target="20ms", update="30ms", ecn=True)))
    linux_queues.check(scenario(RED))


def test_disciplines_need_the_shaper():
    assert linux_queues.disciplines_of(scenario(queue("codel"))) == {"codel", "htb"}
    assert linux_queues.disciplines_of(scenario(RED)) == set()


def test_a_shell_has_only_queues_that_decide_on_arrival():
    with pytest.raises(InputError, match="expects droptail or red"):
        linux_queues.refuse_held(scenario(queue("codel")))
    linux_queues.refuse_held(scenario(RED))


def test_a_discipline_that_this_kernel_lacks_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setattr(linux_limits, "is_missing", lambda control: False)
    monkeypatch.setattr(linux_queues, "is_missing", lambda discipline: discipline == "codel")
    monkeypatch.setattr(linux_emulated, "missing_reason", lambda controls: "no emulator")
    chosen = scenario(queue("codel"))
    with pytest.raises(UnavailableError, match="no queue discipline codel: modprobe sch_codel, or"):
        linux_limits.check(chosen)
    linux_limits.check(scenario(queue("pie")))
    monkeypatch.setattr(linux_emulated, "missing_reason", lambda controls: None)
    assert linux_limits.is_emulated(chosen)
    assert linux_limits.missing(chosen) == ["sch_codel"]
    linux_limits.check(chosen)


def test_a_discipline_is_missing_if_tc_refuses_it(monkeypatch):
    tried = []

    def run(command: list[str], **_: Any) -> Any:
        tried.append(command[2:])
        return subprocess.CompletedProcess(command, 2)

    linux_queues.is_missing.cache_clear()
    monkeypatch.setattr(linux_queues, "system_program", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(linux_queues.subprocess, "run", run)
    assert linux_queues.is_missing("codel")
    assert tried == [["/sbin/tc", "qdisc", "add", "dev", "lo", "root", "codel"]]
    linux_queues.is_missing.cache_clear()
    monkeypatch.setattr(linux_queues, "system_program", lambda name: None)
    with pytest.raises(UnavailableError, match="engine linux needs tc for codel: apt-get install"):
        linux_queues.is_missing("codel")
