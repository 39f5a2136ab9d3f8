/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Westwood family as congestion controls for Linux, loaded at run time: the rows of the catalogue marked
 * WW_OURS. The arithmetic is in core/, the programs are in programs.h.
 */
#include "programs.h"
#include "trace.h"

char LICENSE[] SEC("license") = "GPL";

/* True, as a constant expression, if the control implements cong_control. */
#define WW_SETS_CWND(ALGORITHM, RECOVERY)                 \
    ((WW_##ALGORITHM##_TRAITS & WW_OWNS_RECOVERY) != 0 || \
     WW_RECOVERY_##RECOVERY == WW_RECOVERY_RATE_HALVING)

#define WW_CONTROL(cc_name, protocol, ALGORITHM, RECOVERY) \
    WW_PROGRAMS(cc_name, #cc_name, WW_NUMBER_##cc_name, protocol, WW_SETS_CWND(ALGORITHM, RECOVERY))
WW_CONTROLS
