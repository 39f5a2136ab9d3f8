# SPDX-License-Identifier: BSD-3-Clause
"""Sets and restores the default control of new sockets, by network namespace or by route.

The old value is saved before a new one is set (`saved_defaults`); `restore` or `kernel unload` puts
it back. A value that somebody else has set in the meantime is kept and reported.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from westwood.errors import InputError, RunError, UnavailableError, suggestion
from westwood.kernel import namespaces, routes, saved_defaults, user_controls, users, ww_kernel
from westwood.kernel.namespaces import Namespace
from westwood.kernel.saved_defaults import Entry, SavedDefaults

_DEFAULT, _AVAILABLE = (
    Path(f"/proc/sys/net/ipv4/tcp_{name}congestion_control") for name in ("", "available_")
)
_SO_NETNS_COOKIE = 71  # asm-generic/socket.h, since 5.14
OURS = tuple(ww_kernel.CONTROLS)


def default_of(where: Namespace) -> str:
    """Returns the default control of new sockets in a namespace."""
    return where.run(lambda: _DEFAULT.read_text().strip())


def choose(name: str, netns: str | int | None = None, route: str | None = None) -> list[str]:
    """Makes a control the default of a namespace or a route; returns lines for the user."""
    name = user_controls.kernel_name(name)
    ww_kernel.check_names([name], "NAME")
    prefix = "" if route is None else routes.prefix_of(route)
    with namespaces.opened(netns) as where, saved_defaults.opened() as saved:
        _check(name, where)
        cookie = where.run(_cookie)
        before = _now(where, prefix)
        if before is None:
            problem = "no such route: ip route show"
            raise InputError(problem, key="--route", value=route)
        entry = saved.entry(cookie, prefix)
        if entry is None:
            entry = Entry(cookie, _words(where, prefix), before, route=prefix)
            saved.entries.append(entry)
        elif before != entry.before and before not in entry.ours:
            entry.before, entry.ours = before, []  # somebody else has set it in the meantime
        entry.ours = [*dict.fromkeys([*entry.ours, name])]
        if not prefix and name not in users.allowed():  # Linux opens a default to any user
            entry.opened = [*dict.fromkeys([*entry.opened, name])]
        saved.keep()
        _set(where, prefix, name)
        if name == entry.before:
            _forget(saved, entry)
            return [f"{entry.where}: {name}, as before"]
        was = entry.before or "none of its own"
        return [f"{entry.where}: {name} (was {was}; westwood kernel default --restore)"]


def restore(netns: str | int | None = None, route: str | None = None) -> list[str]:
    """Restores all stored defaults, or only the chosen ones; returns lines for the user."""
    chosen = None
    prefix = None if route is None else routes.prefix_of(route)
    if netns is not None or route is not None:
        with namespaces.opened(netns) as where:
            chosen = where.run(_cookie)
    with saved_defaults.opened() as saved, _all() as by_cookie:
        entries = [
            entry
            for entry in saved.entries
            if chosen in (None, entry.netns) and prefix in (None, entry.route)
        ]
        lines = [_put_back(saved, entry, by_cookie.get(entry.netns)) for entry in entries]
    return lines or ["nothing to restore: westwood kernel default has set no default"]


def _put_back(saved: SavedDefaults, entry: Entry, where: Namespace | None) -> str:
    """Restores one default, unless it is gone or somebody else has set it."""
    now = None if where is None else _now(where, entry.route)
    if where is None or now is None:
        sentence = f"{entry.where}: is gone"
    elif now == entry.before and not (entry.route and now == ""):
        sentence = f"{entry.where}: {now}, as before"
    elif now in entry.ours or (entry.route and now == ""):  # a route's unloaded control has no name
        if not entry.route:
            _check(entry.before, where)
        _set(where, entry.route, entry.before)
        sentence = f"{entry.where}: {entry.before or 'none of its own'} again"
    else:
        sentence = f"{entry.where}: left alone, since somebody has set {now} in the meantime"
    _forget(saved, entry)
    return sentence


def _forget(saved: SavedDefaults, entry: Entry) -> None:
    """Closes to users what the default opened, and removes the entry."""
    users.change(set(), {*entry.opened} - {entry.before})
    saved.forget(entry)


def before_unload() -> list[str]:
    """Restores all defaults before our controls are unloaded; returns lines for the user.

    Raises RunError if somebody else made one of them the default of a namespace.
    """
    lines: list[str] = []
    if saved_defaults.may_be_there() and os.geteuid() == 0:
        with saved_defaults.opened() as saved, _all() as by_cookie:
            before = {entry.netns: entry.before for entry in saved.entries if not entry.route}
            cookie = _own_cookie()
            entries = [*saved.entries]
            lines = [_before_unload(saved, entry, by_cookie.get(entry.netns)) for entry in entries]
            if (
                before.get(cookie, OURS[0]) not in OURS
            ):  # namespaces created since then inherited ours
                lines += _inherited(by_cookie, before[cookie])
    with _all() as by_cookie:
        for where in by_cookie.values():
            if (name := default_of(where)) in OURS:
                option = f" --netns {where.name}" if where.name else ""
                raise RunError(
                    f"{name} is the default of new sockets in network namespace {where}, "
                    f"which would keep it: westwood kernel default reno{option}"
                )
    return lines


def _before_unload(saved: SavedDefaults, entry: Entry, where: Namespace | None) -> str:
    """Restores one default, unless the old control is ours and therefore about to be unloaded."""
    if where is None or entry.before not in OURS:
        return _put_back(saved, entry, where)
    saved.forget(entry)
    now = _now(where, entry.route) or "none of its own"
    return f"{entry.where}: {now} stays, since {entry.before}, which was there, is unloaded"


def _inherited(by_cookie: dict[int, Namespace], name: str) -> list[str]:
    lines = []
    for where in by_cookie.values():
        if (now := default_of(where)) in OURS:
            _check(name, where)
            _set(where, "", name)
            lines.append(f"{_words(where, '')}: {name} (had inherited {now})")
    return lines


def renew() -> None:
    """Makes namespaces whose default is one of our controls use the version just loaded."""
    if os.geteuid() != 0:
        return
    with _all() as by_cookie:
        for where in by_cookie.values():
            if (name := default_of(where)) in OURS:
                _check(name, where)
                _set(where, "", name)


def standing() -> list[dict[str, str]]:
    """Returns the default of each accessible namespace, and the routes that we have set."""
    saved: list[Entry] = []
    if saved_defaults.may_be_there() and os.geteuid() == 0:
        with saved_defaults.opened() as held:
            saved = held.entries
    listed = []
    with _all() as by_cookie:
        for cookie, where in by_cookie.items():
            before = {
                saved_entry.route: saved_entry.before
                for saved_entry in saved
                if saved_entry.netns == cookie
            }
            for prefix in ["", *(prefix for prefix in before if prefix)]:
                control = _now(where, prefix) or ""
                entry = {"netns": where.name, "route": prefix, "cc": control}
                listed.append({**entry, "where": _words(where, prefix)})
                if prefix in before:
                    listed[-1]["before"] = before[prefix]
    return listed


def lines(netns: str | None = None, route: str | None = None) -> list[str]:
    """Returns lines about the defaults: of all namespaces, of one, or of a route in it."""
    if netns is None and route is None:
        return [_line(entry) for entry in standing()]
    prefix = "" if route is None else routes.prefix_of(route)
    with namespaces.opened(netns) as where:
        return [f"{_words(where, prefix)}: {_now(where, prefix) or 'none of its own'}"]


def lines_of_ours() -> list[str]:
    """Returns lines about the defaults that we have set or that are our controls."""
    return [_line(entry) for entry in standing() if "before" in entry or entry["cc"] in OURS]


def _line(entry: dict[str, str]) -> str:
    before = f" (was {entry['before'] or 'none of its own'})" if "before" in entry else ""
    return f"{entry['where']}: {entry['cc'] or 'none of its own'}{before}"


@contextlib.contextmanager
def _all() -> Iterator[dict[int, Namespace]]:
    """Opens every accessible namespace; yields them by cookie."""
    with contextlib.ExitStack() as stack:
        by_cookie = {}
        for name in namespaces.everywhere().values():
            with contextlib.suppress(InputError, UnavailableError, RunError, OSError):
                where = stack.enter_context(namespaces.opened(name))
                by_cookie[where.run(_cookie)] = where
        yield by_cookie


def _own_cookie() -> int:
    with namespaces.opened(None) as namespace:
        return namespace.run(_cookie)


def _cookie() -> int:
    with socket.socket() as sock:
        raw = sock.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8)
    return int.from_bytes(raw, sys.byteorder)


def _words(where: Namespace, prefix: str) -> str:
    inside = f" in network namespace {where}" if where.name else ""
    return f"route {prefix}{inside}" if prefix else f"default of new sockets{inside}"


def _now(where: Namespace, prefix: str) -> str | None:
    return where.run(lambda: routes.control(prefix)) if prefix else default_of(where)


def _set(where: Namespace, prefix: str, name: str) -> None:
    def write() -> None:
        try:
            _DEFAULT.write_text(name)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES):
                raise UnavailableError(f"{_DEFAULT}: {error.strerror}; run as root") from None
            raise RunError(f"{_DEFAULT}: {name}: {error.strerror}") from None

    where.run((lambda: routes.change(prefix, name)) if prefix else write)


def _check(name: str, where: Namespace) -> None:
    """Raises an error if the kernel would refuse the control.

    This is checked first because of a leak in Linux: in a namespace that may not use a control,
    setting it fails with EPERM, but the control can't be unloaded until the next boot.
    """
    available, allowed, is_first = where.run(
        lambda: (_words_in(_AVAILABLE), users.allowed(), os.access(users.ALLOWED, os.W_OK))
    )
    if name in OURS and name not in available:
        raise UnavailableError(f"{name} is not loaded: westwood kernel load")
    if not is_first and name not in allowed:
        problem = f"expected one that namespaces may have: {' '.join(sorted(allowed))}"
        if name in available:
            problem += f"; westwood kernel load {users.OPTION} {name} adds it"
        raise InputError(problem, key="NAME", value=name)
    if name not in available and not _is_module(name):
        problem = f"this kernel has no such control, {suggestion(name, sorted(available))}"
        raise InputError(problem, key="NAME", value=name)


def _words_in(path: Path) -> set[str]:
    return set(path.read_text().split())


def _is_module(name: str) -> bool:
    folder = Path("/lib/modules") / os.uname().release
    return any(folder.glob(f"kernel/net/ipv4/tcp_{name}.ko*"))
