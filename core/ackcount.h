/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Counts the segments that an ACK reports as newly delivered, with duplicate, delayed and cumulative ACKs
 * (Mascolo 2001, "Delayed and Cumulative ACKs"; CountAck of Gangadhar 2013, 3.2.2).
 *
 *   duplicate ACK                       accounted_for += 1, counts 1; += n and n where the host knows
 *                                       that it stands for n (SACK, receivers with GRO)
 *   advances by 1                       counts 1
 *   advances by c > 1, c <= accounted   accounted_for -= c - 1, counts 1
 *   advances by c > accounted           counts c - accounted_for, accounted_for = 0
 *
 * Deviation. The pseudo-code subtracts c in the third branch. But one of those c segments is the
 * retransmission, which no duplicate ACK announced (the branch counts it as 1), so only c - 1 were
 * accounted for. Subtracting c makes each partial ACK of an episode count one segment too many at the end
 * of the episode. With c - 1, the segments counted equal the segments delivered. `literal_count` follows
 * the pseudo-code.
 *
 * Deviation. Gangadhar 2013, 3.2.2 says in words that segments of the third branch "should not be accounted
 * again"; the slides' pseudo-code, and this function, count 1. Counting 0 changes the goodput of westwood-ns3 and
 * westwood+-ns3 by -1.4 to 0 % on Table 1's path at 0.05 to 5 % loss (10 seeds of 300 s).
 *
 * The slides count a duplicate ACK as a segment of average size. Segments of a connection have one size here,
 * except its last, so that is the same.
 *
 * Source:    Mascolo 2001, as printed in slides about it and in Gangadhar 2013.
 * Limit:     a duplicate ACK for a segment that had already arrived (after go-back-N) counts as a
 *            delivery. Without SACK nothing on the wire shows the difference.
 */
#ifndef WW_ACKCOUNT_H
#define WW_ACKCOUNT_H

#include "westwood_state.h"

/*
 * Returns what an ACK counts. For a duplicate, acked_segments is the number of segments it stands
 * for, or 0 if the host does not know.
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
