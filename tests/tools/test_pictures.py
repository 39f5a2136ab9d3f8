# SPDX-License-Identifier: BSD-3-Clause
"""No picture of the guide is older than what it shows."""

import json
import shutil

import pytest
from PIL import Image

from tools import pictures


@pytest.mark.parametrize("name", pictures.names())
def test_a_picture_is_not_older_than_what_it_shows(name):
    kept = json.loads(pictures.KEPT.read_text(encoding="utf-8"))[name]
    hint = f"draw it again, then: python -m tools.pictures {name}"
    assert pictures.shows(name) == kept["shows"], hint
    assert pictures.picture(name) == kept["picture"], hint


def test_a_picture_is_wide_enough_for_a_large_screen():
    widths = {}
    for name in pictures.names():
        with Image.open(pictures.FOLDER / name) as picture:
            widths[name] = picture.width
    assert {name: width for name, width in widths.items() if width != 1280} == {}


def test_an_old_picture_is_noticed_and_not_kept(tmp_path, monkeypatch):
    name = "gallery.png"
    shutil.copy(pictures.FOLDER / name, tmp_path / name)
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    monkeypatch.setattr(pictures, "KEPT", tmp_path / "pictures.json")
    assert pictures.keep([name]) == ""
    first = json.loads(pictures.KEPT.read_text())[name]

    monkeypatch.setattr(pictures, "shows", lambda name: "other numbers")
    assert pictures.keep([name]) == "not drawn again: gallery.png"
    assert json.loads(pictures.KEPT.read_text())[name] == first

    (tmp_path / name).write_bytes(b"drawn again")
    assert pictures.keep([name]) == ""
    assert json.loads(pictures.KEPT.read_text())[name]["shows"] == "other numbers"
