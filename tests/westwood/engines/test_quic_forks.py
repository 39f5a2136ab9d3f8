# SPDX-License-Identifier: BSD-3-Clause
"""A user's fork of a QUIC stack runs beside upstream's, and results have its name and version."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from one_link import one_link

from westwood import Scenario, simulate
from westwood.engines import quic
from westwood.engines.quic import Stack
from westwood.errors import InputError
from westwood.scenario import stacks

ROOT = Path(__file__).parents[3]
FORK = "quinn-mine quinn-proto 0.12.0 newreno cubic bbr few"


@pytest.fixture
def _runner(tmp_path, monkeypatch):
    """Puts a runner with a fork in the place of ww-quic, which says no more than that."""
    runner = tmp_path / "ww-quic"
    runner.write_text(f"#!/bin/sh\necho ww-quic\necho {FORK}\n")
    runner.chmod(0o755)
    monkeypatch.setenv(quic.VARIABLE, str(runner))


def scenario(*controls: object) -> Scenario:
    flows = [{"name": f"f{number}", "cc": cc} for number, cc in enumerate(controls)]
    return one_link(*flows, link={"queue": {"limit": "1bdp"}}, name="fork", duration="3s")


@pytest.mark.parametrize(
    "written, stack, name",
    [
        ("quinn:cubic", "quinn", "cubic"),
        ("quinn-mine:cubic", "quinn-mine", "cubic"),
        ("noq-2-b:few", "noq-2-b:few", stacks.STAND_IN),
        ("other-mine:few", None, "other-mine:few"),
        ("quinn-:few", None, "quinn-:few"),
        ("quinn-mine:", None, "quinn-mine:"),
    ],
)
def test_a_forks_name_begins_with_that_of_its_stack(written, stack, name):
    assert stacks.split(written) == (stack, name)
    if stack:
        assert stacks.join(stack, name) == written
        assert stacks.upstream(stacks.engine_of(stack)) == re.split("[-:]", written)[0]


@pytest.mark.usefixtures("_runner")
def test_the_plan_and_the_labels_have_the_fork_and_its_control():
    quic_scenario = scenario(
        "quinn:newreno", "quinn-mine:few", "quinn-mine:cubic", "cubic", "tcp:cubic"
    )
    plan = Stack("quinn-mine").plan(quic_scenario)
    assert re.findall(r"^stack .*", plan, re.MULTILINE) == [
        "stack 0 quinn own newreno",
        "stack 1 quinn-mine own few",
        "stack 2 quinn-mine own cubic",
        "stack 3 quinn-mine ours cubic",
    ]
    titles = {"quinn": quic.TITLES["quinn"], "quinn-mine": "quinn-proto 0.12.0"}
    assert quic.versions("quinn-mine", [quic_scenario]) == titles
    assert Stack("quinn").remarks(quic_scenario) == ["quinn-mine is quinn-proto 0.12.0"]


def test_a_scenario_of_a_fork_is_read_back_as_it_was():
    quic_scenario = scenario("quinn-mine:few", {"name": "quinn-mine:cubic"})
    assert [flow["cc"]["name"] for flow in quic_scenario.resolved()["flow"]] == [
        "quinn-mine:few",
        "cubic",
    ]
    again = Scenario(**quic_scenario.resolved())
    assert again.hash == quic_scenario.hash != scenario("quinn:newreno", "quinn-mine:cubic").hash
    assert [flow.cc.written for flow in again.flow] == ["quinn-mine:few", "quinn-mine:cubic"]


@pytest.mark.usefixtures("_runner")
@pytest.mark.parametrize(
    "words, expected",
    [
        (("--engine", "quinn-your", "--cc", "cubic"), '"quinn-your": is not in .*docs/quic.md'),
        (("--engine", "quinn", "--cc", "noq-mine:cubic"), "expected one of quinn, noq, quinn-mine"),
        (("--engine", "quinn", "--cc", "quinn-mine:less"), "no such control, .*, quinn-mine:few"),
        (("--engine", "quinn", "--cc", "quinn-:few"), "unknown protocol"),
    ],
)
def test_an_unknown_fork_or_control_is_one_line(words, expected, westwood):
    done = westwood("compare", *words, "--duration", "2s", "--seeds", "1", "--out", "out")
    *_, line = done.err.splitlines()
    assert done.code == 2 and re.search(expected, line) and not Path("out").exists()


def test_a_stack_that_is_none_is_refused_by_key():
    for stack in ("other", "quinn:few", "quinn-mine:cubic", 3):
        with pytest.raises(InputError, match="expected one of quinn, noq, tcp, or a fork"):
            scenario({"name": "newreno", "stack": stack})


CRATE = '[package]\nname = "quinn-proto"\nversion = "0.12.0"\n[lib]\npath = "lib.rs"\n'


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", "has no fork"),
        ("[", "is no TOML"),
        ("[mine]\nsource='crate'", "mine: expected a table such as"),
        ("[quinn-mine]", "quinn-mine.source.*expected the folder of a crate"),
        ("[quinn-mine]\nsource='nowhere'", "quinn-mine.source.*expected the folder of a crate"),
        ("[quinn-mine]\nsource='crate'\nversion='1'", "quinn-mine.version.*unknown key"),
        ("[quinn-mine]\nsource='crate'\ncontrols='x'", "quinn-mine.controls.*expected a table"),
        ("[quinn-mine]\nsource='crate'\ncontrols.cubic='A'", "controls.cubic.*new name"),
        ("[quinn-mine]\nsource='crate'\ncontrols.few='A b'", "controls.few.*expected a type"),
        ("[noq-a]\nsource='crate'\n[noq-b]\nsource='crate'", "noq-b.*version than that of noq-a"),
    ],
)
def test_a_wrong_file_of_forks_is_one_line(text, expected, tmp_path):
    if "[noq" in text and not shutil.which("cargo"):
        pytest.skip("no cargo")
    (tmp_path / "crate").mkdir()
    (tmp_path / "crate" / "Cargo.toml").write_text(CRATE)
    (tmp_path / "crate" / "lib.rs").touch()
    (tmp_path / "forks.toml").write_text(text)
    words = [sys.executable, "-m", "tools.quic_forks", tmp_path / "forks.toml", tmp_path / "to"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and re.search(f"forks.toml: .*{expected}|{expected}", line)
    assert not (tmp_path / "to").exists()


FEW = """
/// NewReno that begins with four packets.
#[derive(Debug, Clone, Default)]
pub struct FewConfig;

impl ControllerFactory for FewConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mut config = NewRenoConfig::default();
        config.initial_window(4 * u64::from(current_mtu));
        Arc::new(config).build(now, current_mtu)
    }
}
"""


def crates() -> dict[str, Path]:
    """Returns the folders of the crates that quic/ depends on; skips the test without cargo."""
    words = ["cargo", "metadata", "--locked", "--format-version=1"]
    if not shutil.which("cargo"):
        pytest.skip("no cargo")
    done = subprocess.run(words, cwd=ROOT / "quic", capture_output=True, text=True, check=True)
    packages = json.loads(done.stdout)["packages"]
    return {package["name"]: Path(package["manifest_path"]).parent for package in packages}


@pytest.mark.slow
def test_patched_stacks_run_beside_upstream(tmp_path, monkeypatch, westwood):
    """Both stacks with another version and a control of a new name, built as the page says."""
    forks = []
    for stack in stacks.STACKS:
        crate = shutil.copytree(crates()[f"{stack}-proto"], tmp_path / stack)
        manifest = crate / "Cargo.toml"
        text = manifest.read_text(encoding="utf-8")
        _, version = quic.TITLES[stack].split()
        changed = text.replace(f'version = "{version}"', 'version = "77.0.0-mine.1"', 1)
        manifest.write_text(changed, encoding="utf-8")
        with (crate / "src" / "congestion.rs").open("a", encoding="utf-8") as file:
            file.write(FEW)
        forks.append(f'[{stack}-mine]\nsource = "{stack}"\n')
        forks.append('controls = { few = "congestion::FewConfig" }\n')
    (tmp_path / "forks.toml").write_text("".join(forks))
    build = tmp_path / "build"
    rust = build / "rust"
    for words in (
        (sys.executable, "-m", "tools.quic_forks", tmp_path / "forks.toml", rust),
        ("cmake", "-S", "quic", "-B", build, "-G", "Ninja", "-DWW_TESTS=OFF", f"-DWW_RUST={rust}"),
        ("cmake", "--build", build),
    ):
        subprocess.run(words, cwd=ROOT, check=True)
    monkeypatch.setenv(quic.VARIABLE, str(build / "ww-quic"))
    for stack in stacks.STACKS:
        fork = f"{stack}-mine"
        assert quic.title_of(fork) == f"{stack}-proto 77.0.0-mine.1"
        controls = [f"{stack}:newreno", f"{fork}:newreno", f"{fork}:few", "cubic"]
        result = simulate(scenario(*controls), engine=fork, trace=True)
        assert [row["cc"] for row in result.flow_rows] == controls
        assert {row["engine"] for row in result.flow_rows} == {fork}
        assert min(row["goodput_bps"] for row in result.flow_rows) > 0.5e6
        first = [result.trace.filter(flow=flow)["cwnd"][0] for flow in ("f0", "f1", "f2")]
        assert first[0] == first[1] > 8 and 3.9 < first[2] < 4.1
        Path("scenario.toml").write_text(scenario(*controls).to_toml())
        assert westwood("run", "scenario.toml", "--engine", fork, "--out", f"of-{stack}").code == 0
        manifest = json.loads(Path(f"of-{stack}", "manifest.json").read_text(encoding="utf-8"))
        titles = {stack: quic.TITLES[stack], fork: quic.title_of(fork)}
        assert manifest["engine"] == fork and manifest["stacks"] == titles
        assert westwood("report", f"of-{stack}").code == 0
