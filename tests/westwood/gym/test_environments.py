# SPDX-License-Identifier: BSD-3-Clause
"""The environments follow Gymnasium's rules, and their numbers those of the published learners.

Length: each argument, option and interrupt has its case.
"""

from __future__ import annotations

import copy
import doctest
import signal
import threading
from pickle import dumps, loads
from typing import Any
from unittest.mock import Mock

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from one_link import one_link

from westwood import Control, PythonControl, Scenario, gym
from westwood.control.writing import like
from westwood.errors import InputError, RunError, WestwoodError
from westwood.gym import choices, environments, paths

ID = "westwood.gym:westwood/Path-v0"
FEW = 3


def path(**flow: Any) -> Scenario:
    """Returns 10 Mb/s over 20 ms."""
    return one_link({"cc": "cubic", **flow}, name="path", duration="100s")


def begun(count: int, *given: Any, **how: Any) -> gym.VectorEnv:
    """Returns environments at the beginning of their episodes."""
    many = gym.VectorEnv(count, *given, **how)
    many.reset(seed=1)
    return many


def random_steps(
    many: gym.VectorEnv, steps: int, seed: int = 1
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns the observations and rewards of random actions."""
    draw = np.random.Generator(np.random.PCG64(seed))
    seen, paid = [many.reset(seed=seed)[0]], []
    low, high = many.single_action_space.low[0], many.single_action_space.high[0]
    for _ in range(steps):
        observations, rewards, *_ = many.step(draw.uniform(low, high, (many.num_envs, 1)))
        seen.append(observations)
        paid.append(rewards)
    return np.array(seen), np.array(paid)


@pytest.mark.parametrize("like", ["aurora", "orca"])
def test_gymnasium_finds_nothing_to_object_to(like):
    environment = gymnasium.make(ID, like=like)
    check_env(environment.unwrapped)


def test_of_ns3_gyms_actions_it_says_that_they_are_windows_and_not_normalised():
    environment = gymnasium.make(ID, like="ns3-gym")
    with pytest.warns(UserWarning, match="normalized space"):
        check_env(environment.unwrapped)


def test_make_vec_makes_environments_that_step_together():
    many = gymnasium.make_vec(ID, num_envs=FEW, paths=path())
    assert isinstance(many.unwrapped, gym.VectorEnv)
    assert many.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations, infos = many.reset(seed=1)
    assert observations.shape == (FEW, 30) and observations in many.observation_space
    assert infos["path"].tolist() == [0] * FEW


def test_the_same_seed_and_actions_give_the_same_numbers():
    first, second = (random_steps(gym.VectorEnv(FEW), 50) for _ in range(2))
    assert np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])
    other = random_steps(gym.VectorEnv(FEW), 50, seed=2)
    assert not np.array_equal(first[1], other[1])


def test_one_environment_is_the_first_of_one():
    alone, many = gym.Env(), gym.VectorEnv(1)
    alone.reset(seed=3)
    many.reset(seed=3)
    for number in range(20):
        action = np.array([np.sin(number)])
        observation, reward, *_ = alone.step(action)
        observations, rewards, *_ = many.step(action[None])
        assert np.array_equal(observation, observations[0]) and reward == rewards[0]


@pytest.mark.parametrize("like", gym.KINDS)
def test_observations_stay_within_their_space(like):
    many = gym.VectorEnv(8, like=like)
    seen, rewards = random_steps(many, 100)
    assert all(observations in many.observation_space for observations in seen)
    assert np.isfinite(rewards).all()


def test_a_finished_episode_begins_anew_with_the_next_step():
    many = begun(2, path(), steps=3)
    actions = np.zeros((2, 1))
    for number in range(1, 9):
        _, rewards, terminated, truncated, infos = many.step(actions)
        assert not terminated.any()
        assert truncated.all() == (number % 4 == 3)
        assert ("path" in infos) == (number % 4 == 0)
        assert (rewards == 0).all() == (number % 4 == 0)


def test_one_environment_asks_for_a_reset():
    alone = gym.Env(path(), steps=1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        alone.step([0.0])
    alone.reset(seed=1)
    assert alone.step([0.0])[3]
    with pytest.raises(gymnasium.error.ResetNeeded):
        alone.step([0.0])


def test_an_episode_terminates_when_the_flow_has_sent_its_data():
    alone = gym.Env(path(size="200kB"), step="100ms")
    alone.reset(seed=1)
    for _ in range(100):
        _, _, terminated, truncated, _ = alone.step([1.0])
        if terminated:
            break
    assert terminated and not truncated


def test_auroras_action_changes_the_rate_by_a_share():
    alone = gym.Env(path(), first_rate=(0.5, 0.5), step="100ms")
    alone.reset(seed=1)
    before = alone.step([0.0])[4]["pacing_bps"]
    assert before == pytest.approx(5e6, rel=1e-6)
    assert alone.step([1.0])[4]["pacing_bps"] == pytest.approx(before * 1.05, rel=1e-6)
    assert alone.step([-1.0])[4]["pacing_bps"] == pytest.approx(before, rel=1e-6)


def test_the_rewards_are_those_of_the_papers():
    env = gym.Env(path(), like="aurora")
    env.reset(seed=1)
    _, reward, _, _, info = env.step([0.5])
    packets_per_s = info["delivered"] / info["duration_s"]
    expected = 10 * packets_per_s - 1000 * info["rtt_s"] - 2000 * info["loss"]
    assert reward == pytest.approx(expected / 1000)
    orca = gym.Env(path(), like="orca")
    orca.reset(seed=1)
    for _ in range(20):
        _, reward, _, _, info = orca.step([0.1])
    throughput = (info["delivered_bps"] - 5 * info["lost_bps"]) / info["best_bps"]
    delay = min(1, 1.25 * info["min_rtt_s"] / info["srtt_s"])
    assert reward == pytest.approx(throughput * delay)


def test_a_reward_of_ones_own_gets_what_was_measured():
    many = begun(FEW, path(), reward=lambda step: step["delivered"] - 7)
    _, rewards, *_ = many.step(np.zeros((FEW, 1)))
    assert rewards.tolist() == (many.measured["delivered"] - 7).tolist()
    assert set(many.measured) == set(gym.COLUMNS)


def test_the_other_flows_keep_their_controls():
    two = path().with_settings({"tcp.count": 2})
    shared = gym.Env(two, flow="tcp-2", first_rate=(0.2, 0.2), step="1s")
    shared.reset(seed=1)
    for _ in range(10):
        info = shared.step([0.0])[4]
    assert info["pacing_bps"] == pytest.approx(2e6, rel=1e-6)
    assert info["rtt_s"] > 2 * info["min_rtt_s"], "CUBIC fills the queue"


def test_one_of_several_flows_has_to_be_named():
    three = path().with_settings({"tcp.count": 3})
    problem = "flow: is missing: path has 3 TCP flows, expected one of: tcp-1, tcp-2, tcp-3"
    with pytest.raises(InputError, match=problem):
        gym.VectorEnv(FEW, [path(), three])
    udp = {"app": {"kind": "udp", "rate": "9Mbps"}}
    lone = gym.Env(one_link(udp, "cubic", duration="9s"))
    lone.reset(seed=1)
    assert lone.step([0.0])[4]["rtt_s"] >= 0.02


def test_a_scenario_with_a_sweep_stands_for_its_points():
    swept = path().with_sweep({"path.rate": ["1Mbps", "100Mbps"]})
    many = gym.VectorEnv(16, swept, first_rate=(0.5, 0.5))
    _, infos = many.reset(seed=1)
    many.step(np.zeros((16, 1)))
    rates = np.where(infos["path"] == 0, 0.5e6, 50e6)
    assert set(infos["path"]) == {0, 1}
    assert np.allclose(many.measured["pacing_bps"], rates, rtol=1e-6)


def test_options_choose_the_paths():
    many = gym.VectorEnv(3, gym.aurora_paths(8))
    _, infos = many.reset(seed=1, options={"path": [5, 5, 2]})
    assert infos["path"].tolist() == [5, 5, 2]
    for wrong in ([5, 5], [8, 0, 0], [0.5, 1, 1]):
        with pytest.raises(InputError, match="expected 3 whole numbers below 8"):
            many.reset(options={"path": wrong})


def test_aurora_paths_are_those_of_its_simulator():
    drawn = gym.aurora_paths(200, seed=4)
    assert drawn == gym.aurora_paths(200, seed=4)
    rates = [scenario.link[0].rate for scenario in drawn]
    assert 1.2e6 <= min(rates) < 1.4e6 and 5.8e6 < max(rates) <= 6e6
    delays_s = [scenario.link[0].delay / 1e12 for scenario in drawn]
    assert 0.05 <= min(delays_s) < 0.07 and 0.48 < max(delays_s) <= 0.5


@pytest.mark.parametrize(
    "parameters, expected",
    [
        ({"like": "auroa"}, 'like = "auroa": unknown, did you mean "aurora"?'),
        ({"step": "fast"}, 'step = "fast": expected a time such as "20ms"'),
        ({"step": "0rtt"}, 'step = "0rtt": expected a time'),
        ({"observation": ["losss"]}, 'observation = "losss": no such column, did you mean "loss"?'),
        ({"observation": [["loss"]]}, 'observation = ["loss"]: no such column'),
        ({"observation": "loss"}, 'observation = "loss": expected names of columns'),
        ({"reward": 3}, "reward = 3: unknown"),
        ({"reward": 0}, "reward = 0: unknown"),
        ({"action": ""}, 'action = "": unknown'),
        ({"action": "pacing"}, 'action = "pacing": unknown'),
        ({"flow": "udp"}, 'flow = "udp": no such flow, expected one of: tcp'),
        ({"first_rate": (2, 1)}, "first_rate = "),
        ({"num_envs": 0}, "num_envs = 0: expected a whole number"),
        ({"paths": "tabel1"}, '"tabel1": neither a file nor a scenario'),
        ({"paths": []}, "paths = 0: expected 1 to"),
        ({"paths": 7}, "paths = 7: expected scenarios"),
        ({"setp": "1rtt"}, 'setp = "1rtt": no such argument, did you mean "step"?'),
    ],
)
def test_a_wrong_argument_is_one_line(parameters, expected):
    with pytest.raises(InputError) as caught:
        gym.VectorEnv(**{"paths": path(), **parameters})
    assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)


def test_a_flow_of_datagrams_has_no_agent():
    sends = path(app={"kind": "udp", "rate": "1Mbps"}, cc="udp")
    with pytest.raises(WestwoodError, match="datagrams"):
        gym.VectorEnv(paths=sends)


def test_a_control_in_python_is_refused_by_its_key():
    class Mine(PythonControl):
        def on_ack(self, window: Any, ack: Any) -> None: ...

        def on_loss(self, *_: Any): ...

    with pytest.raises(InputError, match=r'tcp\.cc = "Mine\.py": works only in simulate'):
        gym.VectorEnv(paths=path(cc=Mine))


@pytest.mark.parametrize("mistake", ["*(volatile int *)0 = 1;", "window->cwnd = 0;"])
def test_a_control_in_c_that_fails_is_an_error_with_its_line(mistake, tmp_path):
    file = tmp_path / "mine.c"
    growth = "    if (!ww_may_grow(ack)) return;"
    text = like("reno", "mine").replace(growth, f"    {mistake}\n    return;")
    file.write_text(text, encoding="utf-8")
    many = gym.VectorEnv(2, path(cc=Control(file)), like="orca")
    for _ in range(2):  # a second episode begins afresh
        with pytest.raises(InputError, match=r"mine\.c:\d+: "):
            many.reset(seed=1)
            for _ in range(50):
                many.step(np.zeros((2, 1)))


def test_a_wrong_action_is_one_line():
    many = begun(2, path())
    with pytest.raises(
        InputError, match='actions = "nan": expected a number, of sub-environment 1'
    ):
        many.step(np.array([[0.0], [np.nan]]))
    with pytest.raises(InputError, match="expected 2 actions"):
        many.step(np.zeros((3, 1)))
    wrong: list[Any] = [["a", "b"], [[1], [1, 2]], [10**400, 1], {}]
    for given in wrong:
        with pytest.raises(InputError, match=r"actions = .*: expected 2 actions"):
            many.step(given)


@pytest.mark.parametrize(
    "reward",
    [
        lambda _: np.zeros(3),
        lambda _: np.zeros((2, 2)),
        lambda _: np.full(2, np.nan),
        lambda _: None,
        lambda _: "much",
    ],
)
def test_a_wrong_reward_is_one_line(reward):
    many = begun(2, path(), reward=reward)
    with pytest.raises(InputError, match=r"reward = .*: expected 2 finite numbers"):
        many.step(np.zeros((2, 1)))


@pytest.mark.parametrize(
    "wrong, expected",
    [
        (("rat", -1, 1, np.exp), 'action.steering = "rat": unknown, did you mean "rate"?'),
        (("rate", 1, -1, np.exp), "action = [1, -1]: expected the least and the largest action"),
        (("rate", "a", 1, np.exp), 'action = ["a", 1]: expected the least'),
        (("rate", -1, 1, None), "action.orders = None: expected a function"),
    ],
)
def test_a_wrong_action_of_ones_own_is_one_line(wrong, expected):
    with pytest.raises(InputError) as caught:
        gym.Action(*wrong)
    assert str(caught.value).startswith(expected)


def test_wrong_options_are_one_line():
    for environment in (gym.VectorEnv(2, path()), gym.Env(path())):
        with pytest.raises(InputError, match=r"options = .*: expected a mapping"):
            environment.reset(options="path")  # type: ignore[arg-type]
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"options": {"pth": 1}}, 'options = "pth": no such option'),
            ({"options": {"path": "x"}}, r'options\["path"\] = .*: expected'),
            ({"seed": -1}, "seed = -1: expected a whole number"),
            ({"seed": "one"}, 'seed = "one": expected a whole number'),
            ({"sed": 1}, 'sed = 1: no such argument, did you mean "seed"'),
        ]
        for given, expected in wrong:
            with pytest.raises(InputError, match=f"^{expected}"):
                environment.reset(**given)
    with pytest.raises(InputError, match="num_envs = 3: expected none: Env is one environment"):
        gym.Env(path(), num_envs=3)
    with pytest.raises(InputError, match="Env: too many positional arguments"):
        gym.Env(path(), 3)  # type: ignore[call-arg]


@pytest.mark.parametrize("like", gym.KINDS)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda environment: loads(dumps(environment))]
)
def test_a_copy_goes_on_where_it_was_made(like, copied):
    paths = path(size="300kB")  # some episodes end early
    many = gym.VectorEnv(3, paths, like=like, steps=25)
    assert np.array_equal(copied(many).reset(seed=5)[0], many.reset(seed=5)[0])
    many.action_space.seed(1)
    for _ in range(60):
        many.step(many.action_space.sample())
    other = copied(many)
    for _ in range(60):
        actions = many.action_space.sample()
        first, second = (environment.step(actions)[:4] for environment in (many, other))
        assert all(map(np.array_equal, first, second))
    agent = gym.Env(paths, like=like)
    agent.reset(seed=1)
    again = copied(agent)
    action = agent.action_space.sample()
    assert np.array_equal(agent.step(action)[0], again.step(action)[0])


def slow() -> gym.VectorEnv:
    """Returns environments of 1 Gb/s, whose step of 3 s takes some 0.3 s."""
    fast = path().with_settings({"path.rate": "1Gbps", "duration": "1h"})
    return begun(2, fast, step="3s", first_rate=(1, 1))


def test_environments_go_on_after_an_interrupt_and_have_no_copy_until_a_reset():
    many = slow()
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(100):
            many.step(np.zeros((2, 1)))
    timer.join()
    with pytest.raises(RunError, match=r"no copy after .* an interrupted step: reset\(\) it"):
        copy.copy(many)
    many.step(np.zeros((2, 1)))
    many.reset(seed=1)
    copy.copy(many)
    assert not np.any(many.step(np.zeros((2, 1)))[2:4])


def test_a_reset_that_was_interrupted_begins_again_with_the_next_step():
    many = begun(2, path())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many._runs, "_runs", Mock(reset=Mock(side_effect=KeyboardInterrupt)))
        with pytest.raises(KeyboardInterrupt):
            many.reset(seed=1)
    assert "path" in many.step(np.zeros((2, 1)))[4]


def test_two_threads_cannot_step_the_same_environments():
    many, messages = slow(), []

    def step():
        try:
            many.step(np.zeros((2, 1)))
        except RuntimeError as error:
            messages.append(str(error))

    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert messages == ["another thread is stepping these environments"]


def test_orders_of_ones_own_action_are_finite():
    many = begun(2, path(), action=gym.Action("rate", -1, 1, lambda actions: 0 / actions))
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match="expected 2 finite"):
        many.step(np.zeros((2, 1)))


def test_a_step_of_any_length_ends_with_the_scenario():
    for step in ("600h", "1000000rtt"):
        alone = gym.Env(path(), step=step)
        alone.reset(seed=1)
        assert alone.step([0.0])[3]


def test_examples_give_what_they_show():
    for module in (gym, choices, environments, paths):
        assert doctest.testmod(module).failed == 0
