/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Careful Resume (RFC 9959): a connection takes up half of the capacity that an earlier one has measured on its path,
 * resume_cwnd and resume_rtt (saved_cwnd, saved_rtt), and validates it before it goes on.
 *
 *   Reconnaissance  normal control, until an ACK "acknowledges all the initial data (usually the IW) without reported
 *                   congestion" and cwnd limits the sender                                                        3.2
 *   no resume       congestion before; "minimum RTT ... less than or equal to (saved_rtt / 2)", or more than ten times
 *                   saved_rtt (4.2.1); a cwnd that is as large already
 *   Unvalidated     PipeSize = flight_size, cwnd = jump_cwnd = saved_cwnd / 2, not increased, "MUST use pacing based on
 *                   the current RTT", jump_cwnd / RTT (4.3.2), until "the flight_size equals the CWND", an ACK for
 *                   "the first packet number (or higher) that was sent" in it, or one RTT has passed              3.3
 *   then            if flight_size < IW or <= PipeSize, cwnd = PipeSize, at least IW, and normal control again; else
 *                   cwnd = flight_size and
 *   Validating      normal slow start, until the last unvalidated packet is acknowledged; then normal control     3.4
 *   Safe Retreat    congestion in the two phases before: cwnd = PipeSize / 2, not increased, until the last packet sent
 *                   when it began is acknowledged; then ssthresh = Beta PipeSize, Beta = 0.5 or CUBIC's 0.7       3.5
 *   PipeSize        + what each ACK reports as arrived, in these three phases, of what was sent before Safe Retreat
 *   timeout         "stops using Careful Resume", in any phase                                                    3.6
 *
 * Sections are those of draft-ietf-tsvwg-careful-resume-24, which became the RFC.
 *
 * Deviations: segments instead of bytes. The settings stand for the store of saved parameters, so lifetime, endpoint,
 * max_jump and "Only one connection can use a specific set" (3.2) are the user's task; a flow with a count is several
 * connections. The host's recovery goes on in Safe Retreat until its own end. PRR (4.5: "not appropriate") only ever
 * sends less than the cwnd here while more is in flight. The floor of cwnd is min_cwnd.
 */
#ifndef WW_CAREFUL_RESUME_H
#define WW_CAREFUL_RESUME_H

#include "catalogue.h"
#include "rounds.h"

enum ww_resume_phase {
    WW_RECONNAISSANCE,
    WW_UNVALIDATED,
    WW_VALIDATING,
    WW_SAFE_RETREAT,
    WW_RESUME_OVER, /* Normal */
};

/* A zeroed state is the start. Times and counts wrap, but their differences stay right. */
struct ww_resume_state {
    uint32_t acked;         /* segments acknowledged so far, in order */
    uint32_t initial;       /* segments in flight when the first ACK arrived; 0: none has */
    uint32_t start_us;      /* when Unvalidated began */
    uint32_t start;         /* `delivered` then */
    uint32_t delivered;     /* segments so far, until Safe Retreat has drained the path */
    uint32_t flight;        /* flight_size then, with which PipeSize begins */
    uint32_t last;          /* `acked` when the last packet of this phase is acknowledged */
    uint32_t retreat;       /* cwnd in Safe Retreat */
    uint32_t retreat_start; /* `delivered` when it began */
    uint8_t phase;          /* enum ww_resume_phase */
    bool is_drained;        /* something has arrived that was sent in Safe Retreat */
};

static inline uint32_t ww_resume_pipe(const struct ww_resume_state *resume) {
    const uint64_t validated = ww_wrapping_sub(resume->delivered, resume->start);
    return (uint32_t)ww_min_u64(validated + resume->flight, WW_CWND_MAX);
}

/* Counts what an ACK brings, in any phase. */
static inline void ww_resume_count(struct ww_resume_state *resume, const struct ww_sample *sample) {
    resume->acked = ww_wrapping_add(resume->acked, sample->acked_segments);
    if (resume->phase == WW_SAFE_RETREAT && sample->newly_delivered != 0 &&
        ww_reached(sample->prior_delivered, resume->retreat_start))
        resume->is_drained = true;
    if (!resume->is_drained) resume->delivered = sample->delivered;
    if (resume->initial == 0 && sample->acked_segments != 0)
        resume->initial = ww_wrapping_add(resume->acked, sample->in_flight);
}

/* Returns whether the jump may begin with this ACK, or gives Careful Resume up. */
static inline bool ww_resume_is_confirmed(const struct ww_config *config,
                                          struct ww_resume_state *resume,
                                          const struct ww_window *window,
                                          const struct ww_sample *sample, uint32_t least_us) {
    if (!ww_reached(resume->acked, resume->initial) || !sample->is_cwnd_limited) return false;
    if (sample->rtt_us == 0) return false;
    const uint64_t saved_us = config->resume_rtt_us;
    const bool is_other_path = 2 * (uint64_t)least_us <= saved_us || least_us > 10 * saved_us;
    if (!is_other_path && window->cwnd < config->resume_cwnd / 2) return true;
    resume->phase = WW_RESUME_OVER;
    return false;
}

/* Leaves Unvalidated by one of its three ends. */
static inline void ww_resume_validate(struct ww_resume_state *resume, struct ww_window *window,
                                      const struct ww_sample *sample) {
    const uint32_t flight = sample->in_flight, pipe = ww_resume_pipe(resume);
    const bool is_sent = (uint64_t)flight + sample->acked_segments >= window->cwnd;
    const bool is_acked =
        sample->newly_delivered != 0 && ww_reached(sample->prior_delivered, resume->start);
    const uint32_t spent_us = ww_wrapping_sub((uint32_t)sample->now_us, resume->start_us);
    if (!is_sent && !is_acked && spent_us <= sample->srtt_us) return;
    const bool is_limited = flight < resume->initial || flight <= pipe;
    resume->phase = is_limited ? WW_RESUME_OVER : WW_VALIDATING;
    resume->last = ww_wrapping_add(resume->acked, flight);
    const uint32_t used = is_limited ? ww_max_u32(pipe, resume->initial) : flight;
    window->cwnd = ww_max_u32(ww_min_u32(used, window->cwnd), 1);
    window->pacing = 0;
}

/* Leaves Safe Retreat. Product: 2^28 * 7 < 2^31. */
static inline void ww_resume_end_retreat(const struct ww_config *config,
                                         struct ww_resume_state *resume, struct ww_window *window) {
    const uint32_t tenths = config->algorithm == WW_ALG_CUBIC ? 7 : 5;
    if (resume->phase != WW_SAFE_RETREAT) return;
    resume->phase = WW_RESUME_OVER;
    window->cwnd = ww_max_u32(ww_min_u32(window->cwnd, resume->retreat), 1);
    window->ssthresh = ww_max_u32(ww_resume_pipe(resume) * tenths / 10, config->min_cwnd);
}

/* Takes an ACK for new data, outside fast recovery, before the control does. */
static inline void ww_resume_on_ack(const struct ww_config *config, struct ww_resume_state *resume,
                                    struct ww_window *window, const struct ww_sample *sample) {
    if (resume->phase == WW_UNVALIDATED) ww_resume_validate(resume, window, sample);
    if (!ww_reached(resume->acked, resume->last)) return;
    if (resume->phase == WW_VALIDATING) resume->phase = WW_RESUME_OVER;
    ww_resume_end_retreat(config, resume, window); /* that a mark began */
}

/* Begins Unvalidated after the control has taken the ACK, and keeps cwnd in it. */
static inline void ww_resume_after_ack(const struct ww_config *config,
                                       struct ww_resume_state *resume,
                                       const struct ww_window *before, struct ww_window *window,
                                       const struct ww_sample *sample, uint32_t least_us) {
    if (resume->phase == WW_UNVALIDATED || resume->phase == WW_SAFE_RETREAT)
        window->cwnd = ww_min_u32(window->cwnd, before->cwnd);
    if (resume->phase != WW_RECONNAISSANCE) return;
    if (!ww_resume_is_confirmed(config, resume, window, sample, least_us)) return;
    resume->phase = WW_UNVALIDATED;
    resume->start_us = (uint32_t)sample->now_us;
    resume->start = sample->delivered;
    resume->flight = ww_min_u32(sample->in_flight, WW_CWND_MAX);
    window->cwnd = config->resume_cwnd / 2;
    window->pacing = ww_rate((uint64_t)window->cwnd * sample->mss, sample->rtt_us);
}

/* Takes a loss or a mark after the control has: retreats, or gives Careful Resume up. */
static inline void ww_resume_on_reduction(const struct ww_config *config,
                                          struct ww_resume_state *resume, struct ww_window *window,
                                          uint32_t in_flight) {
    const bool is_unvalidated = resume->phase == WW_UNVALIDATED || resume->phase == WW_VALIDATING;
    resume->phase = is_unvalidated ? WW_SAFE_RETREAT : WW_RESUME_OVER;
    if (!is_unvalidated) return;
    resume->last = ww_wrapping_add(resume->acked, in_flight);
    resume->retreat_start = resume->delivered;
    resume->retreat = ww_max_u32(ww_resume_pipe(resume) / 2, config->min_cwnd);
    window->cwnd = ww_min_u32(window->cwnd, resume->retreat);
    window->ssthresh = ww_min_u32(window->ssthresh, resume->retreat);
    window->pacing = 0;
}

#endif
