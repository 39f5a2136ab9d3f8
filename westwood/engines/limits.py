# SPDX-License-Identifier: BSD-3-Clause
"""Refuses, with a one-line error, scenarios that neither ns-2 nor ns-3 can run.

An engine either obeys a flow setting or has a fixed value for it. A value that differs from the
fixed one is refused, unless it comes from the profile: users did not ask for it, and profiles must
still run there.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from westwood.control.catalogue import DROPTAIL, IMPAIRMENTS, RECOVERIES
from westwood.errors import InputError, show
from westwood.scenario import profiles
from westwood.scenario.declared import departures

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link


# What a link may have beside a rate, a delay, a queue and losses, by key.
_IMPAIRMENTS = {
    "trace": "trace",
    "jitter": "jitter",
    "reorder": "reordering",
    "delays": "changing delay",
    "reroute": "changing delay",
    **{kind: title.removeprefix("an ").removeprefix("a ") for kind, title in IMPAIRMENTS.items()},
}


def refuse_all(*checks: Callable[[], None]) -> None:
    """Makes all checks, and raises the first refusal with the others."""
    refusals: list[InputError] = []
    for check in checks:
        try:
            check()
        except InputError as error:
            known = set(map(str, refusals))  # flows may share a refusal, such as the profile's
            refusals += [refusal for refusal in (error, *error.others) if str(refusal) not in known]
    if refusals:
        raise refusals[0].located(others=refusals[1:])


def refuse_each(errors: Iterable[InputError]) -> None:
    """Raises the first of these errors, if there is one, with the others."""
    refusals = list(errors)
    if refusals:
        raise refusals[0].located(others=refusals[1:])


@dataclass(frozen=True)
class Limits:
    """Checks scenarios against one simulator's limits."""

    engine: str
    name: str
    most_flows: int
    queues: Mapping[str, str]  # its classes of queue disciplines by kind
    losses: tuple[str, ...]  # the kinds of losses that it has
    fixed: Mapping[str, Mapping[str, Any]]  # fixed settings of its disciplines by kind
    impairments: tuple[str, ...] = ()  # the keys of those that it has

    def refuse(self, key: str, value: object, expected: str) -> InputError:
        """Returns the error for a refused setting."""
        return InputError(f"engine {self.engine} expects {expected}", key=key, value=value)

    def refuse_fixed(self, key: str, value: object, fixed: object) -> InputError:
        """Returns the error for a value other than the fixed one."""
        if fixed is None:
            return self.refuse(key, value, f"none: {self.name} has no such setting")
        return self.refuse(key, value, f"{show(fixed)}, which is fixed in {self.name}")

    def check_network(self, scenario: Scenario) -> None:
        """Refuses too many flows, and links that the simulator does not have."""
        if len(scenario.flows) > self.most_flows:
            raise self.refuse("flow", f"{len(scenario.flows)} flows", f"at most {self.most_flows}")
        refuse_all(*(partial(self._check_link, link) for link in scenario.link))

    def _check_link(self, link: Link) -> None:
        name, queue = link.name, link.queue
        if queue.limit.unit != "p":
            raise self.refuse(f"{name}.queue.limit", str(queue.limit), "a limit in packets")
        if queue.kind != DROPTAIL and not self.queues[queue.kind]:
            known = [DROPTAIL, *(kind for kind, support in self.queues.items() if support)]
            raise self.refuse(f"{name}.queue.kind", queue.kind, "one of " + ", ".join(known))
        for key, fixed_setting in self.fixed.get(queue.kind, {}).items():
            if (value := getattr(queue, key)) != fixed_setting:
                raise self.refuse(
                    f"{name}.queue.{key}", value, f"{fixed_setting}, fixed in {self.name}"
                )
        if link.loss.kind not in self.losses:
            *kinds, last = map(show, self.losses)
            expected = f"{', '.join(kinds)} or {last}"
            raise self.refuse(f"{name}.loss.kind", link.loss.kind, expected)
        missing = {key: what for key, what in _IMPAIRMENTS.items() if key not in self.impairments}
        for key in missing:
            if getattr(link, key):
                value = link.model_dump(exclude_none=True)[key]
                *others, last = dict.fromkeys(missing.values())
                raise self.refuse(f"{name}.{key}", value, f"no {', '.join(others)} or {last}")

    def check_app(self, flow: Flow) -> None:
        """Refuses flows other than bulk transfers."""
        for key, value in (("app", flow.app.kind), ("arrivals", flow.arrivals)):
            if value not in ("bulk", None):
                shown = value if key == "app" else flow.model_dump(exclude_none=True)[key]
                raise self.refuse(f"{flow.name}.{key}", shown, "a bulk flow without arrivals")

    def check_settings(
        self, flow: Flow, settings: Mapping[str, Any], profile: str, strict: Container[str] = ()
    ) -> None:
        """Refuses settings that are neither the simulator's `own` nor the profile's.

        strict: keys whose profile values are refused, too.
        """
        of_profile = profiles.get(profile).defaults("flow")
        if RECOVERIES[flow.recovery].uses_sack:
            of_profile |= profiles.get(profile).defaults(profiles.SACK)
        theirs = {key: of_profile.get(key) for key in settings if key not in strict}
        unlike_profile = dict(departures(flow, "flow", theirs))
        refuse_each(
            self.refuse_fixed(f"{flow.name}.{key}", written, settings[key])
            for key, written in departures(flow, "flow", settings)
            if key in strict or key in unlike_profile
        )
