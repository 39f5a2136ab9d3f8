/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A user's control (docs/your-own-control.md) as a congestion control for Linux. It is compiled when it is loaded:
 *
 *   WW_OWN_FILE   the user's file, in quotes: own.h
 *   WW_OWN_NAME   the control's name in the kernel, in quotes
 *   WW_OWN_HOST   a header, in quotes, with a macro for each function of our headers, which renames it. So the control
 *                 may use any name
 *
 * The object shares the counters and the recorder's ring buffer with ww.bpf.o, so it is recorded in the same way.
 */
#include "own.h"

_Static_assert((ww_own_traits & (WW_NEEDS_RATE | WW_FOLLOWS_PACKETS)) == 0 ||
                   (ww_own_traits & WW_OWNS_RECOVERY) != 0,
               "in the kernel, WW_NEEDS_RATE and WW_FOLLOWS_PACKETS need WW_OWNS_RECOVERY");

#undef WW_CONTROL
#include WW_OWN_HOST
/* Our functions have other names now. */
#include "programs.h"

char LICENSE[] SEC("license") = "GPL";

WW_PROGRAMS(own, WW_OWN_NAME, WW_CONTROL_OWN + own_values.slot % WW_OWN_MAX, WW_PROTOCOL_COUNT,
            (ww_own_traits & WW_OWNS_RECOVERY) != 0)
