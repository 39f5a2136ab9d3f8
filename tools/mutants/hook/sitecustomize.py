# SPDX-License-Identifier: BSD-3-Clause
"""Python imports this first in each process that a mutant's tests start.

WW_MUTANT names a file of westwood and its mutant, which is imported instead.
WW_CALLED names a folder where each process records the functions that its tests called.
"""

import atexit
import importlib.abc
import importlib.machinery
import importlib.util
import json
import multiprocessing.util
import os
import sys
import threading
import time
from pathlib import Path

ROOM = f"{Path(__file__).resolve().parents[3]}/westwood/"


class Mutated(importlib.machinery.SourceFileLoader):
    """Loads a module from the mutant's text, as if from the module's own file."""

    def get_code(self, fullname):
        text = Path(os.environ["WW_MUTANT"].split("::")[1]).read_bytes()
        return compile(text, self.path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        file, _ = os.environ["WW_MUTANT"].split("::")
        parts = Path(file).with_suffix("").parts
        module = parts[parts.index("westwood") :]
        is_package = module[-1] == "__init__"
        if fullname != ".".join(module[:-1] if is_package else module):
            return None
        places = [str(Path(file).parent)] if is_package else None
        return importlib.util.spec_from_file_location(
            fullname, file, loader=Mutated(fullname, file), submodule_search_locations=places
        )


class Called:
    """The functions called since the test began, by the identity of their code."""

    def __init__(self):
        self.test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]
        self.of_test, self.took = {}, {}
        self.begin(self.test)

    def begin(self, test):
        self.test, self.seen = test, self.of_test.setdefault(test, {})
        seen = self.seen

        def trace(frame, event, argument):
            code = frame.f_code
            if id(code) not in seen:
                seen[id(code)] = code

        sys.settrace(trace)
        threading.settrace(trace)

    def forget(self):
        """Starts empty in a child process, which writes its record when it ends."""
        self.of_test, self.took = {}, {}
        self.begin(self.test)
        multiprocessing.util.Finalize(None, self.write, exitpriority=0)

    def write(self):
        sys.settrace(None)
        found = {}
        for test, codes in self.of_test.items():
            names = [(code.co_filename, code.co_qualname) for code in codes.values()]
            ours = {(f.removeprefix(ROOM), n) for f, n in names if f.startswith(ROOM)}
            found[test] = sorted(ours)
        name = f"{os.getpid()}-{time.monotonic_ns()}.json"
        Path(os.environ["WW_CALLED"], name).write_text(
            json.dumps({"calls": found, "took": self.took})
        )


if "WW_MUTANT" in os.environ:
    sys.meta_path.insert(0, Finder())
if "WW_CALLED" in os.environ:
    called = Called()
    atexit.register(called.write)
    os.register_at_fork(after_in_child=called.forget)
