# SPDX-License-Identifier: BSD-3-Clause
"""A mistake in a control's file is one line with the file and its line, and exit code 2."""

import json
import os
import shutil
import sys

import pytest
from mine import MINE, ON_LOSS, line_of

from westwood import Control, InputError, Scenario, programs, simulate
from westwood.cli import tables
from westwood.control import compiling


def changed(before: str, after: str) -> str:
    """Returns the control like Reno with a mistake in it."""
    assert MINE.count(before) == 1
    return MINE.replace(before, after)


MISTAKES = {
    "a function of the C library": (
        changed(ON_LOSS, "    abort();\n").replace("#include", "void abort(void);\n#include", 1),
        "    abort();",
        "abort is not there, expected functions of the file or control.h",
    ),
    "a file that is no C": (
        MINE.replace("#include", '#include "/etc/passwd"\n#include', 1),
        '#include "/etc/passwd"',
        "expected",
    ),
    "no C": ("this is no C", "this", "this"),
    "a missing name": (changed("kept, WW_CWND", "keep, WW_CWND"), "keep, WW_CWND", "keep"),
    "a parameter twice": (changed("X(kept, 500", "X(gain, 500"), "X(gain, 500", "gain"),
    "a default out of bounds": (
        changed("500, 1, 999", "0, 1, 999"),
        "0, 1, 999",
        "the default of kept must lie within its bounds",
    ),
    "a default that is not whole": (
        changed("500, 1, 999", "0.5, 0, 999"),
        "0.5, 0, 999",
        "the default and the bounds of kept must be whole, below 2^32",
    ),
    "a bound that is too large": (
        changed("500, 1, 999", "500, 1, 4294967296"),
        "500, 1, 4294967296",
        "the default and the bounds of kept must be whole, below 2^32",
    ),
    "a label that is no text": (
        changed('WW_CONTROL("Mine"', 'WW_CONTROL("\\xff"'),
        "WW_CONTROL(",
        "its label or a description is not UTF-8",
    ),
    "a label that steers a terminal": (
        changed('WW_CONTROL("Mine"', 'WW_CONTROL("\\033[2J"'),
        "WW_CONTROL(",
        "its label has control characters",
    ),
    "a description that steers a terminal": (
        changed('500, 1, 999, "', '500, 1, 999, "\\033[2J'),
        "500, 1, 999",
        "the text of kept has control characters",
    ),
    "a large state": (
        changed("common;\n};", "common;\n    char more[232];\n};"),
        "WW_CONTROL(",
        "the state has at most 232 bytes, 104 in Linux",
    ),
    "no common part": (
        changed("    struct ww_common common;", "    int a;"),
        "ww_grow(config, &own",
        "common",
    ),
    "no end": (
        MINE[: MINE.index("WW_CONTROL(")] + "// end",
        "// end",
        "it does not end with WW_CONTROL",
    ),
    "a quantity with the name of a column": (
        changed("X(counted, ", "X(cwnd, ").replace("seen->counted", "seen->cwnd"),
        "X(cwnd, ",
        '"cwnd" is named twice',
    ),
    "a parameter with the name of a setting": (
        MINE.replace("gain", "min_cwnd"),
        "X(min_cwnd, ",
        '"min_cwnd" is named twice, or has another meaning',
    ),
    "a parameter with the name of the table": (
        MINE.replace("gain", "parameters"),
        "X(parameters, ",
        '"parameters" is named twice, or has another meaning',
    ),
    "a function that runs when it is loaded": (
        f"{MINE}__attribute__((constructor)) static void at_once(void) {{ for (;;) {{}} }}\n",
        "__attribute__((constr",
        "runs a function when it is loaded, expected only those of WW_CONTROL",
    ),
    "a function that chooses another when it is loaded": (
        f"{MINE}static void a(void) {{}}\nstatic void *pick(void) {{ return a; }}\n"
        'void b(void) __attribute__((ifunc("pick")));\n',
        "void b(void)",
        "runs a function when it is loaded",
    ),
    "a relocation that runs a function when it is loaded": (
        f'{MINE}__asm__(".section .rela.got,\\"a\\"\\n.quad 16368, 37, 4096\\n.text");\n',
        "__asm__",
        'has a section ".rela.got", expected code and constants',
    ),
    "a table of the loader": (
        f'{MINE}__asm__(".section .hash,\\"a\\"\\n.long 1, 2, 1, 0, 0\\n.text");\n',
        "__asm__",
        'has a section ".hash", expected code and constants',
    ),
    "a function of the C library, if it is there": (
        changed(ON_LOSS, "    if (rand) window->cwnd = (uint32_t)rand();\n").replace(
            "#include", "int rand(void) __attribute__((weak));\n#include", 1
        ),
        "int rand",
        "rand is weak, expected functions of the file or control.h",
    ),
    "a weak function of the C library": (
        changed(ON_LOSS, '    puts("");\n').replace(
            "#include", "__attribute__((weak)) int puts(const char *);\n#include", 1
        ),
        "__attribute__((weak))",
        "puts is weak, expected functions of the file or control.h",
    ),
    "a variable of a function": (
        changed(ON_LOSS, "    static uint32_t losses;\n    window->cwnd = ++losses;\n"),
        "static uint32_t losses",
        "losses is a variable outside of the state: expected it in the state, or const",
    ),
    "a variable of a thread": (
        changed(ON_LOSS, "    window->cwnd = ++losses;\n").replace(
            "struct mine {", "static _Thread_local uint32_t losses = 2;\nstruct mine {"
        ),
        "losses = 2",
        "losses is a variable outside of the state",
    ),
    "a variable that others could have": (
        changed(ON_LOSS, "    window->cwnd = losses[0]++;\n").replace(
            "struct mine {", "extern uint32_t losses[];\nuint32_t losses[2] = {2};\nstruct mine {"
        ),
        "uint32_t losses[2]",
        "losses is a variable outside of the state",
    ),
    "no growth": (changed(".on_ack = on_ack, ", ""), "WW_CONTROL(", "it has no .on_ack"),
    "a closed window": (
        changed(ON_LOSS, "    window->cwnd = 0;\n"),
        "static void on_loss",
        "on_loss sets cwnd to 0, expected from 1",
    ),
    "an endless loop": (
        changed(ON_LOSS, "    while (window->cwnd) window->cwnd |= 1;\n"),
        "while",
        "the control does not return",
    ),
    "an overflow": (
        changed(ON_LOSS, "    window->cwnd = (uint32_t)((int)in_flight + 0x7fffffff);\n"),
        "0x7fffffff",
        "the control overflows",
    ),
    "a division by zero": (
        changed(ON_LOSS, "    window->cwnd = 100 / (uint32_t)(now_us >> 63);\n"),
        "100 /",
        "the control",
    ),
    "a call through a null pointer": (
        changed(ON_LOSS, "    void (*volatile none)(void) = 0;\n    none();\n"),
        "none();",
        "the control uses memory that is not its own",
    ),
    "an array at the end of the state": (
        changed("common;\n};", "common;\n    uint32_t last[4];\n};").replace(
            ON_LOSS, "    own->last[in_flight + 4] = mss;\n"
        ),
        "own->last[",
        "leaves the bounds of an array",
    ),
    "a write past the state": (
        changed(ON_LOSS, "    ((volatile uint8_t *)own)[sizeof *own + 4 + (now_us >> 60)] = 1;\n"),
        "((volatile",
        "the control leaves the bounds of its state",
    ),
    "a copy past the state": (
        changed(ON_LOSS, "    __builtin_memset(own, 0, 4000 + (now_us >> 60));\n"),
        "__builtin_memset",
        "the control leaves the bounds of its state",
    ),
    "a read far in front of the state": (
        changed(ON_LOSS, "    window->cwnd = ((volatile uint32_t *)own)[-5000];\n"),
        "((volatile",
        "the control leaves the bounds of its state",
    ),
    "a write past an array on the stack": (
        changed(
            ON_LOSS,
            '    volatile char few[8];\n    volatile char *p = few;\n    __asm__("" : "+r"(p));\n'
            "    for (uint32_t i = 0; i < 40; i++) p[i] = 1;\n",
        ),
        "}\n\n/* What traces show",
        "leaves the bounds of an array",
    ),
    "recursion with large frames": (
        changed(ON_LOSS, "    window->cwnd = deep(in_flight);\n").replace(
            "static void on_loss",
            "static uint32_t deep(uint32_t n) {\n    volatile char frame[60000];\n"
            "    frame[n % 60000] = 1;\n    return deep(n + 1) + frame[n % 100] + 1;\n}\n"
            "static void on_loss",
        ),
        "static uint32_t deep(",
        "the control uses more of the stack than there is",
    ),
    "a device that is included": (
        MINE.replace("#include", '#define ZERO "/dev/zero"\n#inc\\\nlude ZERO\n#include', 1),
        "#inc",
        "includes ZERO, expected a header of the core or the compiler",
    ),
    "a device that the assembler includes": (
        f'{MINE}__asm__(".inc"\n        "bin \\"/dev/zero\\"");\n',
        "__asm__",
        "includes /dev/zero, expected a header of the core or the compiler",
    ),
    "a file that includes itself": (
        MINE.replace("#include", '#include "control.c"\n' * 2 + "#include", 1),
        '#include "control.c"',
        "#include nested",
    ),
    "a wild pointer": (
        changed(ON_LOSS, "    window->cwnd = *(volatile uint32_t *)(now_us >> 60);\n"),
        "volatile",
        "the control uses memory that is not its own",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_the_file_and_the_line(mistake, tmp_path, westwood, monkeypatch):
    text, statement, expected = MISTAKES[mistake]
    cache = tmp_path / "controls"  # its own: other tests compile at the same time
    monkeypatch.setattr(programs, "workshop", lambda: tmp_path)
    (tmp_path / "mine.c").write_text(text, encoding="utf-8")
    refused = westwood("run", "path", "--set", "path.loss.rate=0.02", "--cc", "./mine.c")
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert f"./mine.c:{line_of(text, statement)}: " in refused.err and expected in refused.err, (
        refused.err
    )
    assert not [path for path in cache.glob("*") if path.suffix != ".so"]


NAMES_THE_LINE = """\
control stress --environments 20 --out out --cc
control tune --paths 30 --packets 200 --trials 1 --out out --cc
evaluate --only clean --paths 3
evaluate --only harm-bbr --out out
evaluate --suite draft --out out
"""


@pytest.mark.parametrize("words", NAMES_THE_LINE.splitlines())
def test_every_command_names_the_line_of_a_control_that_fails(words, tmp_path, westwood):
    text, statement, expected = MISTAKES["a wild pointer"]
    text = text.replace("now_us >> 60", "(now_us | in_flight) >> 60")
    (tmp_path / "mine.c").write_text(text, encoding="utf-8")
    refused = westwood(*words.split(), "./mine.c")
    line = line_of(text, statement)
    assert (refused.code, refused.err) == (2, f"westwood: ./mine.c:{line}: {expected}\n")


def test_a_name_that_is_not_utf_8_is_one_line(westwood):
    refused = westwood("run", "path", "--cc", os.fsdecode(b"./\xff.c")).refusal()
    assert refused == "westwood: ./?.c: has bytes in its name that are not UTF-8\n"


STEERING = ["e\x1b[2J.c", "e\n.c", "e\x07.c", "e\u202e.c", "e\x9b2J.c"]


@pytest.mark.parametrize("name", STEERING)
@pytest.mark.parametrize(
    "words",
    [
        "run path --set duration=1s --cc",
        "compare --duration 1s --seeds 1 --cc",
        "sweep path --seeds 1 --out out --cc",
        "evaluate --suite check",
        "control show",
        "evaluate --only clean --paths 3",
        "evaluate --only harm-bbr --out out",
        "evaluate --suite draft --out out",
        "lab --no-browser --cc",
        "run path --set duration=1s --out out --set tcp.cc=",
        "run",
    ],
)
def test_a_name_that_steers_a_terminal_is_refused_before_any_run(words, name, tmp_path, westwood):
    (tmp_path / name).write_text(MINE, encoding="utf-8")
    (tmp_path / "its.toml").write_text(
        f"""name = "a"\nduration = "1s"\n[[link]]\nname = "l"\nbetween = ["a", "b"]
rate = "1Mbps"\ndelay = "1ms"\n[[flow]]\nname = "f"\nfrom = "a"\nto = "b"
cc = {json.dumps("./" + name)}\n"""
    )
    *given, last = words.split()
    if last == "run":
        refused = westwood("run", "its.toml")
    elif last.endswith("="):
        refused = westwood(*given, f"{last}./{name}")
    else:
        refused = westwood(*given, last, f"./{name}")
    assert refused.code == 2 and refused.out == "" and not (tmp_path / "out").exists()
    assert refused.err.count("\n") == 1 and "control characters" in refused.err
    assert refused.err[:-1].isprintable() and json.dumps(name)[1:-1] in refused.err


def test_a_table_shows_control_characters_escaped(capsys):
    tables.print_texts(tables.Cells(("a", "b"), (("x\x1b[2J", "y"),)), "t\x1b[2J")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and shown.count("u001b[2J") == 2


@pytest.mark.parametrize(
    "compiler",
    [["gcc"], ["clang"], [sys.executable, "-m", "ziglang", "cc"]],
    ids=lambda compiler: compiler[-1],
)
def test_every_compiler_makes_the_same_control_and_names_the_same_lines(
    compiler, monkeypatch, tmp_path
):
    if compiler[-1] == "cc":
        pytest.importorskip("ziglang")
    elif not shutil.which(compiler[0]):
        pytest.skip(f"needs {compiler[0]}")
    monkeypatch.setenv("CC", " ".join(compiler))
    compiling.compilers.cache_clear()
    monkeypatch.setattr(programs, "workshop", lambda: tmp_path)
    try:
        # Nothing else has these bytes, so that this compiler makes them.
        code = f"{MINE}// {compiler[-1]}\n".encode()
        path = tmp_path / "mine.c"
        path.write_bytes(code)
        scenario = Scenario.preset("path").with_settings(
            {"duration": "20s", "tcp.recovery": "sack"}
        )
        ours = simulate(scenario.with_settings({"tcp.cc": Control(path)}), events=True).events
        theirs = simulate(scenario.with_settings({"tcp.cc": "reno"}), events=True).events
        assert ours.equals(theirs)
        of_objects = ("a function that runs when it is loaded", "a variable of a function")
        for name in ("no C", "a function of the C library", *of_objects):
            text, statement, expected = MISTAKES[name]
            line = line_of(text, statement)
            with pytest.raises(InputError, match=f"mine.c:{line}: .*{expected}"):
                compiling.compiled(text.encode(), "mine.c")
    finally:
        compiling.compilers.cache_clear()
