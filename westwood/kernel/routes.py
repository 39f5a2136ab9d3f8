# SPDX-License-Identifier: BSD-3-Clause
"""Reads and changes the congestion control of a route (ip-route(8): congctl) by rtnetlink.

A route is read and written back with another control or none; its other attributes stay. A check
afterwards reports attributes that pyroute2 could not write as it read them.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import struct
from typing import Any

from westwood.errors import InputError, RunError, UnavailableError

_MAIN = 254  # the table
_ONLINK = 4  # RTNH_F_ONLINK; the other flags are read-only states
_REPLACE = 0x1 | 0x4 | 0x100  # NLM_F_REQUEST, ACK, REPLACE
_NEW_ROUTE = 24
_ADVERTISED = 9  # RTPROT_RA
_READ_ONLY = {"RTA_CACHEINFO", "RTA_EXPIRES", "RTA_TABLE"}


def prefix_of(text: str) -> str:
    """Returns a prefix in the form of `ip route`; raises InputError if it is invalid."""
    if text in ("default", "default6"):
        return "0.0.0.0/0" if text == "default" else "::/0"
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        problem = f"expected a route's prefix such as 192.0.2.0/24 or default: {error}"
        raise InputError(problem, key="--route", value=text) from None


def control(prefix: str) -> str | None:
    """Returns the control of a route; "" if it has none, None if there is no such route."""
    from pyroute2 import IPRoute

    with IPRoute() as kernel:
        route = _find(kernel, prefix)
    return None if route is None else _control_of(route)


def change(prefix: str, name: str) -> None:
    """Sets the control of a route; "" removes it."""
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    with IPRoute() as kernel:
        route = _find(kernel, prefix)
        if route is None:
            raise InputError("no such route: ip route show", key="--route", value=prefix)
        if route["proto"] == _ADVERTISED:
            raise RunError(
                f"route {prefix}: router advertisements rewrite it, so it can't keep a control"
            )
        if any(key == "UNKNOWN" for key, _ in route["attrs"]):
            raise RunError(_not_here(prefix, name))
        try:
            kernel.nlm_request_batch([_message(route, name)])
            now = _find(kernel, prefix)
        except NetlinkError as error:
            if error.code in (errno.EPERM, errno.EACCES):
                raise UnavailableError(
                    f"route {prefix}: {os.strerror(error.code)}, expected CAP_NET_ADMIN"
                ) from None
            if error.code == errno.EINVAL and name:
                raise RunError(
                    f"route {prefix}: the kernel has no congestion control {name}: "
                    "westwood kernel load, or modprobe"
                ) from None
            raise RunError(f"route {prefix}: {os.strerror(error.code)}") from None
        except (AttributeError, KeyError, TypeError, ValueError, struct.error):
            raise RunError(_not_here(prefix, name)) from None
    if now is None or _rest(now) != _rest(route):
        raise RunError(f"route {prefix}: other attributes changed too: see ip route show {prefix}")


def _not_here(prefix: str, name: str) -> str:
    by_hand = f"ip route change {prefix} ... congctl {name}" if name else "ip route change"
    return f"route {prefix}: has attributes that westwood can't write back: use {by_hand}"


def _find(kernel: Any, prefix: str) -> Any:
    """Returns the preferred route of the main table; None if there is none."""
    network = ipaddress.ip_network(prefix)
    family = socket.AF_INET if network.version == 4 else socket.AF_INET6
    routes = [
        route
        for route in kernel.get_routes(family=family, table=_MAIN)
        if route["dst_len"] == network.prefixlen
        and route["tos"] == 0
        and (route.get_attr("RTA_DST") or str(network.network_address))
        == str(network.network_address)
    ]
    return min(routes, key=lambda route: route.get_attr("RTA_PRIORITY") or 0, default=None)


def _control_of(route: Any) -> str:
    metrics = route.get_attr("RTA_METRICS")
    return str((metrics and metrics.get_attr("RTAX_CC_ALGO")) or "")


def _settable(route: Any) -> dict[str, Any]:
    """Returns a route's attributes without the read-only ones."""
    attributes = {key: value for key, value in route["attrs"] if key not in _READ_ONLY}
    if "RTA_MULTIPATH" in attributes:
        attributes["RTA_MULTIPATH"] = [
            {
                "oif": hop["oif"],
                "hops": hop["hops"],
                "flags": hop["flags"] & _ONLINK,
                "attrs": [tuple(pair) for pair in hop["attrs"]],
            }
            for hop in attributes["RTA_MULTIPATH"]
        ]
    return attributes


def _metrics(route: Any) -> list[tuple[str, Any]]:
    metrics = route.get_attr("RTA_METRICS")
    pairs = [tuple(pair) for pair in (metrics["attrs"] if metrics else [])]
    return [(key, value) for key, value in pairs if key != "RTAX_CC_ALGO"]


def _rest(route: Any) -> tuple[str, str]:
    """Returns the route's properties other than the control, which a command must preserve."""
    attributes = {k: v for k, v in _settable(route).items() if k != "RTA_METRICS"}
    fields = {k: route[k] for k in ("family", "dst_len", "tos", "proto", "scope", "type")}
    return repr((sorted(attributes.items(), key=repr), fields)), repr(sorted(_metrics(route)))


def _message(route: Any, name: str) -> Any:
    from pyroute2.netlink.rtnl.rtmsg import rtmsg

    message = rtmsg()
    message["header"]["type"], message["header"]["flags"] = _NEW_ROUTE, _REPLACE
    for key in ("family", "dst_len", "src_len", "tos", "proto", "scope", "type"):
        message[key] = route[key]
    message["table"], message["flags"] = _MAIN, route["flags"] & _ONLINK
    metrics = _metrics(route) + ([("RTAX_CC_ALGO", name)] if name else [])
    attributes = {key: value for key, value in _settable(route).items() if key != "RTA_METRICS"}
    message["attrs"] = list(attributes.items())
    if metrics:
        message["attrs"].append(("RTA_METRICS", {"attrs": metrics}))
    return message
