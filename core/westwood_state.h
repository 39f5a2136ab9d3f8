/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The state of a connection of the Westwood family: counted ACKs (ackcount.h), the open sample
 * (estimator.h), the filter (filter.h), the plateau (westwood_family.h).
 */
#ifndef WW_WESTWOOD_STATE_H
#define WW_WESTWOOD_STATE_H

#include "arith.h"

#define WW_PENDING_MAX (UINT64_C(1) << 50) /* bytes: more in one interval are not counted */

struct ww_westwood_state {
    struct ww_common common;
    uint64_t mark_us;       /* when the open sample interval began */
    uint64_t pending_bytes; /* bytes acknowledged in the open interval */
    uint64_t filter_us;     /* time-varying Tustin: when the filter last stepped */
    uint64_t bandwidth;     /* filtered estimate, bytes/s << WW_BW_FRACTION */
    uint64_t raw;           /* last sample, bytes/s << WW_BW_FRACTION */
    uint64_t once;          /* WW_FILTER_EWMA_TWICE: the output of the first filter */
    uint32_t accounted_for; /* duplicate ACKs counted and not yet cumulatively acknowledged */
    uint32_t rtt_min_us;    /* UINT32_MAX before the first RTT */
    uint32_t last_rtt_us;   /* 0 before the first RTT */
    uint32_t samples;       /* bandwidth samples so far, saturating */
    uint32_t plateau;       /* Newssthresh of Frikha 2005, segments; 0: not on a plateau */
    uint32_t counter;       /* New increment of Frikha 2005, whole segments */
    uint8_t divisor;        /* of ssthresh after a timeout, in quarters: `divided_timeouts` */
    bool interval_open;     /* mark_us is valid */
    bool rtt_min_stale;     /* the next RTT replaces rtt_min_us */
};

#endif
