# SPDX-License-Identifier: BSD-3-Clause
"""The group `control`: commands that tune a congestion control and find its limits."""

from __future__ import annotations

from westwood.cli.control_new import new
from westwood.cli.control_replay import replay
from westwood.cli.control_show import show
from westwood.cli.control_stress import stress
from westwood.cli.control_tune import tune
from westwood.cli.layout import command, group

app = group("westwood control tune --cc westwood+ --trials 40 --plot")

command(app, "westwood control show westwood+")(show)
command(app, "westwood control new mine --like cubic")(new)
command(app, "westwood control replay ./mine.c")(replay)
command(app, "westwood control tune --cc westwood+ --trials 40 --plot")(tune)
command(app, "westwood control stress --cc bbr --harm by-it --environments 20000 --out stressed")(
    stress
)
