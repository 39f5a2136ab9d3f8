/* SPDX-License-Identifier: GPL-2.0-only */
/* What replay.bpf.c and ww-kernel share: the value of the map `replayed`. */
#ifndef WW_REPLAY_H
#define WW_REPLAY_H

#include "../../core/calls.h"

struct ww_replayed {
    struct ww_call call;
    struct ww_window window; /* before the call, then after it */
};

#endif
