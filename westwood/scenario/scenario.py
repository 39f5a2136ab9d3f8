# SPDX-License-Identifier: BSD-3-Clause
"""A scenario is a network, the flows over it, and what to vary, from TOML or keywords.

    Scenario.preset("table1")                        one that comes with the package
    Scenario.from_toml("mine.toml")                  a file; docs/scenarios.md has the format
    Scenario(name="a", duration="60s", link=[{...}], flow=[{...}])
    scenario.with_settings({"bottleneck.loss.rate": 0.01, "tcp.cc": "westwood+"})

A scenario is complete: whatever was not given has been taken from its profile.
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
from westwood.catalogue import PROTOCOLS, RECOVERIES, UDP, settings_of_protocol
from westwood.errors import InputError, suggestion
from westwood.scenario import bdp, lines, number_files, paths, profiles, toml_format, topology
from westwood.scenario.addressed import EVERY_FLOW, assign, is_part, kind_of
from westwood.scenario.explain import explained
from westwood.scenario.flows import OF_DATAGRAMS, Flow, check_obeyed
from westwood.scenario.links import Link
from westwood.scenario.parts import Duration, Name, Part, make_ready
from westwood.scenario.preset_files import presets, presets_folder
from westwood.scenario.summary import html
from westwood.scenario.swept import check_sweep, column_values
from westwood.units import format_time

FORMAT = 1  # of scenario files, and part of the hash
MOST_POINTS = 100_000  # of a sweep
_KEPT = (Part, files.Numbers)  # never changed, and large: settings hold them as they are

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
    _folder: Path = PrivateAttr(default=Path())  # the names of files are relative to

    def __init__(self, /, **given: Any) -> None:
        given = number_files.embedded(arguments.builtin_table(given, _KEPT), Path())
        data: Mapping[str, Any] = given
        if wanted := bdp.products(given):
            draft = Scenario(**bdp.unlimited(given, wanted))
            data = bdp.with_limits(given, bdp.packets(draft, wanted))
        try:
            super().__init__(**_completed(data))
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
            raise _blamed(error, settings) from None

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
        """Takes a point of the sweep; an error has the line of the file that sweeps its key."""
        try:
            return self.with_settings(point)
        except InputError as error:
            if not error.source:
                raise
            raise lines.placed(error, Path(error.source), point) from None

    @cached_property
    def products(self) -> dict[str, str]:
        """By link, the limits of queues that were given in bandwidth-delay products ("1bdp")."""
        links = self._given.get("link", ())
        return {self.link[n].name: links[n]["queue"]["limit"] for n in bdp.products(self._given)}

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes; a node's index in the simulator is its place here."""
        return topology.nodes(self.link)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows one by one: of a group with a count, NAME-1, NAME-2..."""
        return tuple(one for flow in self.flow for one in flow.each())

    @cached_property
    def paths(self) -> Mapping[tuple[str, str], paths.Path]:
        """What the ways between its flows' ends allow at best, by these ends."""
        return paths.of_flows(self.link, self.flow)

    def given(self) -> dict[str, Any]:
        """Returns the settings that were given: the others are the profile's."""
        return arguments.builtin_table(self._given, _KEPT)

    def resolved(self) -> dict[str, Any]:
        """Returns all settings, as TOML would hold them, with their units.

        Without a recovery that follows from the protocol, and what goes with it or its absence:
        they must change when the protocol does. So must a queue in bandwidth-delay products, where
        there is a sweep, which may change the product.
        """
        data = self.model_dump(exclude_none=True)
        for link in data["link"] if self.sweep else ():
            if link["name"] in self.products:
                link["queue"]["limit"] = self.products[link["name"]]
        profile = profiles.get(self.profile)
        for flow in data["flow"]:
            cc, chosen = flow["cc"]["name"], flow["recovery"]
            follows = {
                key: profile.defaults("flow").get(key) for key in profile.defaults(profiles.SACK)
            }
            follows |= _defaults_of_recovery(cc, chosen, profile)
            if chosen != _recovery(cc, profile):
                follows.pop("recovery")
            left_out = {key for key, value in follows.items() if flow.get(key) == value}
            if cc == UDP:
                left_out |= flow.keys() - OF_DATAGRAMS
                if "on" not in flow["app"]:
                    del flow["app"]["durations"]
            for key in left_out & flow.keys():
                del flow[key]
        return data

    def lab(self) -> Any:
        """Shows the laboratory with this scenario, inline in a notebook: docs/lab.md."""
        extras.need("anywidget", "Scenario.lab()")
        from westwood.lab import notebook

        return notebook.Laboratory(self)

    @cached_property
    def hash(self) -> str:
        """Twelve hexadecimal digits over everything that decides a run's outcome but the seed."""
        settings = self.model_dump(exclude={"name", "seeds", "sweep", "profile"})
        text = json.dumps([FORMAT, settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_toml(self) -> str:
        """Writes the complete scenario so that `from_toml` reads the same scenario back."""
        return toml_format.dumps(self.resolved())

    @checked(name=arguments.text)
    def to_files(self, name: str) -> dict[str, str]:
        """Does what `to_toml` does with long lists of numbers in files: contents by file's name.

        The last one is NAME.toml, which `from_toml` reads with the others beside it.
        """
        data = self.resolved()
        made = number_files.split_out(data["link"], name)
        return {**made, f"{name}.toml": toml_format.dumps(data)}


make_ready(Scenario)


def _check_starts(scenario: Scenario) -> None:
    """A flow that would start when the run is over is a mistake, not a row of zeros."""
    for flow in scenario.flow:
        if flow.start >= scenario.duration:
            problem = f"expected less than the duration, {format_time(scenario.duration)}"
            raise InputError(problem, key=f"{flow.name}.start", value=format_time(flow.start))


def _completed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fills in the profile's values wherever nothing was given."""
    name = given.get("profile", profiles.DEFAULT)
    if not isinstance(name, str):
        raise InputError("expected the name of a profile", key="profile", value=name)
    profile = profiles.get(name)
    data = dict(given)
    for section, complete in (("link", _complete_link), ("flow", _complete_flow)):
        parts = data.get(section)
        if isinstance(parts, (list, tuple)):
            data[section] = [
                complete(part, profile) if isinstance(part, Mapping) else part for part in parts
            ]
    return data


def _complete_link(given: Mapping[str, Any], profile: profiles.Profile) -> dict[str, Any]:
    link = {**profile.defaults("link"), **given}
    if isinstance(link.get("loss"), Mapping):
        link["loss"] = {**profile.defaults("loss"), **link["loss"]}
    return link


def _complete_flow(given: Mapping[str, Any], profile: profiles.Profile) -> dict[str, Any]:
    if kind_of(given.get("app")) == UDP:
        try:
            check_obeyed(given)
        except InputError as error:
            raise error.located(key=f"{given.get('name', 'flow')}.{error.key}") from None
    cc = given.get("cc", UDP if kind_of(given.get("app")) == UDP else {})
    cc = {"name": cc} if isinstance(cc, str) else cc
    if not isinstance(cc, Mapping):
        return {**profile.defaults("flow"), **given}  # the model says what is wrong
    return {
        **profile.defaults("flow"),
        **_defaults_of_recovery(cc.get("name"), given.get("recovery"), profile),
        **given,
        **({"cc": {**_obeyed(cc.get("name"), profile), **cc}} if cc else {}),
    }


def _obeyed(cc: object, profile: profiles.Profile) -> dict[str, Any]:
    """The profile's settings of congestion controls that this one obeys."""
    known = settings_of_protocol(cc) if isinstance(cc, str) and cc in PROTOCOLS else {}
    return {key: value for key, value in profile.defaults("cc").items() if key in known}


def _recovery(cc: object, profile: profiles.Profile) -> str:
    """Chooses the loss recovery of a protocol whose flow doesn't choose one."""
    protocol = PROTOCOLS.get(cc) if isinstance(cc, str) else None
    own = protocol.recovery if protocol else ""
    if own == profiles.SACK:
        return str(profile.defaults(profiles.SACK).get("recovery", own))
    return own or str(profile.defaults("westwood")["recovery"])


def _defaults_of_recovery(cc: object, chosen: object, profile: profiles.Profile) -> dict[str, Any]:
    """The recovery, unless the flow chose it, and what goes with one that has SACK."""
    recovery = RECOVERIES.get(chosen if isinstance(chosen, str) else _recovery(cc, profile))
    if recovery is None:
        return {}  # the model says what is wrong
    with_sack = profile.defaults(profiles.SACK) if recovery.uses_sack and cc != UDP else {}
    return {**with_sack, "recovery": recovery.name}


def _blamed(error: InputError, settings: Settings) -> InputError:
    """Names the keys that were set as a whole in errors below them, as the user knows them."""
    said = {str(one): one for one in (_named(one, settings) for one in (error, *error.others))}
    first, *others = said.values()
    return first.located(others=others)


def _named(error: InputError, settings: Settings) -> InputError:
    name = error.key.partition(".")[0]
    for key in sorted(settings, key=len, reverse=True):  # the nearest first
        first, dot, rest = key.partition(".")
        own = f"{name}.{rest}" if dot and first == EVERY_FLOW else key
        if error.key == own or error.key.startswith(own + "."):
            return error if isinstance(settings[key], dict) else error.located(key=own)
    return error
