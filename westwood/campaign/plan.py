# SPDX-License-Identifier: BSD-3-Clause
"""Defines plans: which files go to which targets, and which congestion controls take turns.

Plans are TOML; docs/paths.md has the format. A target is an emulated path (a link of a
scenario with the profile linux) or an iperf3 server. A session is a target and a size.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator, ValidationError, field_validator, model_validator

from westwood import files
from westwood.engines import linux_limits
from westwood.errors import InputError, suggestion
from westwood.scenario import Scenario, lines
from westwood.scenario.explain import explained
from westwood.scenario.parts import Bytes, Delay, Duration, Name, Part
from westwood.units import PS_PER_S, format_size, format_time

PROFILE = "linux"
PORT = 5201  # iperf3's default port
_FOLDER = Path(__file__).parent / "plans"
MOST_UPLOADS = 100_000  # limit for each congestion control in a session
Uploads = Annotated[int, Field(ge=1, le=MOST_UPLOADS)]


@dataclass(frozen=True)
class Server:
    """The address of an iperf3 server."""

    host: str
    port: int


def server_of(text: object) -> Server:
    """Reads HOST or HOST:PORT; an IPv6 address with a port stands in brackets."""
    if not isinstance(text, str) or not text.strip():
        raise InputError('expected HOST or HOST:PORT, such as "192.0.2.1:5201"', value=text)
    bare = text.startswith("[") or text.count(":") == 1  # bare IPv6 has several colons
    host, _, port = text.rpartition(":") if bare and not text.endswith("]") else (text, "", "")
    number = int(port) if port.isdecimal() else 0 if port else PORT
    if not host or not 1 <= number <= 65535:
        raise InputError('expected HOST or HOST:PORT, such as "192.0.2.1:5201"', value=text)
    return Server(host.strip("[]"), number)


class Target(Part):
    """A target of uploads: an emulated path or an iperf3 server."""

    name: Name
    path: dict[str, Any] | None = None  # a link's settings
    server: Annotated[Server, PlainValidator(server_of)] | None = None
    sizes: Annotated[tuple[Bytes, ...], Field(strict=False, min_length=1)]
    uploads: Uploads | None = None  # overrides the plan's

    @model_validator(mode="after")
    def _one_of_both(self) -> Target:
        if (self.path is None) == (self.server is None):
            problem = "expected a path to emulate or an iperf3 server, one of the two"
            raise InputError(problem, key="path" if self.path is None else "server")
        if len(set(self.sizes)) < len(self.sizes):
            raise InputError(
                "expected each size once",
                key="sizes",
                value=[format_size(size) for size in self.sizes],
            )
        return self


class CampaignPlan(Part):
    """A campaign, with times in ps and sizes in bytes."""

    name: Name
    cc: Annotated[tuple[str, ...], Field(strict=False, min_length=2, max_length=8)]
    uploads: Uploads = 20  # uploads by each congestion control in each session
    timeout: Duration = 600 * PS_PER_S  # limit for one upload
    retries: Annotated[int, Field(ge=0, le=1000)] = 2  # repetitions of a failed upload
    retry_after: Delay = 5 * PS_PER_S
    target: Annotated[tuple[Target, ...], Field(strict=False, min_length=1, max_length=1000)]

    @field_validator("cc")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in linux_limits.CONTROLS:
                known = suggestion(name, linux_limits.CONTROLS)
                raise InputError(f"no congestion control of Linux or of ours, {known}", value=name)
        if len({linux_limits.CONTROLS[name] for name in names}) < len(names):
            raise InputError("expected each congestion control once", value=list(names))
        return names

    @model_validator(mode="after")
    def _names_once(self) -> CampaignPlan:
        names = [target.name for target in self.target]
        for number, name in enumerate(names):
            if name in names[:number]:
                problem = "expected a name that no other target has"
                raise InputError(problem, key=f"target[{number + 1}].name", value=name)
        return self

    @classmethod
    def load(cls, file_or_preset: str) -> CampaignPlan:
        """Reads a plan of the package by its name, or a file."""
        path = Path(file_or_preset)
        if file_or_preset in presets():
            path = _FOLDER / f"{file_or_preset}.toml"
        elif "." not in file_or_preset and "/" not in file_or_preset and not os.path.exists(path):
            problem = f"neither a file nor a plan of the package, {suggestion(path, presets())}"
            raise InputError(problem, value=file_or_preset)
        try:
            return cls.read(files.read_toml(path))
        except InputError as error:
            raise lines.placed(error.located(source=file_or_preset), path) from None

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> CampaignPlan:
        """Makes the plan that these tables describe, and checks its paths."""
        try:
            plan = cls(**given)
        except ValidationError as error:
            raise explained(error, given, cls) from None
        for target in plan.target:
            if target.path is not None:
                scenario(plan, target, plan.cc[0], 1)
        return plan

    @property
    def baseline(self) -> str:
        """The congestion control that gains refer to: the last one named."""
        return self.cc[-1]

    def sessions(self) -> Iterator[tuple[Target, int, int]]:
        """Yields (target, size in bytes, uploads of each cc), in order."""
        for target in self.target:
            for size in target.sizes:
                yield target, size, target.uploads or self.uploads

    def settings(self) -> dict[str, Any]:
        """Returns everything that decides the measurement, which excludes retries."""
        targets = [
            {
                "name": target.name,
                "path": target.path,
                "server": f"{target.server.host}:{target.server.port}" if target.server else None,
                "sizes": [format_size(size) for size in target.sizes],
            }
            for target in self.target
        ]
        return {"name": self.name, "cc": list(self.cc), "target": targets}


def presets() -> list[str]:
    """Lists the plans that come with the package."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


def scenario(plan: CampaignPlan, target: Target, cc: str, size: int) -> Scenario:
    """Makes the scenario of an upload over an emulated path."""
    assert target.path is not None
    ends = {key: target.path[key] for key in ("name", "between") if key in target.path}
    if ends:
        raise InputError(
            "unknown key; the path connects this machine and the target",
            key=f"{target.name}.path.{next(iter(ends))}",
        )
    link = {"name": "path", "between": ["source", target.name], **target.path}
    recovery = "newreno" if cc == "newreno" else "prr"  # without SACK, or as in Linux
    flow = {
        "name": "upload",
        "from": "source",
        "to": target.name,
        "cc": cc,
        "size": f"{size}B",
        "recovery": recovery,
    }
    try:
        return Scenario(
            name=target.name,
            duration=format_time(plan.timeout),
            profile=PROFILE,
            link=[link],
            flow=[flow],
        )
    except InputError as error:
        raise error.located(key=f"{target.name}.{error.key}") from None
