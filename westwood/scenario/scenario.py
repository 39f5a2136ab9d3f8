# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios: a network, its flows and an optional sweep, from TOML or keywords.

    Scenario.preset("table1")                        one that comes with the package
    Scenario.from_toml("mine.toml")                  a file; docs/scenarios.md has the format
    Scenario(name="a", duration="60s", link=[{...}], flow=[{...}])
    scenario.with_settings({"bottleneck.loss.rate": 0.01, "tcp.cc": "westwood+"})

A scenario is complete: its profile supplies every setting that was not given.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PrivateAttr, ValidationError, field_validator

from westwood import arguments, extras, files
from westwood.arguments import checked
from westwood.catalogue import UDP
from westwood.errors import InputError, suggestion
from westwood.scenario import (
    completion,
    lines,
    number_files,
    paths,
    profiles,
    queue_limits,
    toml_format,
    topology,
)
from westwood.scenario.addressed import assign, blamed, is_part
from westwood.scenario.explain import explained
from westwood.scenario.flows import Flow
from westwood.scenario.links import Link
from westwood.scenario.parts import Duration, Name, Part, make_ready
from westwood.scenario.preset_files import presets, presets_folder
from westwood.scenario.summary import html
from westwood.scenario.swept import check_sweep, column_values
from westwood.units import format_time

FORMAT = 1  # of scenario files, and part of the hash
MOST_POINTS = 100_000  # of a sweep
_KEPT = (Part, files.Numbers)  # immutable and large, so never copied

Settings = Mapping[str, Any]
Values = Annotated[tuple[Any, ...], Field(strict=False, min_length=1)]


class Scenario(Part):
    """Describes one experiment, in base units: bit/s, picoseconds, bytes, segments."""

    name: Name
    duration: Duration  # ps of simulated time
    seeds: Annotated[int, Field(ge=1, le=1_000_000)] = 30  # runs of every point
    profile: str = profiles.DEFAULT
    link: Annotated[tuple[Link, ...], Field(strict=False, min_length=1, max_length=10_000)]
    flow: Annotated[tuple[Flow, ...], Field(strict=False, min_length=1, max_length=100_000)]
    sweep: dict[str, Values] = Field(default={})

    _given: dict[str, Any] = PrivateAttr(default_factory=dict)
    _source: str = PrivateAttr(default="")
    _folder: Path = PrivateAttr(default=Path())  # base of relative file names

    def __init__(self, /, **given: Any) -> None:
        given = number_files.embedded(arguments.builtin_table(given, _KEPT), Path())
        data: Mapping[str, Any] = given
        if wanted := queue_limits.relative(given):
            draft = Scenario(**queue_limits.unlimited(given, wanted))
            data = queue_limits.with_limits(given, queue_limits.packets(draft, wanted))
        try:
            super().__init__(**completion.completed(data))
            topology.check_count(self.flow, self.duration)
            topology.check(self.link, self.flows, list(type(self).model_fields))
            _check_starts(self)
        except ValidationError as error:
            raise explained(error, given, type(self)) from None
        self._given = given

    @field_validator("sweep")
    @classmethod
    def _distinct_and_not_too_many(
        cls, sweep: dict[str, tuple[Any, ...]]
    ) -> dict[str, tuple[Any, ...]]:
        if math.prod(len(values) for values in sweep.values()) > MOST_POINTS:
            raise InputError(f"expected at most {MOST_POINTS} points in all", value=list(sweep))
        check_sweep(sweep)
        return sweep

    @classmethod
    @checked(path=arguments.path)
    def from_toml(cls, path: str | Path) -> Scenario:
        """Reads the scenario in a TOML file."""
        try:
            data = files.read_toml(Path(path))
        except InputError as error:
            raise error.located(source=str(path)) from None
        try:
            return cls._from(data, str(path), Path(path).parent)
        except InputError as error:
            raise lines.placed(error, Path(path)) from None

    @classmethod
    @checked(name=arguments.text)
    def preset(cls, name: str) -> Scenario:
        """Reads a scenario that comes with the package; `presets()` has the names."""
        if name not in presets():
            raise InputError(f"no such scenario, {suggestion(name, presets())}", value=name)
        return cls._from(files.read_toml(presets_folder() / f"{name}.toml"), name, presets_folder())

    @classmethod
    def load(cls, file_or_preset: str) -> Scenario:
        """Reads a preset by its name, else a file."""
        file_or_preset = str(arguments.path(file_or_preset))
        if file_or_preset in presets():
            return cls.preset(file_or_preset)
        if "." in file_or_preset or "/" in file_or_preset or os.path.exists(file_or_preset):
            return cls.from_toml(file_or_preset)
        if file_or_preset == "-":
            raise InputError("standard input is not read, expected a file", value=file_or_preset)
        known = suggestion(file_or_preset, presets())
        raise InputError(
            f"neither a file nor a scenario of the package, {known}", value=file_or_preset
        )

    @classmethod
    def _from(cls, data: dict[str, Any], source: str, folder: Path) -> Scenario:
        try:
            scenario = cls(**number_files.embedded(data, folder))
        except InputError as error:
            raise error.located(source=source) from None
        scenario._source, scenario._folder = source, folder
        return scenario

    def with_settings(self, settings: Settings) -> Scenario:
        """Replaces some values, addressed as KEY, NAME.KEY or *.KEY (all flows), in a new scenario.

        A key that is set is no longer swept.
        """
        data = self.given()
        settings = arguments.builtin_table(settings, _KEPT)
        for key, value in settings.items():
            try:
                assign(data, key, value)
            except InputError as error:
                raise error.located(source=self._source) from None
            if isinstance(data.get("sweep"), dict):
                data["sweep"].pop(key, None)
        for swept in data["sweep"] if isinstance(data.get("sweep"), dict) else ():
            for key in filter(lambda key: is_part(key, swept), settings):
                problem = f"expected {swept} set as well, for its sweep replaces all of it"
                raise InputError(problem, key=key, value=settings[key], source=self._source)
        try:
            return self._from(data, self._source, self._folder)
        except InputError as error:
            raise blamed(error, settings) from None

    def _repr_html_(self) -> str:
        return html(self)

    def with_sweep(self, sweep: Settings) -> Scenario:
        """Sweeps these keys, each over its values, in a new scenario."""
        data = self.given()
        data["sweep"] = {**data.get("sweep", {}), **arguments.builtin_table(sweep, _KEPT)}
        return self._from(data, self._source, self._folder)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.model_dump() == other.model_dump()

    __hash__ = None  # type: ignore[assignment]

    def points(self) -> Iterator[tuple[dict[str, Any], Scenario]]:
        """Yields each combination of the swept values, in order, with the scenario it makes.

        The values are as a table's columns hold them: numbers where all of a key's are, else text.
        """
        base = self._at({key: values[0] for key, values in self.sweep.items()})
        shown = [column_values(values) for values in self.sweep.values()]
        for places in itertools.product(*(range(len(values)) for values in shown)):
            swept = zip(self.sweep.items(), shown, places, strict=True)
            settings, columns = {}, {}
            for (key, values), texts, place in swept:
                settings[key], columns[key] = values[place], texts[place]
            yield columns, base._at(settings)

    def _at(self, point: Settings) -> Scenario:
        """Returns a point of the sweep; an error has the line that sweeps its key."""
        try:
            return self.with_settings(point)
        except InputError as error:
            if not error.source:
                raise
            raise lines.placed(error, Path(error.source), point) from None

    @cached_property
    def relative_limits(self) -> dict[str, str]:
        """The queue limits given as "1bdp" or "5ms", by link."""
        given = queue_limits.relative(self._given)
        return {self.link[place].name: limit for place, limit in given.items()}

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes, in the order of their indices in the simulator."""
        return topology.nodes(self.link)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The single flows; a group with a count gives NAME-1, NAME-2 and so on."""
        return tuple(one for flow in self.flow for one in flow.each())

    @cached_property
    def paths(self) -> Mapping[tuple[str, str], paths.Path]:
        """The limits of the flows' routes, by their two end nodes."""
        return paths.of_flows(self.link, self.flow)

    def given(self) -> dict[str, Any]:
        """Returns the settings that were given; the profile supplies the others."""
        return arguments.builtin_table(self._given, _KEPT)

    def resolved(self) -> dict[str, Any]:
        """Returns all settings with their units, as a TOML file would have them.

        Settings that follow from others are left as they were given, because they must follow a
        change: the recovery and its settings follow the protocol, and in a sweep a queue limit in
        bandwidth-delay products follows the product.
        """
        data = self.model_dump(exclude_none=True)
        for link in data["link"] if self.sweep else ():
            if link["name"] in self.relative_limits:
                link["queue"]["limit"] = self.relative_limits[link["name"]]
        profile = profiles.get(self.profile)
        for flow in data["flow"]:
            for key in completion.follows_from_protocol(flow, profile):
                flow.pop(key, None)
            if flow["cc"]["name"] == UDP and "on" not in flow["app"]:
                del flow["app"]["durations"]
        return data

    def lab(self) -> Any:
        """Shows the laboratory with this scenario, inline in a notebook: docs/lab.md."""
        extras.need("anywidget", "Scenario.lab()")
        from westwood.lab import notebook

        return notebook.Laboratory(self)

    @cached_property
    def hash(self) -> str:
        """Twelve hexadecimal digits of a hash of all that affects a run, except the seed."""
        settings = self.model_dump(exclude={"name", "seeds", "sweep", "profile"})
        text = json.dumps([FORMAT, settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_toml(self) -> str:
        """Returns the complete scenario as TOML, which `from_toml` reads back unchanged."""
        return toml_format.dumps(self.resolved())

    @checked(name=arguments.text)
    def to_files(self, name: str) -> dict[str, str]:
        """Returns the scenario as files, contents by name; long lists have their own files.

        The last file is NAME.toml, which `from_toml` reads with the others in the same folder.
        """
        data = self.resolved()
        made = number_files.split_out(data["link"], name)
        return {**made, f"{name}.toml": toml_format.dumps(data)}


make_ready(Scenario)


def _check_starts(scenario: Scenario) -> None:
    """Raises InputError for a flow that would start after the run's end."""
    for flow in scenario.flow:
        if flow.start >= scenario.duration:
            problem = f"expected less than the duration, {format_time(scenario.duration)}"
            raise InputError(problem, key=f"{flow.name}.start", value=format_time(flow.start))
