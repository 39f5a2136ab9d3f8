# SPDX-License-Identifier: BSD-3-Clause
"""Reads the uploads for a fit: a folder of `path compare`, or a recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from westwood.campaign.fit.recordings import Upload, of_frame
from westwood.campaign.trying import JOURNAL, trace_file
from westwood.control.catalogue import PROTOCOLS
from westwood.errors import InputError
from westwood.kernel import reading
from westwood.results import journal
from westwood.results.folder import Damaged, Folder

_WITHOUT_SACK = ("reno", "newreno")  # recoveries that Linux uses only on request


def uploads(source: Path) -> list[Upload]:
    """Reads the uploads; raises InputError if no path can be fitted to them."""
    if source.is_dir():
        return _of_folder(source)
    if reading.is_recording(source.name):
        return _of_recording(source)
    raise InputError(
        "expected a folder of westwood path compare, or a recording, .parquet or .csv",
        value=str(source),
    )


def protocol_of(control: str) -> str | None:
    """Returns the protocol that behaves as the kernel's control; None if there is none."""
    names = [name for name, protocol in PROTOCOLS.items() if protocol.kernel == control]
    names.sort(key=lambda name: PROTOCOLS[name].recovery in _WITHOUT_SACK)
    return names[0] if names else None


def _of_folder(path: Path) -> list[Upload]:
    file = path / JOURNAL
    try:
        folder = Folder(path, "")
    except InputError:  # its message is about a folder to write into
        raise InputError("not a folder of westwood path compare", source=str(path)) from None
    try:
        rows = journal.read(file).records
    except OSError as error:
        raise InputError(
            f"not a folder of westwood path compare: {JOURNAL}: {error.strerror or error}",
            source=str(path),
        ) from None
    read_uploads: list[Upload] = []
    problems: list[InputError] = []
    for row in rows:
        try:
            read_uploads += _of_row(row, folder)
        except InputError as error:
            problems.append(error)
    return _some(read_uploads, problems, str(path))


def _of_row(row: Mapping[str, Any], folder: Folder) -> list[Upload]:
    needed = ("cc", "pair", "min_rtt_s", "mss")
    if "error" in row or any(row.get(name) is None for name in needed):
        return []
    protocol, name = protocol_of(row["cc"]), trace_file(dict(row))
    if protocol is None:
        raise InputError(_unknown(row["cc"]), source=name)
    try:
        frame = folder.read_frame(name)
    except Damaged as error:
        raise InputError(str(error)) from None
    frame = frame.with_columns(pl.lit(row["min_rtt_s"]).alias("rtt_min_s"), mss=pl.lit(row["mss"]))
    busy_s = row.get("busy_s") or 0.0
    limited_s = (row.get("rwnd_limited_s") or 0.0) + (row.get("sndbuf_limited_s") or 0.0)
    return [of_frame(frame, protocol, name, limited_s / busy_s if busy_s else 0.0)]


def _of_recording(path: Path) -> list[Upload]:
    frame, _ = reading.read(path)
    read_uploads: list[Upload] = []
    problems: list[InputError] = []
    hosts: set[str] = set()
    for (flow, _transfer), transfer_rows in frame.group_by("flow", "transfer", maintain_order=True):
        control = str(transfer_rows["cc"][-1])
        protocol = protocol_of(control)
        try:
            if protocol is None:
                raise InputError(_unknown(control), source=str(flow))
            read_uploads.append(of_frame(transfer_rows, protocol, str(flow)))
            hosts |= _host_of(str(flow))
        except InputError as error:
            problems.append(error)
    if len(hosts) > 1:
        expected = "expected those to one host, since it is one path: kernel record --port chooses"
        raise InputError(
            f"has uploads to {len(hosts)} hosts, {', '.join(sorted(hosts)[:3])}; {expected}",
            source=str(path),
        )
    return _some(read_uploads, problems, str(path))


def _host_of(flow: str) -> set[str]:
    """Returns the host of a connection ADDRESS:PORT>ADDRESS:PORT; simulated ones have names."""
    _, arrow, to = flow.rpartition(">")
    return {to.rpartition(":")[0]} if arrow else set()


def _some(read_uploads: list[Upload], problems: list[InputError], source: str) -> list[Upload]:
    """Returns the usable uploads; raises the first problem if there are none."""
    if read_uploads:
        return read_uploads
    if problems:
        raise problems[0].located(source=source)
    raise InputError("no upload to fit a path to", source=source)


def _unknown(control: str) -> str:
    known = sorted({protocol.kernel for protocol in PROTOCOLS.values() if protocol.kernel})
    return f"no protocol here matches the kernel's {control}, expected one of {', '.join(known)}"
