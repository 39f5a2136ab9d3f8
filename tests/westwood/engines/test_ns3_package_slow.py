# SPDX-License-Identifier: BSD-3-Clause
"""A project outside any tree finds the module, and three lines of docs/ns3.md add Westwood+."""

import re

import ns3_package
import pytest

pytestmark = pytest.mark.slow
PARSED = "    cmd.Parse(argc, argv);\n"  # a line of the script before it creates objects


def lines_of_the_page() -> tuple[str, list[str]]:
    """Returns the lines of docs/ns3.md: the include, and the others."""
    page = (ns3_package.ROOT / "docs" / "ns3.md").read_text(encoding="utf-8")
    _, _, section = page.partition("### In a script of yours")
    match = re.search(r"```cpp\n(.*?)```", section, re.DOTALL)
    assert match
    include, *others = match[1].splitlines()
    return include, others


@pytest.mark.parametrize("which", ["wheel", "debian"])
def test_three_lines_give_an_existing_script_westwood_plus(which, tmp_path):
    include, others = lines_of_the_page()
    assert include.startswith("#include") and len(others) == 2
    script = (ns3_package.USER / "bulk.cc").read_text(encoding="utf-8")
    assert "ww" not in script.lower() and "westwood" not in script.lower()
    assert script.count(PARSED) == 1
    changed = tmp_path / "changed.cc"
    changed.write_text(f"{include}\n" + script.replace(PARSED, PARSED + "\n".join(others) + "\n"))

    prefix = ns3_package.installed(which, tmp_path / "prefix")
    sources = [ns3_package.USER / "bulk.cc", changed]
    folder = ns3_package.built(prefix, sources, tmp_path / "build")

    before, after = (ns3_package.run(folder / name).splitlines() for name in ("bulk", "changed"))
    assert before[0].startswith("Tcp") and after[0] == "WwTcpWestwood"
    assert before[1] != after[1]
    by_names = ns3_package.run(
        folder / "bulk",
        "--ns3::TcpL4Protocol::SocketType=ns3::WwTcpWestwood",
        "--ns3::TcpL4Protocol::RecoveryType=ns3::WwClassicRecovery",
    )
    assert by_names.splitlines() == after


def test_a_package_whose_ns3_is_gone_says_so(tmp_path):
    prefix = ns3_package.installed("wheel", tmp_path / "prefix")
    with pytest.raises(AssertionError, match="NS3_ROOT='/nowhere' has no include/ns3"):
        ns3_package.run(
            *("cmake", "-S", ns3_package.USER, "-B", tmp_path / "build", "-G", "Ninja"),
            *("-D", f"CMAKE_PREFIX_PATH={prefix}", "-D", "NS3_ROOT=/nowhere"),
        )
