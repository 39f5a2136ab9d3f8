# SPDX-License-Identifier: BSD-3-Clause
"""Reads the sections of a compiled control (ELF, 64 bits, little endian)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = b"\x7fELF\x02\x01"
_SECTIONS_AT, _SECTION_BYTES_AT = 40, 58  # in the file's header
_DYNAMIC, _ARRAYS, _SYMBOLS = 6, (14, 15, 16), (2, 11)  # kinds of sections
_INIT_OR_FINI = (12, 13)  # tags of the dynamic section
_IFUNC = 10  # kind of a symbol


@dataclass(frozen=True)
class _Section:
    kind: int
    content: bytes


def runs_when_loaded(code: bytes) -> bool:
    """Returns whether loading or unloading the object runs functions of it; False if not ELF."""
    return code.startswith(_MAGIC) and any(map(_runs, _sections(code)))


def _sections(code: bytes) -> Iterator[_Section]:
    (first,) = struct.unpack_from("<Q", code, _SECTIONS_AT)
    size, count = struct.unpack_from("<HH", code, _SECTION_BYTES_AT)
    for at in range(first, first + size * count, size):
        _, kind, _, _, offset, length = struct.unpack_from("<IIQQQQ", code, at)
        yield _Section(kind, code[offset : offset + length])


def _runs(section: _Section) -> bool:
    content = section.content
    if section.kind == _DYNAMIC:
        return any(tag in _INIT_OR_FINI for tag, _ in struct.iter_unpack("<QQ", content))
    if section.kind in _SYMBOLS:
        return any(row[1] & 15 == _IFUNC for row in struct.iter_unpack("<IBBHQQ", content))
    return section.kind in _ARRAYS and len(content) > 0
