# SPDX-License-Identifier: GPL-2.0-only
"""The emulated machine's RAM disk is a cpio archive (newc) in an unnamed file."""

import io
import stat
from collections.abc import Iterator

from westwood.kernel.emulated import _Archive

HEAD = 110  # bytes: a magic number and 13 fields of 8 hexadecimal digits


def entries(archive: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Reads an archive as the kernel does (init/initramfs.c): name, mode, content."""
    offset = 0
    while True:
        head = archive[offset : offset + HEAD]
        assert head[:6] == b"070701"
        fields = [int(head[6 + 8 * i : 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = archive[offset + HEAD : offset + HEAD + name_size]
        assert name.endswith(b"\0")
        offset += HEAD + name_size + -(HEAD + name_size) % 4
        yield name[:-1].decode(), mode, archive[offset : offset + size]
        offset += size + -size % 4
        if name == b"TRAILER!!!\0":
            assert offset == len(archive)
            return


def test_it_reads_back_as_it_was_written():
    out = io.BytesIO()
    disk = _Archive(out)
    contents = {f"bin/{'x' * length}": bytes(range(length)) for length in range(1, 9)}
    for name, content in contents.items():
        disk.add(name, content)
    disk.link("bin/sh", "dash")
    disk.add("lib/x86_64-linux-gnu/libc.so.6", b"C")
    disk.folder("run/netns")
    disk.end()
    files = {name: (mode, content) for name, mode, content in entries(out.getvalue())}
    for name, content in contents.items():
        assert files[name] == (stat.S_IFREG | 0o755, content)
    assert files["bin/sh"] == (stat.S_IFLNK | 0o777, b"dash")
    order = list(files)
    for name in order[:-1]:  # the kernel needs each folder's entry before its content
        above = name.rpartition("/")[0]
        assert not above or order.index(above) < order.index(name)
        assert not above or stat.S_ISDIR(files[above][0])


def test_existing_entries_are_kept():
    out = io.BytesIO()
    disk = _Archive(out)
    disk.link("bin/sh", "dash")
    disk.link("bin/sh", "busybox")
    disk.end()
    assert [content for name, _, content in entries(out.getvalue()) if name == "bin/sh"] == [
        b"dash"
    ]
