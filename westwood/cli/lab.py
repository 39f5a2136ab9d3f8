# SPDX-License-Identifier: BSD-3-Clause
"""The command `lab`: opens the laboratory in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from westwood.cli.options import option, presets, protocols, several, starting
from westwood.cli.streams import say


def lab(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|PRESET",
            help="Open with this scenario: a TOML file, or a preset of westwood list presets.",
            autocompletion=starting(presets),
            show_default=False,
        ),
    ] = None,
    cc: Annotated[
        list[str] | None,
        several(
            None,
            "NAME,...",
            "Show these controls instead of the scenario's, such as ./mine.c,cubic. "
            "A reload of the page reads files again.",
            "--cc",
            choices=protocols,
        ),
    ] = None,
    no_browser: Annotated[
        bool, option(None, None, "Only serve it and print its address.", "--no-browser")
    ] = False,
    port: Annotated[
        int, option(None, "N", "Port on 127.0.0.1; 0 chooses a free one.", min=0, max=65535)
    ] = 0,
) -> None:
    import threading
    import webbrowser

    from westwood.lab import serving

    behind = serving.fragment(scenario, cc or ())
    server = serving.Server(port, serving.own_controls(scenario, cc or ()))
    print(server.url + behind, flush=True)
    if not no_browser:
        say("press Ctrl-C to stop")
        # A browser without a window may only return once it has loaded the page.
        url = server.url + behind
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    server.run()
