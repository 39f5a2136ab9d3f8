# SPDX-License-Identifier: BSD-3-Clause
"""The verifier follows a program for a million instructions, then refuses it. Ours stay below."""

import ctypes
import os
import platform
import struct
from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.kernel

MOST = 1_000_000  # instructions that the verifier follows in a program: BPF_COMPLEXITY_LIMIT_INSNS
SYSTEM_CALL = {"x86_64": 321, "aarch64": 280}  # bpf(2)
NEXT_PROGRAM, PROGRAM_OF_NUMBER, DESCRIPTION = 11, 13, 15  # enum bpf_cmd
STRUCT_OPS = 27  # enum bpf_prog_type
TYPE, NAME, VERIFIED = 0, 64, 216  # offsets in struct bpf_prog_info


def bpf(command: int, *words: int) -> tuple[int, bytes]:
    """Calls bpf(2) with a union bpf_attr of 32-bit words; returns its result and the words then."""
    attributes = ctypes.create_string_buffer(struct.pack(f"{len(words)}I", *words), 128)
    system_call = ctypes.CDLL(None).syscall
    return system_call(SYSTEM_CALL[platform.machine()], command, attributes, 128), attributes.raw


def instructions() -> Iterator[tuple[str, int]]:
    """Each struct_ops program in the kernel, and how many instructions its verifier followed."""
    number = 0
    while bpf(NEXT_PROGRAM, number)[0] == 0:
        (number,) = struct.unpack_from("I", bpf(NEXT_PROGRAM, number)[1], 4)
        program = bpf(PROGRAM_OF_NUMBER, number)[0]
        if program < 0:
            continue
        info = ctypes.create_string_buffer(256)
        address = ctypes.addressof(info)
        bpf(DESCRIPTION, program, len(info), address & 0xFFFFFFFF, address >> 32)
        os.close(program)
        if struct.unpack_from("I", info, TYPE)[0] == STRUCT_OPS:
            yield (
                info.raw[NAME : NAME + 16].rstrip(b"\0").decode(),
                struct.unpack_from("I", info, VERIFIED)[0],
            )


@pytest.mark.skipif(platform.machine() not in SYSTEM_CALL, reason="its number of bpf(2) is unknown")
def test_the_verifier_has_room_for_other_compilers_and_kernels(controls):
    """Two thirds of the limit are enough; a compiler or a kernel may need half as many again."""
    followed = dict(instructions())
    assert followed["control_ww_cubi"] > 1000, followed
    assert {name: count for name, count in followed.items() if count > MOST * 2 // 3} == {}
