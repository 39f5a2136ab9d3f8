# SPDX-License-Identifier: BSD-3-Clause
"""Compares what a scenario reads without models with its models."""

import json
from types import SimpleNamespace
from typing import Any

from westwood.scenario import Scenario

OF_NO_RUN = {"name", "seeds", "profile", "sweep"}


def is_plain(read: Scenario) -> bool:
    return read._parts.text is not None


def check_like_the_models(read: Scenario) -> None:
    """Compares a scenario that was read without models with its models; else does nothing."""
    if not is_plain(read):
        return
    dumped = read._model.model_dump(exclude=OF_NO_RUN, exclude_none=True)
    assert json.dumps(dumped, sort_keys=True) == read._parts.text
    for key in OF_NO_RUN:
        assert getattr(read, key) == getattr(read._model, key)
    for parts, models in ((read._parts.link, read.link), (read._parts.flow, read.flow)):
        for part, model in zip(parts, models, strict=True):
            _check_values(part, model)


def _check_values(part: SimpleNamespace, model: Any) -> None:
    for key, value in vars(part).items():
        of_model = getattr(model, key)
        if type(value) is SimpleNamespace:
            _check_values(value, of_model)
        else:
            assert (value, type(value)) == (of_model, type(of_model)), key
