# SPDX-License-Identifier: BSD-3-Clause
"""Builds the laboratory's page.

ziglang's compiler (from PyPI) turns the engine into WebAssembly. npm's esbuild bundles lab/src into
a script and a worker. With the package's declarations they become one file, westwood/lab/page.html,
which loads nothing from the network or its folder. The engine is compiled only if its sources have
changed. westwood/draw/plots.js, the script for the figures of reports, is built alongside.
"""

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "lab"
BUILD = ROOT / "build" / "lab"
PAGE = ROOT / "westwood" / "lab" / "page.html"
PLOTS = ROOT / "westwood" / "draw" / "plots.js"
VERDICTS = ROOT / "docs" / "verdicts.json"
LARGEST = 1_500_000  # bytes, compressed
LIBRARIES = ("uplot", "smol-toml")
FLAGS = ("-std=c++20", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Wconversion", "-Werror")


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    engine = build_engine()
    if sys.argv[1:] == ["--engine"]:  # needs no installed package, so it may run during its build
        return
    modules = install()
    PAGE.write_text(pack(engine, modules), encoding="utf-8")
    PLOTS.write_text(plots(modules), encoding="utf-8")
    size = len(gzip.compress(PAGE.read_bytes()))
    if size > LARGEST:
        sys.exit(f"{PAGE.name} is {size} bytes compressed, expected at most {LARGEST}")
    print(f"Laboratory: {PAGE} ({size / 1000:.0f} kB compressed)")


def verdicts() -> dict[str, dict[str, str]]:
    """Returns each claim's result from the last `westwood reproduce all` in docs/."""
    claims = json.loads(VERDICTS.read_text(encoding="utf-8"))["claims"]
    shown = ("verdict", "explanation")
    return {name: {key: claim[key] for key in shown} for name, claim in claims.items()}


def build_engine() -> Path:
    """Compiles the engine, unless its sources are unchanged."""
    sources = [
        LAB / "engine.cpp",
        *(
            path
            for room in ("engine", "plan", "metrics")
            for path in sorted((ROOT / room).rglob("*.cpp"))
        ),
    ]
    headers = [
        path
        for room in ("lab", "core", "engine", "wire", "plan", "metrics")
        for path in sorted((ROOT / room).rglob("*.h*"))
    ]
    built, stamp = BUILD / "engine.wasm", BUILD / "engine.sources"
    digest = " ".join((hashed([*sources, *headers]), *FLAGS))
    if built.exists() and stamp.exists() and stamp.read_text() == digest:
        return built
    print("Compiling the engine to WebAssembly: a minute or more", flush=True)
    # The C++ library, compiled once, is in the user's cache: ~/.cache/zig.
    cache = {"ZIG_LOCAL_CACHE_DIR": str(BUILD / "zig")}
    target = ("-target", "wasm32-wasi", "-mexec-model=reactor", "-s")
    zig = (sys.executable, "-m", "ziglang", "c++")
    subprocess.run(
        [*zig, *target, *FLAGS, "-o", built, *sources], check=True, cwd=ROOT, env=os.environ | cache
    )
    stamp.write_text(digest)
    return built


def install() -> Path:
    """Installs the pinned npm modules next to a copy of the sources; returns their folder."""
    place, stamp = BUILD / "page", BUILD / "page.modules"
    pins = [LAB / "package.json", LAB / "package-lock.json"]
    place.mkdir(exist_ok=True)
    for pin in pins:
        shutil.copy(pin, place)
    if not (stamp.exists() and stamp.read_text() == hashed(pins)):
        print("Installing the page's modules from npm", flush=True)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], check=True, cwd=place)
        stamp.write_text(hashed(pins))
    shutil.rmtree(place / "src", ignore_errors=True)
    shutil.copytree(LAB / "src", place / "src")
    from westwood.lab.declarations import declarations

    known = json.dumps(declarations(verdicts()), ensure_ascii=False)
    (place / "src" / "declared.json").write_text(known, encoding="utf-8")
    return place


def bundle(place: Path, source: str, *more: str) -> str:
    esbuild = place / "node_modules" / ".bin" / "esbuild"
    options = ("--bundle", "--minify", "--format=iife", "--target=es2022", "--charset=utf8")
    command = [esbuild, f"src/{source}", *options, *more, "--log-level=warning"]
    return subprocess.run(command, check=True, cwd=place, capture_output=True, text=True).stdout


def pack(engine: Path, place: Path) -> str:
    """Puts everything into one file, whose policy allows only these scripts, by their hashes."""
    style = bundle(place, "page.css").strip()
    (place / "src" / "packed.js").write_text(
        f"export const worker = {json.dumps(bundle(place, 'worker.js'))};\n"
        f"export const engine = {json.dumps(base64.b64encode(engine.read_bytes()).decode())};\n"
        f"export const licences = {json.dumps(licences(place))};\n"
    )
    script = bundle(place, "page.js").strip().replace("</script", "<\\/script")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{source_hash(script)}' 'wasm-unsafe-eval'",
            f"style-src '{source_hash(style)}'",
            "worker-src blob:",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    page = (LAB / "src" / "page.html").read_text(encoding="utf-8")
    for mark, text in (("POLICY", policy), ("STYLE", style), ("SCRIPT", script)):
        page = page.replace(f"@{mark}@", text)
    return page


def plots(place: Path) -> str:
    """Returns the script that draws the figures of reports, with uPlot's licence."""
    (uplot,) = (licence for licence in licences(place) if licence["name"] == "uplot")
    notice = f"/*! {uplot['name']} {uplot['version']}:\n{uplot['text'].strip()} */"
    script = bundle(place, "plots.js", "--loader:.css=text", f"--banner:js={notice}")
    return script.replace("</script", "<\\/script")


def source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def licences(place: Path) -> list[dict[str, str]]:
    """Returns the licences of the bundled modules, for the page to show."""
    problems = []
    for name in LIBRARIES:
        folder = place / "node_modules" / name
        described = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        text = next(folder.glob("LICENSE*")).read_text(encoding="utf-8")
        about = {key: described[key] for key in ("name", "version", "license")}
        problems.append({**about, "text": text})
    return problems


def hashed(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


if __name__ == "__main__":
    main()
