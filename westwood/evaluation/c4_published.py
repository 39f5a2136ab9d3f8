# SPDX-License-Identifier: BSD-3-Clause
"""Has the mean times that picoquic's author published for C4's trials, in seconds.

They are in pull request 2140 of private-octopus/picoquic (June 2026). Its `bbr` is BBRv3. A time
that is more than a tenth away from ours needs a reason here, or the page calls it unexplained.
"""

from __future__ import annotations

from collections.abc import Mapping

from westwood.evaluation.criterion import Published

_SOURCE = "picoquic, pull request 2140"

PUBLISHED: Mapping[str, Mapping[str, Published]] = {
    "alone": {"cubic": Published(4.480854, _SOURCE), "bbr3": Published(4.689608, _SOURCE)},
    "alone-200": {"cubic": Published(1.147156, _SOURCE), "bbr3": Published(1.221514, _SOURCE)},
    "low-and-up": {"cubic": Published(8.062232, _SOURCE), "bbr3": Published(7.507137, _SOURCE)},
}
