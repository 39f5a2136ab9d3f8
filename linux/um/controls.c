// SPDX-License-Identifier: GPL-2.0-only
/* The Westwood family in the machine's kernel: the rows of the catalogue marked WW_OURS. */
#include "hosts.h"

#undef WW_TABLE /* the hosts take it for a control in a file */
#include "../bpf/programs.h"

#define WW_SETS_CWND(ALGORITHM, RECOVERY)                 \
    ((WW_##ALGORITHM##_TRAITS & WW_OWNS_RECOVERY) != 0 || \
     WW_RECOVERY_##RECOVERY == WW_RECOVERY_RATE_HALVING)

#define WW_CONTROL(cc, protocol, ALGORITHM, RECOVERY) \
    WW_OPERATIONS(cc, WW_NUMBER_##cc, protocol, WW_SETS_CWND(ALGORITHM, RECOVERY))
WW_CONTROLS
#undef WW_CONTROL

static int __init register_controls(void) {
    int error = 0;

#define WW_CONTROL(cc, ...) error = error ?: tcp_register_congestion_control(&cc);
    WW_CONTROLS
#undef WW_CONTROL
    return error;
}
late_initcall(register_controls);
