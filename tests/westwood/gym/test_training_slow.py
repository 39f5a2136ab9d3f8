# SPDX-License-Identifier: BSD-3-Clause
"""Policies learn: that of the example of docs/gym.md, and PPO of Stable-Baselines3."""

import time
from pathlib import Path
from typing import Any

import pytest

from westwood import Scenario, gym, simulate

PAGE = Path(__file__).parents[3] / "docs" / "gym.md"
FIVE_MINUTES_S = 300


@pytest.mark.slow
def test_the_example_trains_a_policy_and_exports_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = PAGE.read_text("utf-8").partition("<!-- example: train a policy -->\n```python\n")[2]
    known: dict[str, Any] = {}
    began = time.thread_time()
    exec(example.partition("```")[0], known)
    assert time.thread_time() - began < FIVE_MINUTES_S
    assert known["trained"] > known["untrained"] + 0.2
    again = known["score"]([known["search"].mean] * known["CANDIDATES"], seed=2000).mean()
    still = known["score"]([[0.0] * 7] * known["CANDIDATES"], seed=2000).mean()
    assert again > still + 0.2, "on other paths and seeds"
    learned = Scenario.preset("path").with_settings({"tcp.cc": "learned.c", "duration": "60s"})
    assert simulate(learned).rows["goodput_bps"][0] > 1e6


@pytest.mark.slow
@pytest.mark.parametrize("like", gym.KINDS)
def test_stable_baselines3_accepts_an_environment(like):
    env_checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env_checker.check_env(gym.Env("table1", like=like), warn=False)


@pytest.mark.slow
def test_stable_baselines3_learns_in_it():
    sb3 = pytest.importorskip("stable_baselines3")
    pytest.importorskip("torch").set_num_threads(1)  # more only wait for each other
    evaluate_policy = pytest.importorskip("stable_baselines3.common.evaluation").evaluate_policy
    trained, judged = (
        sb3.common.env_util.make_vec_env(lambda: gym.Env(gym.aurora_paths(64)), n_envs=8, seed=seed)
        for seed in (1, 1000)
    )
    model = sb3.PPO("MlpPolicy", trained, n_steps=400, batch_size=400, device="cpu", seed=1)
    before, _ = evaluate_policy(model, judged, n_eval_episodes=32)
    model.learn(20_000)
    after, _ = evaluate_policy(model, judged, n_eval_episodes=32)
    assert after > before + 100, "summed over the 400 steps of an episode"
