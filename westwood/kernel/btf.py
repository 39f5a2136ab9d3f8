# SPDX-License-Identifier: BSD-3-Clause
"""Reads the members of the kernel's structures from its type information (BTF).

The kernel's Documentation/bpf/btf.rst describes the format.
"""

from __future__ import annotations

import struct

_MAGIC = 0xEB9F
# ..., length, offset and size of types, offset and size of strings
_HEADER = struct.Struct("<HBBIIIII")
_TYPE = struct.Struct("<III")  # name, kind and number of members, size or type
_MEMBER = struct.Struct("<III")
_STRUCT = 4
# Bytes after a type: a fixed number by kind, and a number for each member.
_FIXED = {1: 4, 3: 12, 14: 4, 17: 4}  # integer, array, variable, declaration tag
# struct, union, enum, prototype, section, enum64
_EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}


def members(data: bytes, name: str) -> set[str] | None:
    """Returns the members of a structure; None if it is missing or the data are not BTF."""
    if len(data) < _HEADER.size:
        return None
    magic, _, _, header, types, types_size, strings, strings_size = _HEADER.unpack_from(data)
    if magic != _MAGIC or header + max(types + types_size, strings + strings_size) > len(data):
        return None
    text = data[header + strings : header + strings + strings_size]

    def called(offset: int) -> str:
        return text[offset : text.find(b"\0", offset)].decode(errors="replace")

    wanted = {name_place + 1 for name_place in _all(text, b"\0" + name.encode() + b"\0")}
    place, end = header + types, header + types + types_size
    while place + _TYPE.size <= end:
        name_at, info, _ = _TYPE.unpack_from(data, place)
        place += _TYPE.size
        kind, count = info >> 24 & 31, info & 0xFFFF
        size = _FIXED.get(kind, 0) + _EACH.get(kind, 0) * count
        if kind == _STRUCT and name_at in wanted and place + size <= end:
            return {
                called(member) for member, _, _ in _MEMBER.iter_unpack(data[place : place + size])
            }
        place += size
    return None


def _all(text: bytes, part: bytes) -> list[int]:
    places, place = [], text.find(part)
    while place >= 0:
        places.append(place)
        place = text.find(part, place + 1)
    return places
