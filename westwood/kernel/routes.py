# SPDX-License-Identifier: BSD-3-Clause
"""The congestion control of a route (ip-route(8): congctl), by rtnetlink.

A route is written again as the kernel tells it, with another control or none; whatever else it has
stays. What pyroute2 can't write as it was read is seen afterwards, and said.
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
_ONLINK = 4  # RTNH_F_ONLINK: the other flags are states
_REPLACE = 0x1 | 0x4 | 0x100  # NLM_F_REQUEST, ACK, REPLACE
_NEW_ROUTE = 24
_ADVERTISED = 9  # RTPROT_RA
_TOLD_ONLY = {"RTA_CACHEINFO", "RTA_EXPIRES", "RTA_TABLE"}


def prefix_of(text: str) -> str:
    """Writes a prefix as `ip route` does; InputError if it is none."""
    if text in ("default", "default6"):
        return "0.0.0.0/0" if text == "default" else "::/0"
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        problem = f"expected a prefix of a route, as 192.0.2.0/24 or default: {error}"
        raise InputError(problem, key="--route", value=text) from None


def control(prefix: str) -> str | None:
    """Returns the control that the namespace's route has; "" is none, None that it is gone."""
    from pyroute2 import IPRoute

    with IPRoute() as kernel:
        found = _find(kernel, prefix)
    return None if found is None else _control_of(found)


def change(prefix: str, name: str) -> None:
    """Gives the namespace's route a control, or with "" none."""
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    with IPRoute() as kernel:
        route = _find(kernel, prefix)
        if route is None:
            raise InputError("there is no such route: ip route show", key="--route", value=prefix)
        if route["proto"] == _ADVERTISED:
            raise RunError(
                f"route {prefix}: router advertisements write it anew: it can't keep a control"
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
        raise RunError(f"route {prefix}: is not what it was: compare ip route show {prefix}")


def _not_here(prefix: str, name: str) -> str:
    by_hand = f"ip route change {prefix} ... congctl {name}" if name else "ip route change"
    return f"route {prefix}: has what can't be written again from here: {by_hand}"


def _find(kernel: Any, prefix: str) -> Any:
    """Finds the route of the main table that is taken first; None if there is none."""
    network = ipaddress.ip_network(prefix)
    family = socket.AF_INET if network.version == 4 else socket.AF_INET6
    found = [
        one
        for one in kernel.get_routes(family=family, table=_MAIN)
        if one["dst_len"] == network.prefixlen
        and one["tos"] == 0
        and (one.get_attr("RTA_DST") or str(network.network_address))
        == str(network.network_address)
    ]
    return min(found, key=lambda one: one.get_attr("RTA_PRIORITY") or 0, default=None)


def _control_of(route: Any) -> str:
    metrics = route.get_attr("RTA_METRICS")
    return str((metrics and metrics.get_attr("RTAX_CC_ALGO")) or "")


def _plain(route: Any) -> dict[str, Any]:
    """A route's attributes without what the kernel only tells."""
    found = {key: value for key, value in route["attrs"] if key not in _TOLD_ONLY}
    if "RTA_MULTIPATH" in found:
        found["RTA_MULTIPATH"] = [
            {
                "oif": hop["oif"],
                "hops": hop["hops"],
                "flags": hop["flags"] & _ONLINK,
                "attrs": [tuple(pair) for pair in hop["attrs"]],
            }
            for hop in found["RTA_MULTIPATH"]
        ]
    return found


def _metrics(route: Any) -> list[tuple[str, Any]]:
    metrics = route.get_attr("RTA_METRICS")
    pairs = [tuple(pair) for pair in (metrics["attrs"] if metrics else [])]
    return [(key, value) for key, value in pairs if key != "RTAX_CC_ALGO"]


def _rest(route: Any) -> tuple[str, str]:
    """What a change of the control leaves alone."""
    attributes = {k: v for k, v in _plain(route).items() if k != "RTA_METRICS"}
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
    attributes = {key: value for key, value in _plain(route).items() if key != "RTA_METRICS"}
    message["attrs"] = list(attributes.items())
    if metrics:
        message["attrs"].append(("RTA_METRICS", {"attrs": metrics}))
    return message
