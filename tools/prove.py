# SPDX-License-Identifier: BSD-3-Clause
"""Proves the core with Frama-C: `prove.py [--quick] [--only NAME] [--core DIR]`.

docs/reliability.md describes the proofs. Exits with 1 and names every property that is not proved,
or with 77 if Frama-C or z3 is missing.
--quick leaves out the proofs that take minutes. --core proves another copy of core/.
"""

import argparse
import csv
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROOFS = ROOT / "proofs"
PROMISES = PROOFS / "promises.h"
LACKING = 77  # exit code if this machine lacks a tool
PROVED = {"Valid", "Considered valid", "Dead", "Valid but dead"}
LIMIT_S = 900

STRICT = ["-c11", "-machdep", "gcc_x86_64", "-warn-unsigned-overflow", "-warn-signed-overflow"]
STRICT += ["-warn-left-shift-negative", "-warn-right-shift-negative"]
EVA = ["-eva", "-eva-precision", "0", "-eva-slevel", "8", "-eva-auto-loop-unroll", "64"]
WP = ["-then", "-wp", "-wp-prover", "z3", "-wp-par", "2"]
WP += ["-wp-warn-key", "pedantic-assigns=inactive"]


@dataclass(frozen=True)
class Proof:
    name: str
    source: str
    uses_eva: bool
    defines: tuple[str, ...] = ()
    functions: str = ""  # WP proves their contracts; EVA proves the absence of alarms otherwise
    is_quick: bool = True


@dataclass(frozen=True)
class Verdict:
    proved: int
    failures: list[str]


def promised() -> list[str]:
    """Lists the functions that have a contract in promises.h."""
    text = PROMISES.read_text()
    return re.findall(r"^static inline [\w ]*?(\w+)\(", text, re.M)


def proofs() -> list[Proof]:
    easy = [name for name in promised() if name not in HARD]
    in_theorems = "ww_count_ack,count_any_acks,ww_filter_step,estimate_any_samples,"
    in_theorems += "ww_wc_is_many,ww_wc_is_reduced,ww_wc_standing,ww_wc_answer,ww_wc_count_lost,"
    in_theorems += "ww_wc_after_round,ww_wc_is_evident,ww_wc_is_calm,ww_wc_is_link,ww_wc_is_sure,"
    in_theorems += "ww_wc_may_grow,ww_wc_follow_curve,ww_wc_grow,ww_wc_move,take_any_losses"
    return [
        Proof("any order", "any_order.c", uses_eva=True),
        Proof("promises", "any_order.c", uses_eva=False, functions=",".join(easy)),
        Proof("theorems", "theorems.c", uses_eva=False, functions=in_theorems),
        *(
            Proof(name, "any_order.c", uses_eva=False, functions=name, is_quick=False)
            for name in HARD
        ),
    ]


# These multiply unknowns, so the solver needs more time.
HARD = ("ww_scale", "ww_filter_tustin")
# For these EVA uses the contract instead of the code; for the others the code is more precise.
REPLACED = re.compile(r"ww_(wrapping_\w+|since|minus|rate|filter_\w+)")


def command(proof: Proof, core: Path, table: Path, seconds: int) -> list[str]:
    solve = [*WP, "-wp-timeout", str(seconds)]
    defines = "".join(f" -D{name}" for name in proof.defines)
    line = ["frama-c", *STRICT, f"-cpp-extra-args=-I{core}{defines}", str(PROOFS / proof.source)]
    if proof.uses_eva:
        replaced = [name for name in promised() if REPLACED.fullmatch(name)]
        line += [*EVA, "-eva-use-spec", ",".join(replaced), *solve, "-wp-prop=@assert,@requires"]
    else:
        # Those three are meant to wrap; EVA proves the sums of ww_bytes_in, by its intervals.
        guarded = ",".join(set(re.findall(r"ww_(?!wrapping|since|bytes_in)\w+", proof.functions)))
        line += ["-rte", "-rte-no-mem", "-rte-select", guarded, *solve]
        line += ["-wp-fct", proof.functions, "-then", "-wp", "-wp-prop=@lemma"]
    return [*line, "-then", "-report", "-report-csv", str(table)]


def unproved(proof: Proof, core: Path, table: Path, output: str) -> Iterator[str]:
    """Yields a line for each property that this proof must show and does not."""
    rows = list(csv.DictReader(table.open(), delimiter="\t", quoting=csv.QUOTE_NONE))
    names = set(proof.functions.split(","))
    for row in rows:
        status, kind = row["status"], row["property kind"]
        if status in PROVED or row["directory"].startswith("FRAMAC_SHARE"):
            continue
        # EVA assumes the contracts: the other proofs show them.
        if proof.uses_eva and kind in {"postcondition", "assigns clause", "from clause"}:
            continue
        if not proof.uses_eva and row["function"] not in names and "lemma" not in kind:
            continue
        # A function's preconditions are shown at its calls.
        if kind in {"from clause", "precondition"}:
            continue
        place = f"{row['directory']}/{row['file']}:{row['line']}"
        yield f"{place}: {row['function']}: {kind}: {status}: {row['property']}"
    if proof.uses_eva:
        for place in re.findall(r"\[eva\] (\S+): starting to merge loop iterations", output):
            if not place.startswith(str(PROOFS)) and "proofs/" not in place:
                yield f"{place}: a loop without a small bound"
        if "NON TERMINATING" in output or "[eva:summary]" not in output:
            yield "EVA did not finish"


def run(proof: Proof, core: Path, work: Path, seconds: int) -> Verdict:
    table = work / f"{proof.name.replace(' ', '-')}.csv"
    environment = {
        "WHY3CONFIG": str(work / "why3.conf"),
        "PATH": "/usr/bin:/bin",
        "HOME": str(work),
    }
    try:
        done = subprocess.run(
            command(proof, core, table, seconds),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return Verdict(0, [f"not finished within {LIMIT_S} s"])
    (work / f"{table.stem}.log").write_text(done.stdout)
    if not table.exists():
        return Verdict(0, done.stdout.splitlines()[-8:])
    with table.open() as rows:
        proved = sum("\tValid\t" in row for row in rows)
    return Verdict(proved, list(unproved(proof, core, table, done.stdout)))


def z3_version() -> str:
    output = subprocess.run(["z3", "--version"], capture_output=True, text=True).stdout
    return output.split()[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--core", type=Path, default=ROOT / "core")
    parser.add_argument("--only", metavar="NAME", help="one proof")
    parser.add_argument("--seconds", type=int, default=120, help="a solver's limit for one goal")
    options = parser.parse_args()
    core = options.core.resolve()
    if missing := [tool for tool in ("frama-c", "why3", "z3") if not shutil.which(tool)]:
        print(
            f"Skipped: no {', '.join(missing)}. tools/system.sh prove installs them on Debian 12."
        )
        return LACKING
    chosen = [proof for proof in proofs() if proof.is_quick or not options.quick]
    if options.only:
        chosen = [proof for proof in proofs() if proof.name == options.only]
    failed = False
    with tempfile.TemporaryDirectory(prefix="prove-") as folder:
        work = Path(folder)
        # Tells WP which solver to use, in Why3's configuration format.
        (work / "why3.conf").write_text(
            '[main]\nmagic = 14\n\n[partial_prover]\nname = "Z3"\n'
            f'path = "{shutil.which("z3")}"\nversion = "{z3_version()}"\n'
        )
        start = time.monotonic()
        with ThreadPoolExecutor(2) as pool:
            verdicts = pool.map(lambda proof: run(proof, core, work, options.seconds), chosen)
            for proof, verdict in zip(chosen, verdicts, strict=True):
                failed |= bool(verdict.failures)
                result = (
                    "\n  ".join(["FAILED", *verdict.failures]) if verdict.failures else "proved"
                )
                print(f"{proof.name}: {verdict.proved} properties, {result}", flush=True)
        print(f"{time.monotonic() - start:.1f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
