# SPDX-License-Identifier: BSD-3-Clause
"""Refuses compiled controls that could do more than be called (ELF, 64 bits, little endian).

What is allowed is listed, and the rest is refused. A compiled file has code, constants and their
relocations. A linked object is mapped by the loader, which writes addresses into memory that is
constant afterwards, and does nothing else: it runs nothing and looks up nothing of others.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MAGIC = b"\x7fELF\x02\x01"
_FILE, _SHARED = 1, 3  # kinds of objects
_RELATIVE = {62: 8, 183: 1027, 243: 3, 258: 3}  # the relocation by the object's place, by machine
_PAGE = 4096
AT_LOAD = "runs a function when it is loaded, expected only those of WW_CONTROL"

# Sections of a compiled file. Those that end in a dot begin a name.
_BITS, _SYMBOLS, _STRINGS, _RELA, _NO_BITS, _NOTE, _GROUP = 1, 2, 3, 4, 8, 7, 17
_UNWIND, _ADDRESSES, _ATTRIBUTES = 0x70000001, 0x6FFF4C03, 0x70000003
_WRITE, _ALLOC, _EXECUTE, _THREAD = 1, 2, 4, 0x400
_SECTIONS = {
    r"\.text(\..+)?": ({_BITS}, _ALLOC | _EXECUTE),
    r"\.rodata(\..+)?": ({_BITS}, _ALLOC),
    r"\.data\.rel\.ro(\..+)?": ({_BITS}, _ALLOC | _WRITE),
    r"\.eh_frame": ({_BITS, _UNWIND}, _ALLOC),
    r"\.note\.gnu\.property": ({_NOTE}, _ALLOC),
    r"\.sframe": ({_BITS, 0x6FFFFFF4}, _ALLOC),
    r"\.comment|\.debug_\w+|\.note\.GNU-stack|\.group": ({_BITS, _GROUP}, 0),
    r"\.symtab|\.strtab|\.shstrtab": ({_SYMBOLS, _STRINGS}, 0),
    r"\.rela\..+": ({_RELA}, 0),
    r"\.llvm_addrsig|\.riscv\.attributes": ({_ADDRESSES, _ATTRIBUTES}, 0),
    r"": ({0}, 0),
}
_STARTS = re.compile(r"\.(preinit|init|fini|ctors|dtors)(_array)?\b")

# Symbols.
_OBJECT, _SECTION_SYMBOL, _COMMON_SYMBOL, _THREAD_SYMBOL, _IFUNC = 1, 3, 5, 6, 10
_KINDS = {0, _OBJECT, 2, _SECTION_SYMBOL, 4}  # nothing, an object, a function, a section, a file
_BINDINGS = (0, 1, 2)  # local, global, weak
_WEAK, _IN_COMMON, _FIRST_SPECIAL = 2, 0xFFF2, 0xFF00

# Of a linked object: kinds of segments, and tags of its dynamic section.
_LOAD, _DYNAMIC, _STACK, _RELRO = 1, 2, 0x6474E551, 0x6474E552
_SEGMENTS = {0, _LOAD, _DYNAMIC, 4, 6, 0x6474E550, _STACK, _RELRO, 0x6474E553, 0x70000003}
_HASH, _SYMTAB, _RELA_AT, _RELA_SIZE, _FLAGS, _FLAGS_1 = 4, 6, 7, 8, 30, 0x6FFFFFFB
_SYMBOLIC = 16  # names are looked for in the object itself first
_TAGS = {_HASH, 5, _SYMTAB, _RELA_AT, _RELA_SIZE, 9, 10, 11, _SYMBOLIC, _FLAGS, _FLAGS_1}
_TAGS.add(0x6FFFFFF9)  # how many relocations are relative
_BIND_NOW, _NOW = 8 | 2, 1  # and symbolic


class Refused(ValueError):
    """Raised for an object with what a control must not have; `word` is in the source if known."""

    def __init__(self, problem: str, word: str = "") -> None:
        super().__init__(problem)
        self.word = word


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


def check_compiled(code: bytes) -> None:
    """Raises Refused unless a compiled file, not yet linked, has only what a control may have."""
    try:
        _check_compiled(code)
    except Refused:
        raise
    except (struct.error, IndexError, ValueError, StopIteration):
        raise Refused("is no object that can be checked") from None


def check_linked(code: bytes) -> None:
    """Raises Refused unless loading the object runs nothing, and none of it stays writable."""
    try:
        _check_linked(code)
    except Refused:
        raise
    except (struct.error, IndexError, ValueError, KeyError):
        raise Refused("is no object that can be checked") from None


def _check_head(code: bytes, kind: int) -> int:
    """Returns the machine."""
    file_kind, machine = struct.unpack_from("<HH", code, 16)
    if not code.startswith(_MAGIC) or file_kind != kind or machine not in _RELATIVE:
        raise Refused("is for a machine whose objects are not checked, so it is not loaded")
    return int(machine)


def _check_compiled(code: bytes) -> None:
    _check_head(code, _FILE)
    sections = _sections(code)
    symbols = next(n for n, section in enumerate(sections) if section.kind == _SYMBOLS)
    if start_section := next(
        (section for section in sections if _STARTS.match(section.name)), None
    ):
        raise Refused(AT_LOAD, start_section.name)
    _check_symbols(code, sections, sections[symbols])
    for part in sections:
        _check_section(part, symbols, len(sections))


def _sections(code: bytes) -> list[_Section]:
    (first,) = struct.unpack_from("<Q", code, 40)
    size, count, names_in = struct.unpack_from("<HHH", code, 58)
    rows = [struct.unpack_from("<IIQQQQIIQQ", code, first + n * size) for n in range(count)]
    names_at = rows[names_in][4]
    return [
        _Section(_text(code, names_at + row[0]), *row[1:3], *row[4:8])  # without its address
        for row in rows
    ]


def _text(code: bytes, offset: int) -> str:
    return code[offset : code.index(b"\0", offset)].decode(errors="replace")


def _is_variable(section: _Section) -> bool:
    """Returns whether a section's memory can be written while the control runs."""
    return bool(section.flags & _WRITE) and not section.name.startswith(".data.rel.ro")


def _check_section(part: _Section, symbols: int, count: int) -> None:
    if part.flags & _THREAD or _is_variable(part):
        if part.size:
            raise _variable("", part.name)
        return
    kinds, flags = next(
        (section for name, section in _SECTIONS.items() if re.fullmatch(name, part.name)),
        (set(), 0),
    )
    is_sound = part.kind in kinds and part.flags & (_WRITE | _ALLOC | _EXECUTE) == flags
    if part.kind == _RELA:  # the assembler's own, not bytes under that name
        is_sound = is_sound and part.link == symbols and 0 < part.info < count
    if not is_sound:
        raise Refused(f'has a section "{part.name}", expected code and constants', part.name)


def _variable(name: str, place: str = "") -> Refused:
    what = f"{name} is a variable" if name else f"has variables (in {place})"
    problem = f"{what} outside of the state: expected it in the state, or const"
    return Refused(problem, name or place)


def _check_symbols(code: bytes, sections: Sequence[_Section], table: _Section) -> None:
    names_at = sections[table.link].offset
    for offset in range(table.offset + 24, table.offset + table.size, 24):
        name_at, info, _, place = struct.unpack_from("<IBBH", code, offset)
        name, kind, binding = _text(code, names_at + name_at), info & 15, info >> 4
        shown = _name_in_source(name)
        if name.startswith("$"):  # marks data among code
            continue
        if kind == _IFUNC or name in ("_init", "_fini"):
            raise Refused(AT_LOAD, shown)
        if kind in (_COMMON_SYMBOL, _THREAD_SYMBOL) or place == _IN_COMMON:
            raise _variable(shown)
        if kind not in _KINDS or binding not in _BINDINGS:
            raise Refused(f"{shown} is a symbol of an unknown kind", shown)
        if place == 0 and binding == _WEAK:
            raise Refused(f"{shown} is weak, expected functions of the file or control.h", shown)
        if 0 < place < _FIRST_SPECIAL and kind != _SECTION_SYMBOL and _is_variable(sections[place]):
            raise _variable(shown)


def _name_in_source(symbol: str) -> str:
    """Returns a variable's name in the file: gcc writes `name.0`, and clang `function.name`."""
    parts = [part for part in symbol.split(".") if part and not part.isdigit()]
    return parts[-1] if parts else symbol


def _check_linked(code: bytes) -> None:
    machine = _check_head(code, _SHARED)
    segments = list(_segments(code))
    if unknown := [segment for segment in segments if segment.kind not in _SEGMENTS]:
        raise Refused(f"has a segment of the kind {unknown[0].kind}")
    constant = [segment for segment in segments if segment.kind == _RELRO]
    dynamic = [segment for segment in segments if segment.kind == _DYNAMIC]
    if len(dynamic) != 1 or len(constant) != 1:
        raise Refused("has no memory that is constant after loading")
    # The loader protects whole pages.
    first, end = constant[0].first, constant[0].end // _PAGE * _PAGE
    for part in segments:
        is_mapped = part.kind in (_LOAD, _STACK)
        if is_mapped and part.flags & 1 and (part.flags & 2 or part.kind == _STACK):
            raise Refused("has memory that can be written and executed")
        if part.kind == _LOAD and part.flags & 2 and not first <= part.first <= part.end <= end:
            raise Refused("has variables outside of the state")
    tags = _tags(code, dynamic[0])
    symbols = _check_hash(code, segments, tags)
    _check_dynamic_symbols(code, _offset(segments, tags[_SYMTAB]), symbols)
    written = (first, dynamic[0].first), (dynamic[0].end, end)
    relocations, size = tags.get(_RELA_AT, 0), tags.get(_RELA_SIZE, 0)
    offset = _offset(segments, relocations) if size else 0
    for row in range(offset, offset + size, 24):
        place, kind, _ = struct.unpack_from("<QQQ", code, row)
        if kind != _RELATIVE[machine]:
            raise Refused("has a relocation that is more than an address of its own")
        if not any(low <= place and place + 8 <= high for low, high in written):
            raise Refused("has a relocation outside of its constants")


@dataclass(frozen=True)
class _Segment:
    kind: int
    flags: int
    offset: int
    first: int
    stored: int  # bytes in the file
    end: int


def _segments(code: bytes) -> Iterator[_Segment]:
    (first,) = struct.unpack_from("<Q", code, 32)
    size, count = struct.unpack_from("<HH", code, 54)
    for n in range(count):
        row = struct.unpack_from("<IIQQQQQ", code, first + n * size)
        kind, flags, offset, address, _, stored, mapped = row
        yield _Segment(kind, flags, offset, address, stored, address + mapped)


def _offset(segments: Sequence[_Segment], address: int) -> int:
    """Returns the place in the file of what is mapped, and not written, at an address."""
    for segment in segments:
        if (
            segment.kind == _LOAD
            and not segment.flags & 2
            and 0 <= address - segment.first < segment.stored
        ):
            return segment.offset + address - segment.first
    raise Refused("has tables outside of its constants")


def _tags(code: bytes, dynamic: _Segment) -> dict[int, int]:
    tags: dict[int, int] = {}
    for offset in range(dynamic.offset, dynamic.offset + dynamic.stored, 16):
        tag, value = struct.unpack_from("<QQ", code, offset)
        if tag == 0:
            return tags
        if tag not in _TAGS or tag in tags:
            raise Refused("asks more of the loader than addresses of its own")
        if value & ~{_FLAGS: _BIND_NOW, _FLAGS_1: _NOW}.get(tag, 2**64 - 1):
            raise Refused("has flags of the loader other than that it binds at once")
        tags[tag] = value
    raise Refused("has a dynamic section without an end")


def _check_hash(code: bytes, segments: Sequence[_Segment], tags: dict[int, int]) -> int:
    """Returns how many symbols the loader can find: only those that are checked."""
    offset = _offset(segments, tags.get(_HASH, 0))
    buckets, count = struct.unpack_from("<II", code, offset)
    for entry in struct.unpack_from(f"<{buckets + count}I", code, offset + 8):
        if entry >= count:
            raise Refused("has a table of symbols that points outside")
    return int(count)


def _check_dynamic_symbols(code: bytes, first: int, count: int) -> None:
    for offset in range(first + 24, first + 24 * count, 24):
        _, info, _, place = struct.unpack_from("<IBBH", code, offset)
        if place == 0 or info & 15 not in _KINDS or info >> 4 not in _BINDINGS:
            raise Refused("has a symbol that is looked for elsewhere or runs when it is looked up")
