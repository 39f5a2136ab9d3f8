# SPDX-License-Identifier: BSD-3-Clause
"""Writes the file of a new control that does what a control of the catalogue does."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from westwood import _engine
from westwood.control import gallery
from westwood.errors import InputError, suggestion

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# What the name of a struct can't be in a file with control.h.
_RESERVED = re.compile(
    r"_|ww_|(auto|bool|break|case|char|const|continue|default|do|double|else|enum|extern|false"
    r"|float|for|goto|if|inline|int|long|register|restrict|return|short|signed|sizeof|static"
    r"|struct|switch|true|typedef|union|unsigned|void|volatile|while|asm|typeof)\Z"
)
# The headers of algorithms that have not just their own.
_HEADERS = {"westwood": ("westwood_family",), "westwood_cubic": ("cubic", "westwood_cubic")}
_FOLLOWERS = ("bbr3",)  # which hear of each packet
# The settings of an algorithm that profiles set, so that a control has them as parameters.
SETTINGS = {
    "cubic": ("slow_start", "cubic_rules"),
    "bbr": ("bbr_rules",),
    "bbr3": ("bbr3_drain", "bbr3_down", "bbr3_loss", "bbr3_startup_losses", "bbr3_probe_rtt"),
    "westwood": ("bound_samples",),
}
# The last choice that a control has itself: the host adds SEARCH, to controls of the catalogue.
_LAST = {"slow_start": "hystart++"}
_UNITS = {"_permille": ", thousandths", "_us": ", microseconds"}  # by the end of a field
_TYPES = {"SWITCH": "bool", "SPAN": "uint32_t", "SHARE": "uint16_t"} | dict.fromkeys(
    ("COUNT", "CHOICE"), "uint8_t"
)
_BY_ALGORITHM = {row["name"]: row["algorithm"] for row in _engine.PROTOCOLS}
_RENO = "reno"

_HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * $name: $what
 * docs/your-own-control.md of westwood explains it. Try it: westwood run path --cc ./$name.c
 */
#define WW_STATE $name
"""
_OF_RENO = (
    _HEAD
    + """\
#define WW_PARAMETERS(X)                                              \\
    X(gain, 1, 1, 100, "Segments that cwnd grows by in a round trip") \\
    X(kept, 500, 1, 999, "Share of the data in flight that a loss leaves, thousandths")
#define WW_QUANTITIES(X) X(counted, "segments", "Counted towards the next increment of cwnd")
#include "control.h"

/* The state of a connection; all 0 at its start. */
struct $name {
    struct ww_common common;
};

/* An ACK arrived, duplicate or not. */
static void on_ack(const struct ww_config *config, struct $name *own, struct ww_window *window,
                   const struct ww_sample *ack) {
    if (!ww_may_grow(ack)) return;
    ww_grow(config, &own->common, window, ack);
    for (uint32_t i = 1; i < ww_parameters(config)->gain && i < 100; i++)
        ww_grow(config, &own->common, window, ack);
}

/* Duplicate ACKs or SACK revealed a loss. A congestion mark and a timeout also come here. */
static void on_loss(const struct ww_config *config, struct $name *own, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    const uint64_t kept = (uint64_t)in_flight * ww_parameters(config)->kept / 1000;
    window->ssthresh = ww_max_u32((uint32_t)ww_min_u64(kept, WW_CWND_MAX), config->min_cwnd);
    window->cwnd = window->ssthresh;
}

/* What traces show. */
static void observe(const struct ww_config *config, const struct $name *own, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->counted = own->common.cwnd_count;
}

WW_CONTROL("$label", 0, .on_ack = on_ack, .on_loss = on_loss, .observe = observe)
"""
)
_OF_OTHERS = (
    _HEAD
    + """\
#define WW_PARAMETERS(X) \\
    X(kept, 1000, 1, 2000, "What a loss leaves, in thousandths of what $like leaves")$parameters
#include "control.h"

$includes

/* The state of a connection; all 0 before init. */
struct $name {
    union {
        struct ww_common common;
        struct ww_${algorithm}_state $algorithm;
    };
};

${configured}static void init(const struct ww_config *config, struct $name *own) {
    WW_${ID}_INIT(&own->$algorithm);
}

/* An ACK arrived, duplicate or not. */
static void on_ack(const struct ww_config *config, struct $name *own, struct ww_window *window,
                   const struct ww_sample *ack) {
    WW_${ID}_ON_ACK($config, &own->$algorithm, window, ack);
}

/* Duplicate ACKs or SACK revealed a loss. */
static void on_loss(const struct ww_config *config, struct $name *own, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    WW_${ID}_ON_LOSS($config, &own->$algorithm, window, now_us, in_flight, mss);
    const uint32_t kept = ww_parameters(config)->kept;
    if (kept == 1000) return;
    window->ssthresh = (uint32_t)ww_min_u64((uint64_t)window->ssthresh * kept / 1000, WW_CWND_MAX);
    window->ssthresh = ww_max_u32(window->ssthresh, config->min_cwnd);
    window->cwnd = ww_min_u32(window->cwnd, window->ssthresh);
}

/* An ACK echoes a congestion mark. */
static void on_mark(const struct ww_config *config, struct $name *own, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    WW_${ID}_ON_MARK($config, &own->$algorithm, window, now_us, in_flight, mss);
}

/* The data outstanding at the loss is acknowledged. */
static void on_recovery_exit(const struct ww_config *config, struct $name *own,
                             struct ww_window *window, uint64_t now_us, uint32_t mss) {
    WW_${ID}_ON_RECOVERY_EXIT($config, &own->$algorithm, window, now_us, mss);
}

/* The retransmission timer expired; `repeated`: for the same segment. */
static void on_rto(const struct ww_config *config, struct $name *own, struct ww_window *window,
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated) {
    WW_${ID}_ON_RTO($config, &own->$algorithm, window, now_us, in_flight, mss, repeated);
}

/* The last loss proved spurious. */
static void on_undo(const struct ww_config *config, struct $name *own, struct ww_window *window) {
    WW_${ID}_ON_UNDO($config, &own->$algorithm, window);
}

/* The sender sends again, after it had nothing to send. */
static void on_restart(const struct ww_config *config, struct $name *own, uint64_t now_us) {
    WW_${ID}_ON_RESTART($config, &own->$algorithm, now_us);
}

/* The estimates that traces show. */
static struct ww_observation estimate(const struct ww_config *config, const struct $name *own,
                                      uint64_t now_us) {
    return WW_${ID}_OBSERVE($config, &own->$algorithm, now_us);
}
$following
WW_CONTROL("$label", WW_${ID}_TRAITS,$calls .like = WW_PROTOCOL_$PROTOCOL, .init = init,
           .on_ack = on_ack, .on_loss = on_loss, .on_mark = on_mark,
           .on_recovery_exit = on_recovery_exit, .on_rto = on_rto, .on_undo = on_undo,
           .on_restart = on_restart, .estimate = estimate)
"""
)

_FOLLOWING = """
/* A segment is about to be sent. */
static void on_packet_sent(const struct ww_config *config, struct $name *own,
                           struct ww_window *window, const struct ww_sent *sent) {
    WW_${ID}_ON_PACKET_SENT($config, &own->$algorithm, window, sent);
}

/* A segment was found lost. */
static void on_packet_lost(const struct ww_config *config, struct $name *own,
                           struct ww_window *window, const struct ww_lost *lost) {
    WW_${ID}_ON_PACKET_LOST($config, &own->$algorithm, window, lost);
}
"""
_CONFIGURED = """\
/* The configuration with the settings that are parameters here, which a profile sets. */
static const struct ww_config *configured(const struct ww_config *config, struct ww_config *made) {
    *made = *config;
%s    return made;
}
#define CONFIGURED configured(config, &(struct ww_config){0})

"""
_FOLLOWING_CALLS = """
           .on_packet_sent = on_packet_sent, .on_packet_lost = on_packet_lost,
          """


def models() -> list[str]:
    """Returns the protocols and the files of the gallery that a new control can be like."""
    return [*_BY_ALGORITHM, *gallery.names()]


def check_name(name: str) -> None:
    """Raises InputError unless the name can be a struct's in the file NAME.c."""
    if not _IDENTIFIER.match(name):
        problem = "expected a name of letters, digits and _, not starting with a digit"
        raise InputError(problem, key="NAME", value=name)
    if _RESERVED.match(name):
        problem = "expected a name that C and control.h leave free, such as mine"
        raise InputError(problem, key="NAME", value=name)


def like(protocol: str, name: str) -> str:
    """Returns the text of the file NAME.c of a control that does what the protocol does."""
    check_name(name)
    if protocol not in models():
        known = suggestion(protocol, models())
        raise InputError(f"no control to begin with, {known}", key="--like", value=protocol)
    if protocol in gallery.names():
        return _renamed(protocol, name)
    algorithm = _BY_ALGORITHM[protocol]
    is_reno = algorithm == _RENO
    headers = _HEADERS.get(algorithm, (algorithm,))
    follows = algorithm in _FOLLOWERS
    text = _OF_RENO if is_reno else _OF_OTHERS
    text = text.replace("$following", _FOLLOWING if follows else "")
    return Template(text.replace("$calls", _FOLLOWING_CALLS if follows else "")).substitute(
        _settings_of(protocol),
        name=name,
        label=_label(name),
        like=protocol,
        algorithm=algorithm,
        includes="\n".join(f'#include "{header}.h"' for header in headers),
        ID=algorithm.upper(),
        PROTOCOL=_engine.PROTOCOL_IDS[protocol],
        what="slow start, congestion avoidance, multiplicative decrease, like Reno (RFC 5681)."
        if is_reno
        else f"like {protocol}.",
    )


def _settings_of(protocol: str) -> dict[str, str]:
    """Returns what the file of a control has for the settings that are its parameters."""
    names = SETTINGS.get(_BY_ALGORITHM[protocol], ())
    declared = {row["name"]: row for row in _engine.SETTINGS if row["section"] == "cc"}
    usual = _engine.configure(protocol, {})
    parameters, assigned = "", ""
    for name in names:
        row = declared[name]
        value = getattr(usual, row["field"])
        number = row["choices"].index(value) if row["choices"] else int(value)
        choices = row["choices"]
        if name in _LAST:
            choices = choices[: choices.index(_LAST[name]) + 1]
        words = ", ".join(f"{place} {word}" for place, word in enumerate(choices))
        unit = next((unit for end, unit in _UNITS.items() if row["field"].endswith(end)), "")
        what = row["what"] + (f": {words}" if words else unit)
        least, most = int(row["least"]), len(choices) - 1 if choices else int(row["most"])
        parameters += f' \\\n    X({name}, {number}, {least}, {most}, \\\n      "{what}")'
        parameter = f"ww_parameters(config)->{name}"
        assigned += f"    made->{row['field']} = ({_TYPES[row['kind']]}){parameter};\n"
    if not names:
        return {"parameters": "", "configured": "", "config": "config"}
    configured = _CONFIGURED % assigned
    return {"parameters": parameters, "configured": configured, "config": "CONFIGURED"}


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _renamed(file: str, name: str) -> str:
    """Returns a file of the gallery as that of a control of this name."""
    text = (gallery.folder() / file).read_text(encoding="utf-8")
    state = re.escape(Path(file).stem)
    text = re.sub(rf"\b(struct|WW_STATE) {state}\b", rf"\1 {name}", text)
    return re.sub(r'WW_CONTROL\("[^"]*"', f'WW_CONTROL("{_label(name)}"', text)


def write(path: Path, protocol: str) -> None:
    """Writes the file; raises InputError if there is one."""
    save(path, like(protocol, path.stem))


def save(path: Path, text: str) -> None:
    """Writes a new file; raises InputError if there is one."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError("exists, expected a new file", value=str(path)) from None
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", value=str(path)) from None
