# SPDX-License-Identifier: BSD-3-Clause
"""The group `path`: commands that send real packets over your path or an emulated one."""

from __future__ import annotations

from westwood.cli.layout import command, group
from westwood.cli.path_campaign import campaign
from westwood.cli.path_compare import compare
from westwood.cli.path_emulate import emulate
from westwood.cli.path_fit import fit

app = group("westwood path compare --emulated --cc cubic,ww_plus --for 4m")

command(app, "westwood path compare 192.0.2.1 --for 10m")(compare)
command(app, "westwood path fit path-compare --out path.toml")(fit)
command(
    app,
    "westwood path emulate --rate 2Mbps --delay 45ms --loss 1% -- curl -O http://example.org/file",
    context_settings={"allow_interspersed_args": False},  # options after COMMAND belong to it
)(emulate)
command(app, "westwood path campaign bari --uploads 3 --out bari")(campaign)
