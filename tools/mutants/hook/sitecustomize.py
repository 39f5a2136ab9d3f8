# SPDX-License-Identifier: BSD-3-Clause
"""Python imports this first in each process that a mutant's tests start.

WW_MUTANT names a file of westwood and its mutant, which is imported instead.
WW_CALLED names a folder where each process records the functions that its tests called, and the
lines that ran in them.
"""

import atexit
import functools
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
    """The functions called since the test began, and their lines, by the identity of their code."""

    def __init__(self):
        self.test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]
        self.of_test, self.took, self.caches = {}, {}, []
        self.remember_caches()
        self.begin(self.test)

    def remember_caches(self):
        """Lets each test call what an earlier test has put into a cache."""
        make = functools._lru_cache_wrapper

        def remembered(*arguments):
            self.caches.append(make(*arguments))
            return self.caches[-1]

        functools._lru_cache_wrapper = remembered

    def begin(self, test):
        self.test, self.seen = test, self.of_test.setdefault(test, {})
        for cache in self.caches:
            if str(getattr(cache, "__module__", "")).startswith(("westwood", "tests")):
                cache.cache_clear()
        seen = self.seen

        def trace(frame, event, argument):
            code = frame.f_code
            if id(code) not in seen:
                seen[id(code)] = entry(code)
            return seen[id(code)][2]

        sys.settrace(trace)
        threading.settrace(trace)

    def forget(self):
        """Starts empty in a child process, which writes its record when it ends."""
        self.of_test, self.took = {}, {}
        self.begin(self.test)
        multiprocessing.util.Finalize(None, self.write, exitpriority=0)

    def add(self, test, other):
        """Adds another test's calls to a test's."""
        for key, (code, lines, _) in self.of_test.get(other, {}).items():
            self.of_test[test].setdefault(key, entry(code))[1].update(lines)

    def write(self):
        sys.settrace(None)
        record = {
            test: [
                (code.co_filename.removeprefix(ROOM), function_of(code), sorted(lines))
                for code, lines, tracer in codes.values()
                if tracer
            ]
            for test, codes in self.of_test.items()
        }
        name = f"{os.getpid()}-{time.monotonic_ns()}"
        part, whole = (Path(os.environ["WW_CALLED"], name + end) for end in (".part", ".json"))
        part.write_text(json.dumps({"calls": record, "took": self.took}))
        part.rename(whole)  # a process that is killed meanwhile leaves no half record


def entry(code):
    """Returns the code, the lines that ran, and the function that records them."""
    lines = set()

    def trace(frame, event, argument):
        lines.add(frame.f_lineno)
        return trace

    return code, lines, trace if code.co_filename.startswith(ROOM) else None


def function_of(code):
    """Returns the function that contains a code, such as a comprehension's."""
    return code.co_qualname.split(".<locals>.<")[0]


if "WW_MUTANT" in os.environ:
    sys.meta_path.insert(0, Finder())
if "WW_CALLED" in os.environ:
    called = Called()
    atexit.register(called.write)
    os.register_at_fork(after_in_child=called.forget)
    end_at_once = os._exit

    def record_and_end(code):
        called.write()
        end_at_once(code)

    os._exit = record_and_end  # which runs no exit handlers
