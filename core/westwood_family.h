/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Westwood and Westwood+: after a loss the window becomes what the path was measured to carry.
 *
 *   3 DUPACKs   ssthresh = max(2, BWE * RTTmin / MSS)
 *               cwnd = min(cwnd, ssthresh)        Westwood: Mascolo 2001; Gangadhar 2013, 3.2.2 DupAck
 *               cwnd = ssthresh                   Westwood+: Dell'Aera 2003, 2.1
 *   timeout     ssthresh = max(2, BWE * RTTmin / MSS), cwnd = 1
 *   ACKs        as Reno
 *
 * Which of the two it is, is the estimator's sampler and filter: see presets.h.
 * Before the first sample there is nothing to set a window from: the floor of 2 segments, as in
 * Linux. Deviation: Mascolo 2001 states the floor for timeouts only; a window of 0 cannot be meant.
 */
#ifndef WW_WESTWOOD_FAMILY_H
#define WW_WESTWOOD_FAMILY_H

#include "estimator.h"

/* BWE * RTTmin / MSS, rounded down: a part of a segment cannot be in flight. */
static inline uint32_t ww_westwood_ssthresh(const struct ww_config *config,
                                            const struct ww_state *state, uint64_t now_us,
                                            uint32_t mss) {
    if (state->samples == 0 || state->rtt_min_us == UINT32_MAX) return config->min_cwnd;
    const uint64_t pipe_bytes =
        ww_bytes_in(ww_filter_read(config, state, now_us), state->rtt_min_us);
    const uint64_t segments = ww_min_u64(ww_div(pipe_bytes, mss), WW_CWND_MAX);
    return ww_max_u32((uint32_t)segments, config->min_cwnd);
}

#endif
