# SPDX-License-Identifier: BSD-3-Clause
"""Names a control in a file, in Python."""

from __future__ import annotations

import os
from typing import Any

from westwood.control import loading
from westwood.errors import InputError


class Control(dict[str, Any]):
    """A congestion control of one's own, as the `cc` of a flow.

    It is compiled and loaded at once, and keeps the contents that the file has now.

    Parameters
    ----------
    path : str or path
        The C file: docs/your-own-control.md. Its name ends in `.c`.
    **settings : int
        Values of its parameters.

    Raises
    ------
    InputError
        If there is no such file, or a mistake in it: one line with the file and its line.
    UnavailableError
        If there is no C compiler.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from westwood import Control, Scenario, simulate
    >>> from westwood.control.writing import like
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mine.c"
    ...     _ = file.write_text(like("reno", "mine"))
    ...     mine = Control(file)
    >>> short = Scenario.preset("path").with_settings({"duration": "20s", "tcp.cc": mine})
    >>> simulate(short).rows["goodput_bps"][0] > 1e6
    True
    """

    def __init__(self, path: str | os.PathLike[str], **settings: int) -> None:
        name = os.fspath(path)
        if not loading.is_file(name):
            raise InputError("expected a file whose name ends in .c", value=name)
        super().__init__(name=name, source=loading.load(name).source, **settings)
