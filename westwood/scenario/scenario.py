# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios: a network, its flows and an optional sweep, from TOML or keywords.

    Scenario.preset("table1")                        one that comes with the package
    Scenario.from_toml("mine.toml")                  a file; docs/scenarios.md has the format
    Scenario(name="a", duration="60s", link=[{...}], flow=[{...}])
    scenario.with_settings({"bottleneck.loss.rate": 0.01, "tcp.cc": "westwood+"})

A scenario is complete: its profile supplies every setting that was not given.

Length: the docstrings are the reference of the public class.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from westwood import _engine, files
from westwood.control import arguments
from westwood.control.arguments import checked
from westwood.errors import InputError, suggestion
from westwood.scenario import (
    completion,
    controls,
    lines,
    named_links,
    number_files,
    plain,
    profiles,
    toml_format,
    topology,
)
from westwood.scenario.addresses import assign_all, blamed, is_part
from westwood.scenario.preset_files import presets, presets_folder
from westwood.scenario.stacks import STACK
from westwood.scenario.summary import html
from westwood.scenario.sweep_values import column_values
from westwood.units import format_time, parse_time

if TYPE_CHECKING:
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link
    from westwood.scenario.model import ScenarioModel

FORMAT = 1  # of scenario files, and part of the hash
_OWN_KEYS = ("name", "duration", "seeds", "profile", "link", "flow", "sweep")
_USUAL = {"seeds": 30, "profile": profiles.DEFAULT}
_SINGLE = ("name", "duration", *_USUAL, "sweep")
_OF_NO_RUN = {"name", *_USUAL, "sweep"}

Settings = Mapping[str, Any]


class Scenario:
    """Describes a network, the flows over it, and what to vary; it is immutable.

    Values have units, as in a TOML file: `"2Mbps"`, `"45ms"`, `"64KiB"`. The attributes hold base
    units: bit/s, picoseconds, bytes and packets. The profile supplies settings that are not given.

    Parameters
    ----------
    name : str
        Name of the scenario, in titles and file names.
    duration : str
        Simulated time, such as `"60s"`.
    link : list of dict
        The links, each with `name`, `between` (two nodes), `rate` and `delay` at least.
    flow : list of dict
        The flows, each with `name`, `from`, `to` (nodes) and `cc` (a protocol) at least.
    seeds : int, default 30
        Runs of every point, with the seeds 1, 2...
    profile : str, default "rfc"
        Name of the set of defaults: `westwood list profiles` shows all.
    sweep : dict of str to list, optional
        Keys, such as `"tcp.cc"`, and the values that each one takes.

    Attributes
    ----------
    name : str
        Name of the scenario.
    duration : int
        Simulated time in picoseconds.
    link : tuple of Link
        The links: `link[0].rate` is in bit/s, `link[0].delay` in picoseconds.
    flow : tuple of Flow
        The flows: `flow[0].cc.name` is the protocol, `flow[0].packet` is in bytes.
    seeds : int
        Runs of every point.
    profile : str
        Name of the set of defaults.
    sweep : dict of str to tuple
        The swept keys with their values, as they were given.

    Raises
    ------
    InputError
        If a key or value is wrong: one line with the key, the value and what was expected.

    See Also
    --------
    Scenario.preset : Reads a scenario that comes with the package.
    Scenario.from_toml : Reads a TOML file. docs/settings.md lists its keys.

    Examples
    --------
    >>> from westwood import Scenario
    >>> mine = Scenario(
    ...     name="mine",
    ...     duration="20s",
    ...     link=[{"name": "path", "between": ["a", "b"], "rate": "2Mbps", "delay": "45ms"}],
    ...     flow=[{"name": "tcp", "from": "a", "to": "b", "cc": "westwood+"}],
    ... )
    >>> mine.link[0].rate
    2000000
    >>> mine.flow[0].cc.name
    'westwood+'
    """

    name: str
    duration: int  # ps of simulated time
    seeds: int  # runs of every point
    profile: str
    link: tuple[Link, ...]
    flow: tuple[Flow, ...]
    sweep: dict[str, tuple[Any, ...]]

    def __init__(self, /, **given: Any) -> None:
        self._read(given, "", Path(), kept=False, is_copy=False)

    def _read(
        self, data: dict[str, Any], source: str, folder: Path, *, kept: bool, is_copy: bool
    ) -> None:
        """Takes the settings of a file or a program, or raises InputError.

        folder: the base of relative file names; kept: it holds results. is_copy: the data are of
        Python's types, and nobody else has them.
        """
        data = data if is_copy else arguments.builtin_table(data, _kept())
        data = number_files.embedded(data, folder, kept=kept)
        given = controls.embedded(data, folder, kept=kept)
        named = named_links.spelled_out(given)
        settings = completion.completed(named)
        plan = completion.planned(settings)
        limits: dict[str, str] = {}
        parts: plain.Parts | None = None
        if not isinstance(plan, str):
            settings = completion.with_derived(settings, plan)
            links = named["link"]
            limits = {links[place]["name"]: links[place]["queue"]["limit"] for place in plan.limits}
            parts = None if plan.problem else plain.parts_of(settings)
        state = {"_given": given, "_settings": settings, "_relative_limits": limits}
        files_ = {"_source": source, "_folder": folder}
        self.__dict__.update(state, **files_, _plan=None if isinstance(plan, str) else plan)
        if parts is None:
            self.__dict__.update({key: getattr(self._model, key) for key in _SINGLE})
            parts = plain.Parts(self._model.link, self._model.flow)
        else:
            single = {"name": settings["name"], "duration": parse_time(settings["duration"])}
            self.__dict__.update(_USUAL, **single, sweep={})
            self.__dict__.update({key: settings[key] for key in _USUAL if key in settings})
        self.__dict__["_parts"] = parts
        topology.check_count(parts.flow, self.duration)
        topology.check(parts.link, parts.flows, _OWN_KEYS)
        _check_starts(self)
        if isinstance(plan, str):
            completion.check_limits(settings, parts.link, plan)

    @cached_property
    def _parts(self) -> plain.Parts:
        """The links and flows as far as a run needs them, if possible without models."""
        try:
            parts = None if self._planned().problem else plain.parts_of(self._settings)
        except ValueError:  # as for a control of Python that another process had
            parts = None
        return parts or plain.Parts(self._model.link, self._model.flow)

    @cached_property
    def _model(self) -> ScenarioModel:
        """The models of the links and flows; raises InputError if a setting is wrong."""
        from pydantic import ValidationError

        from westwood.scenario.model import ScenarioModel

        try:
            return ScenarioModel(**self._settings)
        except ValidationError as error:
            from westwood.scenario.explain import explained

            named = named_links.spelled_out(self._given)
            raise explained(error, named, ScenarioModel) from None

    def __getattr__(self, name: str) -> Any:
        """Returns the links or flows, whose models are made when they are asked for."""
        if name in ("link", "flow"):
            return getattr(self._model, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a scenario does not change, expected with_settings({name}=...)")

    def __dir__(self) -> list[str]:
        """Lists what completion shows."""
        return sorted({*object.__dir__(self), *_OWN_KEYS})

    def __repr__(self) -> str:
        return repr(self._model).replace("ScenarioModel", "Scenario", 1)

    def _planned(self, *, anew: bool = False) -> _engine.Plan:
        """Returns what plan/ made of it, for engines and rows. Raises ValueError if it refuses it.

        anew: reads it again, since a control's code may have been loaded since.
        """
        if self._plan is None or anew:
            plan = completion.planned(self._settings)
            if isinstance(plan, str):
                raise ValueError(plan)
            self.__dict__["_plan"] = plan
            return plan
        return cast("_engine.Plan", self._plan)

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out what another process makes again."""
        kept = (*_SINGLE, "_given", "_settings", "_relative_limits", "_source", "_folder")
        return {**{key: self.__dict__[key] for key in kept}, "_plan": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @classmethod
    @checked(path=arguments.path)
    def from_toml(cls, path: str | os.PathLike[str]) -> Scenario:
        """Reads the scenario in a TOML file.

        Parameters
        ----------
        path : str or path
            The file. Names of files in it are relative to its folder.

        Returns
        -------
        Scenario
            The scenario.

        Raises
        ------
        InputError
            If the file cannot be read, or is no scenario: one line with the file, the line, the key
            and what was expected.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from westwood import Scenario
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder) / "mine.toml"
        ...     _ = file.write_text(Scenario.preset("path").to_toml())
        ...     Scenario.from_toml(file) == Scenario.preset("path")
        True
        """
        try:
            data = files.read_toml(Path(path))
        except InputError as error:
            raise error.located(source=str(path)) from None
        try:
            kept = files.is_in_results(Path(path))
            return cls._from(data, str(path), Path(path).parent, kept=kept)
        except InputError as error:
            raise lines.placed(error, Path(path)) from None

    @classmethod
    @checked(name=arguments.text)
    def preset(cls, name: str) -> Scenario:
        """Reads a scenario that comes with the package.

        Parameters
        ----------
        name : str
            One of `presets()`.

        Returns
        -------
        Scenario
            The scenario.

        Raises
        ------
        InputError
            If there is no such preset.

        Examples
        --------
        >>> from westwood import Scenario
        >>> Scenario.preset("table1").nodes
        ['source', 'router', 'sink']
        """
        if name not in presets():
            problem = f"no such preset, {suggestion(name, presets())}"
            raise InputError(problem, key="name", value=name)
        return cls._from(files.read_toml(presets_folder() / f"{name}.toml"), name, presets_folder())

    @classmethod
    @checked(file_or_preset=arguments.path)
    def load(cls, file_or_preset: str | os.PathLike[str]) -> Scenario:
        """Reads a preset by its name, or a TOML file.

        Parameters
        ----------
        file_or_preset : str or path
            One of `presets()`, or the path of a file.

        Returns
        -------
        Scenario
            The scenario.

        Raises
        ------
        InputError
            If it is neither a preset nor a file, or if the file is not a scenario.

        Examples
        --------
        >>> from westwood import Scenario
        >>> Scenario.load("table1") == Scenario.preset("table1")
        True
        """
        name = str(file_or_preset)
        if name in presets():
            return cls.preset(name)
        if "." in name or "/" in name or os.path.exists(name):
            return cls.from_toml(name)
        if name == "-":
            raise InputError("standard input is not read, expected a file", value=name)
        known = suggestion(name, presets())
        raise InputError(f"neither a file nor a scenario of the package, {known}", value=name)

    @classmethod
    def _from(
        cls,
        data: dict[str, Any],
        source: str,
        folder: Path,
        *,
        kept: bool = False,
        is_copy: bool = False,
    ) -> Scenario:
        scenario = cls.__new__(cls)
        try:
            scenario._read(data, source, folder, kept=kept, is_copy=is_copy)
        except InputError as error:
            raise error.located(source=source) from None
        return scenario

    @checked(settings=arguments.table)
    def with_settings(self, settings: Settings) -> Scenario:
        """Returns a scenario with other settings.

        A key that is set is no longer swept.

        Parameters
        ----------
        settings : dict of str to object
            Values by key, as in `--set`: `duration`; `NAME.KEY` of the link or flow of that name,
            such as `tcp.cc`; `*.KEY` of every flow; or `cc.KEY` of every control that has it.

        Returns
        -------
        Scenario
            A new scenario; this one stays as it is.

        Raises
        ------
        InputError
            If a key or value is wrong.

        Examples
        --------
        >>> from westwood import Scenario
        >>> table1 = Scenario.preset("table1")
        >>> short = table1.with_settings({"duration": "20s", "bottleneck.loss.rate": 0.01})
        >>> short.link[1].loss
        UniformLoss(rate=0.01, on='both')
        """
        if not settings:
            return self
        data = self._changeable()
        given = controls.settled(arguments.builtin_table(settings, _kept()), Path())
        try:
            settings = assign_all(data, given)
        except InputError as error:
            raise error.located(source=self._source) from None
        if isinstance(data.get("sweep"), dict):
            for key in (*given, *settings):
                data["sweep"].pop(key, None)
        for swept in data["sweep"] if isinstance(data.get("sweep"), dict) else ():
            for key in filter(lambda key: is_part(key, swept), settings):
                problem = (
                    f"expected {swept} to be set too, since its sweep replaces the whole table"
                )
                raise InputError(problem, key=key, value=settings[key], source=self._source)
        is_copy = not any(isinstance(value, (dict, list)) for value in given.values())
        try:
            return self._from(data, self._source, self._folder, is_copy=is_copy)
        except InputError as error:
            raise blamed(error, settings) from None

    def _changeable(self) -> dict[str, Any]:
        """Returns the given settings, of which the tables of links and flows are copies."""
        data = dict(self._given)
        for section in ("link", "flow"):
            data[section] = [
                dict(part) if isinstance(part, dict) else part for part in data[section]
            ]
        if isinstance(data.get("sweep"), dict):
            data["sweep"] = dict(data["sweep"])
        return data

    def _repr_html_(self) -> str:
        return html(self)

    @checked(sweep=arguments.table)
    def with_sweep(self, sweep: Settings) -> Scenario:
        """Returns a scenario that also sweeps these keys.

        Parameters
        ----------
        sweep : dict of str to list
            Values by key; the keys are those of `with_settings`.

        Returns
        -------
        Scenario
            A new scenario, whose `points()` are all combinations of the values.

        Raises
        ------
        InputError
            If a key or value is wrong, or if there are more than 100 000 points.

        Examples
        --------
        >>> from westwood import Scenario
        >>> losses = Scenario.preset("path").with_sweep({"path.loss.rate": [0.001, 0.01]})
        >>> [columns for columns, scenario in losses.points()]
        [{'path.loss.rate': 0.001}, {'path.loss.rate': 0.01}]
        """
        data = self.given()
        data["sweep"] = {**data.get("sweep", {}), **arguments.builtin_table(sweep, _kept())}
        return self._from(data, self._source, self._folder)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return False
        is_same = all(getattr(self, key) == getattr(other, key) for key in _SINGLE)
        return is_same and self._text == other._text

    __hash__ = None  # type: ignore[assignment]

    def points(self) -> Iterator[tuple[dict[str, Any], Scenario]]:
        """Yields each combination of the swept values, with the scenario it makes.

        Yields
        ------
        columns : dict of str to object
            The swept values by key, as `simulate_many` has them in its columns: numbers where all
            values of the key are numbers, text otherwise.
        scenario : Scenario
            The scenario with these values, without a sweep.

        Raises
        ------
        InputError
            If a value does not fit the scenario.

        Examples
        --------
        >>> from westwood import Scenario
        >>> swept = Scenario.preset("path").with_sweep({"tcp.cc": ["reno", "cubic"]})
        >>> for columns, scenario in swept.points():
        ...     print(columns, scenario.flow[0].cc.name)
        {'tcp.cc': 'reno'} reno
        {'tcp.cc': 'cubic'} cubic
        """
        base = self._at({key: values[0] for key, values in self.sweep.items()})
        shown = [column_values(values) for values in self.sweep.values()]
        for places in itertools.product(*(range(len(values)) for values in shown)):
            swept = zip(self.sweep.items(), shown, places, strict=True)
            settings, columns = {}, {}
            for (key, values), texts, place in swept:
                settings[key], columns[key] = values[place], texts[place]
            yield columns, base._at(settings) if any(places) else base

    def _at(self, point: Settings) -> Scenario:
        """Returns a point of the sweep; an error names the line that sweeps its key."""
        try:
            return self.with_settings(controls.settled(point, self._folder))
        except InputError as error:
            if not error.source:
                raise
            raise lines.placed(error, Path(error.source), point) from None

    @property
    def relative_limits(self) -> dict[str, str]:
        """The queue limits that were given in bandwidth-delay products or as a time, by link.

        Returns
        -------
        dict of str to str
            Such as `{"path": "1bdp"}` or `{"path": "5ms"}`; the link itself holds packets.

        Examples
        --------
        >>> from westwood import Scenario
        >>> path = Scenario.preset("path").with_settings({"path.queue.limit": "1bdp"})
        >>> path.relative_limits, str(path.link[0].queue.limit)
        ({'path': '1bdp'}, '15p')
        """
        return dict(self._relative_limits)

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes, in the order of their indices in the simulator.

        Returns
        -------
        list of str
            Each node that a link connects, once.

        Examples
        --------
        >>> from westwood import Scenario
        >>> Scenario.preset("path").nodes
        ['source', 'sink']
        """
        return topology.nodes(self._parts.link)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The single flows: a group with a `count` gives NAME-1, NAME-2 and so on.

        Returns
        -------
        tuple of Flow
            In the order of the rows of a run.

        Examples
        --------
        >>> from westwood import Scenario
        >>> two = Scenario.preset("path").with_settings({"tcp.count": 2})
        >>> [flow.name for flow in two.flows]
        ['tcp-1', 'tcp-2']
        """
        return self._flows

    @cached_property
    def _flows(self) -> tuple[Flow, ...]:
        return tuple(single for group in self.flow for single in group.each())

    @property
    def paths(self) -> Mapping[tuple[str, str], topology.Path]:
        """The limits of the flows' routes, by their two end nodes.

        Returns
        -------
        dict of (str, str) to Path
            A `Path` has `delay_s` (round trip, s), `most_bps` (rate of the slowest link, bit/s)
            and `least_rtt_s(packet_bytes)` (s).

        Examples
        --------
        >>> from westwood import Scenario
        >>> path = Scenario.preset("path").paths["source", "sink"]
        >>> path.delay_s, path.most_bps
        (0.09, 2000000.0)
        """
        return self._parts.paths

    def given(self) -> dict[str, Any]:
        """Returns the settings that were given; the profile supplies the others.

        Returns
        -------
        dict of str to object
            A copy, as a TOML file would have it.

        Examples
        --------
        >>> from westwood import Scenario
        >>> Scenario.preset("path").given()["flow"]
        [{'name': 'tcp', 'from': 'source', 'to': 'sink', 'cc': 'westwood+'}]
        """
        return arguments.builtin_table(self._given, _kept())

    def resolved(self) -> dict[str, Any]:
        """Returns all settings with their units, as a TOML file would have them.

        Settings that follow from others are left as they were given, because they must follow a
        change: the recovery and its settings follow the protocol. In a sweep a queue limit in
        bandwidth-delay products follows the product, and a receive window that is not given
        follows the path.

        Returns
        -------
        dict of str to object
            Tables, lists and values with their units, such as `"45ms"`.

        Examples
        --------
        >>> from westwood import Scenario
        >>> Scenario.preset("path").resolved()["flow"][0]["initial_cwnd"]
        '10p'
        """
        data = self._model.model_dump(exclude_none=True)
        for cc in (flow["cc"] for flow in data["flow"]):
            if ":" in cc.get(STACK, ""):
                cc["name"] = cc.pop(STACK)
        for link in data["link"] if self.sweep else ():
            if link["name"] in self.relative_limits:
                link["queue"]["limit"] = self.relative_limits[link["name"]]
        for link, given in zip(data["link"], self._given["link"], strict=True):
            if f"{link['name']}.{named_links.KIND}" in self.sweep:
                for key in named_links.supplied(given):
                    link.pop(key, None)
                link[named_links.KIND] = given[named_links.KIND]
        profile = profiles.get(self.profile)
        completed = completion.completed(self._given)
        for flow, known in zip(data["flow"], completed["flow"], strict=True):
            if self.sweep and profiles.OF_THE_PATH not in known:
                flow.pop(profiles.OF_THE_PATH, None)
            for key in completion.follows_from_protocol(flow, profile):
                flow.pop(key, None)
            if flow["app"]["kind"] in ("udp", "rate") and "on" not in flow["app"]:
                del flow["app"]["durations"]
        return data

    @property
    def hash(self) -> str:
        """A hash of all that affects a run, except the seed.

        Returns
        -------
        str
            Twelve hexadecimal digits; the column `scenario` of the rows has them.

        Examples
        --------
        >>> from westwood import Scenario
        >>> path = Scenario.preset("path")
        >>> path.hash == path.with_settings({"name": "renamed"}).hash
        True
        """
        return self._hash

    @cached_property
    def _hash(self) -> str:
        return hashlib.sha256(f"[{FORMAT}, {self._text}]".encode()).hexdigest()[:12]

    @cached_property
    def _text(self) -> str:
        """All that affects a run, except the seed."""
        if self._parts.text is not None:
            return self._parts.text
        settings = self._model.model_dump(exclude=_OF_NO_RUN, exclude_none=True)
        return json.dumps(settings, sort_keys=True)

    def to_toml(self) -> str:
        """Returns the complete scenario as TOML, which `from_toml` reads back unchanged.

        Returns
        -------
        str
            The text of a file, with every setting.

        Examples
        --------
        >>> from westwood import Scenario
        >>> print(Scenario.preset("path").to_toml()[:31])
        name = "path"
        duration = "600s"
        """
        return toml_format.dumps(self.resolved())

    @checked(name=arguments.text)
    def to_files(self, name: str) -> dict[str, str]:
        """Returns the scenario as files; long lists and controls have files of their own.

        Parameters
        ----------
        name : str
            Name of the TOML file, without its ending.

        Returns
        -------
        dict of str to str
            Contents by file name. The last file is NAME.toml, which `from_toml` reads with the
            others in the same folder.

        Raises
        ------
        InputError
            If the name is not text.

        Examples
        --------
        >>> from westwood import Scenario
        >>> list(Scenario.preset("path").to_files("mine"))
        ['mine.toml']
        """
        data = self.resolved()
        texts = number_files.split_out(data["link"], name)
        texts.update(controls.texts(controls.of_files(controls.files(data))))
        return {**texts, f"{name}.toml": toml_format.dumps(data)}


def _kept() -> tuple[type, ...]:
    """Returns the types of what is immutable and large, so never copied."""
    parts = sys.modules.get("westwood.scenario.parts")  # a model has imported it
    return (parts.Part, files.Numbers) if parts else (files.Numbers,)


def _keywords(
    *,
    name: str,
    duration: str,
    link: Sequence[Mapping[str, Any]],
    flow: Sequence[Mapping[str, Any]],
    seeds: int = 30,
    profile: str = profiles.DEFAULT,
    sweep: Mapping[str, Sequence[Any]] = {},
) -> None:
    """Has the signature of `Scenario`, whose own takes any keyword in order to check it."""


Scenario.__signature__ = inspect.signature(_keywords)  # type: ignore[attr-defined]


def _check_starts(scenario: Scenario) -> None:
    """Raises InputError for a flow that would start after the run's end."""
    for flow in scenario._parts.flow:
        if flow.start >= scenario.duration:
            problem = f"expected less than the duration, {format_time(scenario.duration)}"
            raise InputError(problem, key=f"{flow.name}.start", value=format_time(flow.start))
