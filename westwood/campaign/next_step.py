# SPDX-License-Identifier: BSD-3-Clause
"""Names the commands to type after a path comparison."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from westwood.campaign.trying import Trial
from westwood.campaign.verdict import TrialVerdict
from westwood.engines.linux_limits import CONTROLS
from westwood.kernel import user_controls, ww_kernel
from westwood.results.verdicts import Verdict

_MINUTE_S = 60.0
_LONGEST_S = 43_200.0  # longest comparison over an emulated path to propose


def after(
    trial: Trial,
    server: str | None,
    folder: Path,
    chosen: Sequence[str] = (),
    path: Mapping[str, str] | None = None,
) -> str:
    """Returns the command; `chosen` is the --cc option.

    `server` is None for an emulated path, whose options `path` has by name.
    """
    verdicts = trial.verdicts()
    if paying := _paying(verdicts):
        return "westwood path compare HOST" if server is None else _default(paying, chosen)
    if any(verdict.verdict is Verdict.CANNOT_TELL for verdict in verdicts):
        options = (f" --{key} {shlex.quote(value)}" for key, value in (path or {}).items())
        where = f"--emulated{''.join(options)}" if server is None else shlex.quote(server)
        controls = f" --cc {','.join(chosen)}" if chosen else ""
        return f"westwood path compare {where}{controls} --for {_longer(trial, verdicts)}"
    return f"westwood path fit {shlex.quote(str(folder))} --out path.toml"


def of_harm(trial: Trial, chosen: Sequence[str] = ()) -> str:
    """Returns the command that judges what others lose to the controls that pay; "" if none do."""
    protocols = {kernel: name for name, kernel in CONTROLS.items()}
    paying = [verdict.cc for verdict in _paying(trial.verdicts())]
    known = [_file(cc, chosen) or protocols.get(cc, "") for cc in paying]
    names = " ".join(shlex.quote(name) for name in known if name)
    return f"westwood evaluate {names} --quick --only harm-cubic,harm-lossy" if names else ""


def _paying(verdicts: Sequence[TrialVerdict]) -> list[TrialVerdict]:
    return [verdict for verdict in verdicts if verdict.verdict is Verdict.MEETS]


def _file(cc: str, chosen: Sequence[str]) -> str:
    """Returns the file of a control; empty if it has none."""
    return next((name for name in chosen if user_controls.kernel_name(name) == cc != name), "")


def _default(paying: Sequence[TrialVerdict], chosen: Sequence[str]) -> str:
    """Returns how to use the control with the most certain gain."""
    cc = max(paying, key=lambda verdict: verdict.sample.low).cc
    file = _file(cc, chosen)
    if not file and cc not in ww_kernel.CONTROLS:
        return f"westwood kernel default {cc}"
    return shlex.join(["westwood", "kernel", "load", *filter(None, [file])])  # not for all programs


def _longer(trial: Trial, verdicts: Sequence[TrialVerdict]) -> str:
    """Returns a time that should be enough for every verdict, at least twice this one."""
    more_s = max(
        (verdict.more_s for verdict in verdicts if not math.isnan(verdict.more_s)), default=0.0
    )
    wanted_s = max(2 * trial.plan.for_s, trial.plan.for_s + more_s)
    return f"{math.ceil(min(wanted_s, _LONGEST_S) / _MINUTE_S)}m"
