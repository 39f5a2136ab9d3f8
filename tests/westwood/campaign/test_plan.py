# SPDX-License-Identifier: BSD-3-Clause
"""A plan of a campaign is read as it is written, and a mistake in it is one line."""

import pytest
from error_lines import without_line
from invented_uploads import FAR, HEAD, LAB

from westwood.campaign import measure
from westwood.campaign.plan import CampaignPlan, presets
from westwood.cli import call
from westwood.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('name = "x"\ncc = ["reno"]\n' + FAR, 'cc = ["reno"]: expected a list of at least 2'),
        (HEAD.replace("cubic", "cubik") + FAR, 'did you mean "cubic"?'),
        (HEAD.replace("cubic", "sack") + FAR, "expected each congestion control once"),
        (HEAD, "target: is missing"),
        (HEAD + FAR + FAR, 'target[2].name = "far": expected a name that no other target has'),
        (HEAD + FAR.replace("10ms", "10"), 'far.path.delay = "10": a unit is missing'),
        (HEAD + FAR.replace("rate = 0.01", "rate = 2"), "far.path.loss.rate = 2"),
        (HEAD + FAR.replace("path = {", 'path = { between = ["a", "b"],'), "far.path.between"),
        (HEAD + FAR + 'server = "x"\n', "server: expected a path to emulate or an iperf3 server"),
        (HEAD + LAB.replace(":5301", ":0"), "expected HOST or HOST:PORT"),
        (HEAD + LAB.replace('"300kB"', '"300kB", "300kB"'), "expected each size once"),
        (HEAD + "colour = 1\n" + FAR, "unknown key"),
        ("cc = [", "is not TOML"),
    ],
)
def test_an_invalid_plan_gives_one_line(text, expected, tmp_path, capsys):
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    assert call(["path", "campaign", str(plan), "--out", str(tmp_path / "r")]) == 2
    error = without_line(capsys.readouterr().err, plan)
    assert error.startswith(f"westwood: {plan}: ") and error.count("\n") == 1
    assert expected in error and not (tmp_path / "r").exists()


def test_every_plan_of_the_package_can_be_read():
    for name in presets():
        plan = CampaignPlan.load(name)
        assert plan.name == name and all(count >= 1 for _, _, count in plan.sessions())
    assert {target.name for target in CampaignPlan.load("bari").target} == {
        "ucla",
        "uppsala",
        "parma",
    }
    with pytest.raises(InputError, match="neither a file nor a plan"):
        CampaignPlan.load("barry")


def test_a_server_is_a_host_and_a_port():
    def port(text: str) -> tuple[str, int]:
        given = {"name": "t", "server": text, "sizes": ["1MB"]}
        (target,) = CampaignPlan.read(
            {"name": "x", "cc": ["cubic", "reno"], "target": [given]}
        ).target
        assert target.server is not None
        return target.server.host, target.server.port

    assert port("example.org") == ("example.org", 5201)
    assert port("192.0.2.1:99") == ("192.0.2.1", 99)
    assert port("2001:db8::1") == ("2001:db8::1", 5201)
    assert port("[2001:db8::1]:7") == ("2001:db8::1", 7)


@pytest.mark.parametrize("number", ["0", "-1", "100001"])
def test_an_invalid_number_of_uploads_is_rejected(number, tmp_path, capsys):
    assert (
        call(["path", "campaign", "bari", "--uploads", number, "--out", str(tmp_path / "out")]) == 2
    )
    errors = capsys.readouterr().err
    assert errors == f"westwood: --uploads = {number}: expected a whole number from 1 to 100000\n"
    assert not (tmp_path / "out").exists()


def test_the_controls_take_turns_as_often_as_planned_or_asked(tmp_path):
    (tmp_path / "plan.toml").write_text(HEAD + FAR + LAB)
    plan = CampaignPlan.load(str(tmp_path / "plan.toml"))
    far = [
        ("far", size, number, cc)
        for size in (50_000, 150_000)
        for number in (1, 2)
        for cc in ("cubic", "reno")
    ]
    lab = [("lab", 300_000, number, cc) for number in (1, 2, 3) for cc in ("cubic", "reno")]
    assert [turn.key for turn in measure.turns(plan, ["far"])] == far
    assert [turn.key for turn in measure.turns(plan, ["lab"], 3)] == lab
