/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Counts the segments that an ACK says were newly delivered, by bookkeeping of duplicate, delayed and
 * cumulative ACKs (Mascolo 2001, "Delayed and Cumulative ACKs"; CountAck of Gangadhar 2013, 3.2.2).
 *
 *   duplicate ACK                       accounted_for += 1, counts 1; += n and n where the host knows
 *                                       that it stands for n (SACK, receivers with GRO)
 *   advances by 1                       counts 1
 *   advances by c > 1, c <= accounted   accounted_for -= c - 1, counts 1
 *   advances by c > accounted           counts c - accounted_for, accounted_for = 0
 *
 * Deviation. The pseudo-code subtracts c in the third branch. But of those c segments one is the
 * retransmission, which no duplicate ACK announced (it is the 1 that the branch counts), so only c - 1
 * were accounted for; taking c off makes each partial ACK of an episode count one segment too many at
 * its end. With c - 1 segments counted equal segments delivered. `literal_count` keeps the letter.
 *
 * Source:    Mascolo 2001, as slides on it and Gangadhar 2013 print it.
 * Limit:     a duplicate ACK caused by a segment that had arrived before (after go-back-N) counts
 *            as a delivery; nothing on the wire tells it apart without SACK.
 */
#ifndef WW_ACKCOUNT_H
#define WW_ACKCOUNT_H

#include "westwood_state.h"

/*
 * Returns what an ACK counts. On a duplicate acked_segments is how many segments it stands for; 0 if the
 * host can't tell.
 */
static inline uint32_t ww_count_ack(const struct ww_config *config, struct ww_westwood_state *state,
                                    bool is_dupack, uint32_t acked_segments) {
    if (is_dupack) {
        const uint32_t arrived = ww_max_u32(acked_segments, 1);
        state->accounted_for =
            (uint32_t)ww_min_u64((uint64_t)state->accounted_for + arrived, UINT32_MAX);
        return arrived;
    }
    if (acked_segments <= 1) return acked_segments;
    if (state->accounted_for >= acked_segments) {
        state->accounted_for -= config->literal_count ? acked_segments : acked_segments - 1;
        return 1;
    }
    acked_segments -= state->accounted_for;
    state->accounted_for = 0;
    return acked_segments;
}

#endif
