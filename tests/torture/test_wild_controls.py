# SPDX-License-Identifier: BSD-3-Clause
"""A control that writes anywhere or exhausts its compiler ends with a line that names its file."""

import random
import re
import resource
import subprocess
import sys

from mine import MINE, ON_LOSS

from westwood import programs
from westwood.control import compiling

TARGETS = ("own", "window", "(void *)(uintptr_t)config", "(void *)(uintptr_t)now_us")
MOST_BYTES = 8 << 30
KINDS = ("uint8_t", "uint32_t", "uint64_t")


def wild(choices: random.Random) -> str:
    """Returns statements that access memory with a random stride and count, in any direction."""
    target, kind = choices.choice(TARGETS), choices.choice(KINDS)
    count, stride = choices.choice([1, 10, 1000, 100_000]), choices.choice([1, -1, 7, 4096, -977])
    first = choices.choice([0, 1, 28, 29, 30, 58, -1, -3, 512, 70_000])
    value = choices.choice(["0", "1", "now_us", "~0ull"])
    access = f"at[{first} + (int64_t)i * {stride}]"
    done = f"{access} = ({kind}){value};" if choices.random() < 0.8 else f"(void){access};"
    depth = choices.choice([0, 0, 0, 1_000_000])
    return f"""    volatile uint8_t frame[{choices.choice([8, 5000, 70_000])}];
    frame[0] = 1;
    volatile {kind} *at = (volatile {kind} *)(void *)({target});
    __asm__("" : "+r"(at));
    for (uint32_t i = 0; i < {count}; i++) {done}
    if (now_us % 1000003 < {depth}) on_loss(config, own, window, now_us + 1, in_flight, mss);
    frame[1]++;
"""


def _limit_memory():
    """A control that overwrites its configuration may ask for all memory: docs/reliability.md."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def test_a_wild_control_runs_or_ends_in_a_line(attack, tmp_path):
    command = "run path --set path.loss.rate=0.02 --set duration=10s --seeds 4 --workers 2 --cc"
    for choices in attack.rounds():
        text = MINE.replace(ON_LOSS, ON_LOSS + wild(choices))
        (tmp_path / "mine.c").write_text(text, encoding="utf-8")
        ended = subprocess.run(
            [sys.executable, "-m", "westwood", *command.split(), "./mine.c"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            preexec_fn=_limit_memory,
        )
        context = f"{ended.returncode}: {ended.stderr}\n{text}"
        assert ended.returncode in (0, 2), context
        if ended.returncode == 2:
            *others, last = ended.stderr.splitlines()
            assert last.startswith("westwood: ./mine.c:"), context
            for line in others:  # malloc's own, or progress
                assert "westwood" not in line or " runs after " in line, context


# What a compiler is asked for. N is a size, FILE a file of others, CALL a function of others; text
# between two @ is repeated, and ~ is the end of a line.
HOSTILE = r"""
#include "FILE"
#include <..FILE>
%:include "FILE"
/**/ # /**/ include/**/"FILE"
#include_next "FILE"
#import "FILE"
#embed "FILE"
#define A "FILE"~#include A
#inc\~lude "FILE"
#pragma GCC dependency "FILE"
#pragma GCC pch_preprocess "FILE"
_Pragma("GCC pch_preprocess \"FILE\"")
#if __has_include("FILE")~#include "FILE"~#endif
#line 1 "FILE"
__asm__(".incbin \"FILE\"");
__asm__(".include \"FILE\"");
#define S(x) #x~__asm__(S(.incbin "FILE"));
__asm__(".rept N\n.quad 1\n.endr");
__asm__(".fill N, 8, 1");
__asm__(".org N");
__asm__(".macro m\nm\nm\n.endm\nm");
__asm__(".irpc a,@a@\n.fill N\n.endr");
const char big[N] = {1};
char big[N];
static const struct { char a[N][N]; } big[] = {[N] = {{{2}}}};
int f(int x) { char big[N]; ((volatile char *)big)[x] = 1; return big[0]; }
int f(int x) { switch (x) { case 0 ... N: return 1; default: return 2; } }
int f(void) { return @0+@ 1; }
int f(int x) { return @x ? x :@ 1; }
int f(int x) { @for (;;)@ x++; return x; }
int f(int x) { return @-(@ x; }
int f(int x) { @{@ return x; @}@ }
int @(@x@)@ = 1;
@struct s {@ int a; @} a;@
int @*@ x;
const char *const x = "@a@";
#define A(x) x x x x x x x x~#define B(x) A(A(A(A(A(A(x))))))~const char x[] = B(B(B("a")));
#define A(x) x x x x x x x x~#define B(x) A(A(A(x)))~int f(int x) { B(B(x *= 3;)) return x; }
@#if 1~@
@/*@
@\~@
static inline __attribute__((always_inline)) int f(int x) { return f(x + 1) + f(x + 2); }
int CALL(const char *) __attribute__((weak)); int f(void) { return CALL(""); }
__attribute__((weak)) int CALL(const char *); int (*const f)(const char *) = CALL;
int CALL(const char *);~#pragma weak CALL~int f(void) { return CALL(""); }
int g(const char *) __asm__("CALL"); int f(void) { return g(""); }
static int g(const char *) __attribute__((weakref("CALL"))); int f(void) { return g(""); }
int f(void) { __asm__(".weak CALL\ncall CALL"); return 1; }
int f(void) { return __builtin_CALL(""); }
__attribute__((visibility("default"))) extern int CALL(int); int f(void) { return CALL(1); }
"""
FILES = ["/dev/zero", "/dev/stdin", "/proc/self/mem", "/etc/passwd", ".", "control.c"]
WORDS = {
    "FILE": FILES,
    "CALL": ["puts", "system", "abort", "malloc", "environ", "dlopen", "printf", "missing"],
    "N": ["1", "4097", "70000000", "(1 << 31)", "(1 << 40)", "(1 << 62)", "0x7fffffffffffffff"],
}
LONGEST_S = 60  # of all compilers that a command starts, when each has two seconds


def hostile(choices: random.Random) -> str:
    """Returns a control that asks one of these of its compiler."""
    row, many = choices.choice(HOSTILE.split("\n")[1:-1]), choices.choice([1, 300, 10**4, 10**6])
    row = re.sub("@(.*?)@", lambda match: match[1] * many, row).replace("~", "\n")
    row = re.sub(r"\bN\b|FILE|CALL", lambda match: choices.choice(WORDS[match[0]]), row)
    place = choices.choice([0, MINE.index("struct mine {"), len(MINE)])
    return f"{MINE[:place]}{row}\n{MINE[place:]}"


def test_a_control_that_exhausts_its_compiler_runs_or_is_refused_in_a_line(
    attack, westwood, tmp_path, monkeypatch
):
    monkeypatch.setattr(programs, "workshop", lambda: tmp_path)
    monkeypatch.setattr(compiling, "LONGEST_S", 2)
    monkeypatch.chdir(tmp_path)
    for choices in attack.rounds():
        text = hostile(choices)
        (tmp_path / "mine.c").write_text(text, encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        ended = westwood("run", "path", "--set", "duration=100ms", "--cc", "./mine.c")
        context = f"{ended.code}: {ended.err[:2000]}\n{text[:5000]}"
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < LONGEST_S, context
        assert ended.code in (0, 2), context
        if ended.code == 2:
            assert re.fullmatch(r"westwood: \./mine\.c:.{1,1500}\n", ended.err), context
        assert not [path for path in tmp_path.glob("controls/*") if path.suffix != ".so"], context
