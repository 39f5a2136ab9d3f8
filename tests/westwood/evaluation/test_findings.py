# SPDX-License-Identifier: BSD-3-Clause
"""The published findings hold for the controls of which they were published."""

from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.evaluation import catalogue
from westwood.experiments.control import Control

CRITERIA = {
    criterion.name: criterion for part in catalogue.PARTS.values() for criterion in part.criteria
}


def measured(name: str, point: str, cc: str, seed: int = 1) -> float:
    criterion = CRITERIA[name]
    (there,) = (candidate for candidate in criterion.points if candidate.name == point)
    runs = there.runs(Control(cc)).items()
    return criterion.measure({key: simulator.prepare(Job(run, [seed]))(seed) for key, run in runs})


def test_bbr_starves_cubic_in_a_shallow_buffer_and_cubic_does_not():
    assert measured("harm-cubic", "0.5 BDP", "bbr") > 0.8
    assert measured("harm-cubic", "0.5 BDP", "cubic") < 0.65


def test_bbr_loses_a_tenth_of_its_packets_below_1_5_bdp_and_bbr3_does_not():
    """Hock et al. 2017."""
    assert measured("loss-caused", "0.5 BDP", "bbr") > 0.1
    assert measured("loss-caused", "0.5 BDP", "bbr3") < 0.05


def test_vegas_loses_to_reno():
    """Mo et al. 1999."""
    assert measured("own-sack", "4 BDP", "vegas") < 0.3


def test_cubic_gives_less_to_a_longer_round_trip():
    """Ha et al. 2008: about the inverse of the ratio at most, not its square."""
    assert 1 / 8 < measured("rtt-unfair", "160 and 20 ms", "cubic") < 1


def test_bbr_prefers_a_longer_round_trip():
    """Hock et al. 2017."""
    assert measured("rtt-unfair", "160 and 20 ms", "bbr") > 2


def test_westwood_plus_starts_slowly_on_a_long_path():
    assert measured("high-delay", "20 Mb/s, 600 ms", "westwood+") < 10
    assert measured("high-delay", "20 Mb/s, 600 ms", "cubic") > 15


def test_two_percent_of_400_packets_leave_cubic_a_tenth_of_what_bbr_has():
    assert measured("loss", "2% of 400 packets", "bbr") == 1
    assert measured("loss", "2% of 400 packets", "cubic") < 0.2


def test_bbr3_takes_more_from_cubic_on_a_lossy_link_than_cubic_does():
    of_bbr3, of_cubic = (measured("harm-lossy", "CUBIC, 0.2%", cc) for cc in ("bbr3", "cubic"))
    assert of_bbr3 > of_cubic + 0.1
