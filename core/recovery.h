/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Computes how many segments fast recovery sends on each ACK, for any congestion control that sets
 * ssthresh. The host finds the losses, keeps the scoreboard and sends while its pipe is below cwnd.
 *
 * PRR (RFC 9937, which obsoletes RFC 6937), section 6:
 *
 *   entry    RecoverFS = FlightSize - SACKed before + cumulatively acknowledged now
 *   an ACK   prr_delivered += DeliveredData
 *            inflight > ssthresh  sndcnt = ceil(prr_delivered ssthresh / RecoverFS) - prr_out
 *            otherwise            sndcnt = max(prr_delivered - prr_out, DeliveredData)
 *                                 if the ACK is safe (new data, no further loss) sndcnt += 1
 *                                 sndcnt = min(ssthresh - inflight, sndcnt)
 *            prr_out = 0 and sndcnt = 0: sndcnt = 1, the fast retransmit
 *            cwnd = inflight + sndcnt
 *   a segment sent   prr_out += 1
 *   exit     cwnd = ssthresh
 *
 * Rate halving (Dell'Aera 2003, 2.2; Linux 2.4, tcp_cwnd_down): cwnd falls by one for every two ACKs and
 * never below the floor: BWE*RTTmin for Westwood+, ssthresh for the others. At the end cwnd is the floor.
 * Above the floor, cwnd is at most in flight + 1, so that segments that the scoreboard takes off the pipe at
 * once do not cause a burst. Linux 2.4 applies this limit below the floor too; here the paper's "we do not
 * allow cwnd to become smaller" holds. An ACK that stands for n segments (a receiver with GRO) counts as n
 * ACKs: cwnd falls by n / 2 and is at most in flight + n.
 *
 * Segments are counted, not bytes: all but a transfer's last are full.
 */
#ifndef WW_RECOVERY_H
#define WW_RECOVERY_H

#include "arith.h"

struct ww_prr {
    uint32_t recover_fs; /* segments in flight when recovery began, at least 1 */
    uint32_t delivered;  /* segments delivered since then */
    uint32_t out;        /* segments sent since then */
};

static inline void ww_prr_enter(struct ww_prr *prr, uint32_t recover_fs) {
    prr->recover_fs = ww_max_u32(recover_fs, 1);
    prr->delivered = 0;
    prr->out = 0;
}

/*
 * Returns the cwnd after an ACK that delivered `delivered` segments. The product is below 2^28 *
 * 2^31.
 */
static inline uint32_t ww_prr_on_ack(struct ww_prr *prr, uint32_t cwnd, uint32_t ssthresh,
                                     uint32_t in_flight, uint32_t delivered, bool is_safe) {
    if (delivered == 0) return cwnd;
    prr->delivered = (uint32_t)ww_min_u64((uint64_t)prr->delivered + delivered, UINT32_MAX);
    uint64_t send = 0;
    if (in_flight > ssthresh) {
        const uint64_t may =
            ww_div((uint64_t)prr->delivered * ssthresh + prr->recover_fs - 1, prr->recover_fs);
        send = may > prr->out ? may - prr->out : 0;
    } else {
        send = prr->delivered > prr->out ? prr->delivered - prr->out : 0;
        if (send < delivered) send = delivered;
        if (is_safe) send++;
        send = ww_min_u64(ssthresh - in_flight, send);
    }
    if (prr->out == 0 && send == 0) send = 1;
    return (uint32_t)ww_min_u64(in_flight + send, WW_CWND_MAX);
}

/*
 * Returns the cwnd after an ACK that counts as `acks` ACKs. `count` keeps the odd one for the next
 * call.
 */
static inline uint32_t ww_rate_halving_on_ack(uint32_t *count, uint32_t cwnd, uint32_t floor,
                                              uint32_t in_flight, uint32_t acks) {
    const uint64_t counted = (uint64_t)*count + acks;
    *count = (uint32_t)counted & 1;
    cwnd = ww_max_u32((uint32_t)ww_minus(cwnd, counted >> 1), ww_min_u32(cwnd, floor));
    cwnd = (uint32_t)ww_min_u64(cwnd, (uint64_t)in_flight + acks);
    return ww_max_u32(cwnd, floor);
}

#endif
