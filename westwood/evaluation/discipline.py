# SPDX-License-Identifier: BSD-3-Clause
"""A queue discipline with its settings, which an evaluation judges in the place of a control."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any
from zlib import crc32

from westwood.control.catalogue import DROPTAIL, PROTOCOLS, QUEUES, settings_of
from westwood.errors import InputError, suggestion
from westwood.experiments.control import ANY_PATH, Control
from westwood.scenario import Scenario
from westwood.scenario.paths.aqms import AQMS
from westwood.scenario.paths.environment import Environment, given

NAMES = (DROPTAIL, *QUEUES)
ECN = "ecn"
MARKS_UNASKED = tuple(kind for kind in QUEUES if ECN not in settings_of(kind))
SENDER = "sack"


class Discipline(Control):
    """A queue discipline and its settings, as in a scenario's link; `cc` holds its kind."""

    noun = "queue"

    @property
    def text(self) -> str:
        """Returns the name and the settings, as --queue takes them."""
        return ":".join([self.cc, *self.changed])

    @property
    def label(self) -> str:
        """Returns its title and the settings that differ."""
        title = QUEUES[self.cc].title if self.cc in QUEUES else "Drop-tail"
        return " ".join([title, *self.changed])

    @property
    def styled(self) -> str:
        """Returns the control whose style figures give it; one with settings gets another style."""
        names: list[str] = [*PROTOCOLS][::-1]
        others = names[len(NAMES) :]
        if self.settings:
            return others[crc32(self.text.encode()) % len(others)]
        return names[NAMES.index(self.cc)]

    def identity(self) -> dict[str, Any]:
        """Returns what distinguishes it from another."""
        return {"queue": self.cc, "settings": dict(self.settings)}

    def command(self, verb: str, *options: str) -> str:
        """Returns the command line that gives this discipline to a command of westwood."""
        return " ".join(["westwood", verb, "--queue", shlex.quote(self.text), *options])

    def table(self, environment: Environment) -> dict[str, Any]:
        """Returns a link's queue: RED has the thresholds that drawn paths have."""
        row = AQMS.get(self.cc)
        common = {"kind": self.cc, "limit": f"{environment.queue_packets}p"}
        settings = dict(self.settings)
        if self.cc in MARKS_UNASKED:
            settings.pop(ECN, None)
        return {**(row.queue(environment) if row else common), **settings}

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raises InputError for a setting that it lacks, or a wrong value."""
        changed = {**self.settings, **settings}
        if self.cc == DROPTAIL and changed:
            raise InputError("drop-tail has no settings", key=f"{self.cc}:{next(iter(changed))}")
        data = given(ANY_PATH, SENDER, {})
        data["link"][0]["queue"] = Discipline(self.cc, changed).table(ANY_PATH)
        try:
            Scenario(**data)
        except InputError as error:
            key = error.key.replace("path.queue.", f"{self.cc}:")
            raise error.located(key=key) from None


def discipline(name: str, settings: Mapping[str, Any], key: str) -> Discipline:
    """Makes a discipline with these settings; an error about the name cites `key`."""
    if name not in NAMES:
        raise InputError(f"no such queue, {suggestion(name, NAMES)}", key=key, value=name)
    for fixed in ("kind", "limit"):
        if fixed in settings:
            problem = "belongs to the path, expected a setting of the discipline"
            raise InputError(problem, key=f"{name}:{fixed}", value=settings[fixed])
    asked = Discipline(name, settings)
    asked.check({})
    return asked
