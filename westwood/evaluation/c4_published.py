# SPDX-License-Identifier: BSD-3-Clause
"""Has what picoquic's author published for C4's trials, in seconds. `bbr` there is BBRv3.

Mean times are in pull request 2140 of private-octopus/picoquic (June 2026). Bounds that the worst
run must keep are those of the specifications of CUBIC and BBR in private-octopus/c4; others there
are far from any time. What is more than a tenth away from ours needs a reason, or the page calls it
unexplained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from westwood.evaluation.criterion import Published

_PULL = "picoquic, pull request 2140"
_SPECS = "private-octopus/c4, sim_specs of the control"
_MEDIA = "private-octopus/c4, papers/media_tests.md"
_HYSTART = (
    "HyStart ends slow start at the first late packets here, and picoquic filters round trips "
    "first: 4.5 s without HyStart"
)
_STARTUP = (
    "the application limits it, so our BBRv3 stays in Startup and paces at 27 Mb/s: the upper "
    "layer's key frame waits in the queue and not in the sender"
)
_REALTIME = (
    "picoquic's BBR has changes for Wi-Fi (draft-huitema-ccwg-bbr-realtime-00), and ours is that "
    "of draft-ietf-ccwg-bbr; not measured"
)


def _bound(value: float, why: str = "") -> Published:
    return Published(value, _SPECS, why, is_bound=True)


PUBLISHED: Mapping[str, Mapping[str, Sequence[Published]]] = {
    "alone": {"cubic": [Published(4.480854, _PULL)], "bbr3": [Published(4.689608, _PULL)]},
    "alone-200": {"cubic": [Published(1.147156, _PULL)], "bbr3": [Published(1.221514, _PULL)]},
    "low-and-up": {
        "cubic": [Published(8.062232, _PULL), _bound(8.2)],
        "bbr3": [Published(7.507137, _PULL), _bound(7.6)],
    },
    "satellite": {"cubic": [_bound(7.0)], "bbr3": [_bound(8.0)]},
    "wifi-bad": {"cubic": [_bound(4.5, _HYSTART)], "bbr3": [_bound(6.4, _REALTIME)]},
}


# Queueing delays of the lower video layer in papers/media_tests.md of private-octopus/c4, plus the
# path's round trip, which the delays of the specifications contain. Its bad and fading Wi-Fi had
# other delays: the largest there is below one spike of today's specifications.
def _delays(cubic_s: float, bbr_s: float, why: str = "") -> Mapping[str, Sequence[Published]]:
    return {"cubic": [Published(cubic_s, _MEDIA)], "bbr3": [Published(bbr_s, _MEDIA, why)]}


PUBLISHED_MEDIA: Mapping[str, Mapping[str, Sequence[Published]]] = {
    "c4-media": _delays(0.031, 0.031),
    "c4-media-most": _delays(0.034, 0.036),
    "c4-media10": _delays(0.047, 0.045),
    "c4-media10-most": _delays(0.093, 0.072, _STARTUP),
    "c4-media-ws": _delays(0.023, 0.023),
    "c4-media-ws-most": _delays(0.198, 0.196),
}
