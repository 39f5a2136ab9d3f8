/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copa: the rate is steered to 1 / (delta dq), where dq is the queueing time (Arun & Balakrishnan 2018)
 *
 *   dq = RTTstanding - RTTmin       RTTstanding: smallest in srtt / 2; RTTmin: smallest in 10 s       2.1
 *   target = 1 / (delta dq)         delta = 1/2                                                       2.1
 *   an ACK   cwnd += v / (delta cwnd) if cwnd / RTTstanding <= target, else cwnd -= v / (delta cwnd)  2.1, step 3
 *   once a window, cwnd is compared with that a window before: a direction, up or down                2.1, step 4
 *            v doubles if the direction stays, once it has stayed for three windows; else v = 1
 *   slow start  cwnd doubles each window, until cwnd / RTTstanding > target                           2.1
 *   pacing   2 cwnd / RTTstanding                                                                     2.1
 *   beside others that fill the queue: dq was never below 0.1 (RTTmax - RTTmin) in 5 round trips,     2.2
 *            RTTmax the largest of 4 round trips; then 1 / delta += 1 a window, halved by a loss
 *   a loss   otherwise changes nothing
 *
 * In equilibrium the queue of n flows swings between 0 and 2.5 n / delta segments in 5 round trips, n / delta on
 * average (3, Dynamics of Copa).
 *
 * Limit: in a very deep queue, several flows that start one after another can take each other for buffer-fillers.
 *
 * Source: V. Arun, H. Balakrishnan: Copa: practical delay-based congestion control for the Internet, NSDI 2018. Read
 *   also in the authors' genericCC.
 * Deviations: the windows of the smallest and largest round trips are two halves, so they cover between one half and
 *   the whole of the time. A queue of one segment counts as nearly empty, because queues have whole segments.
 *   Slow start waits while ACKs give no round trip, as in recovery without timestamps: it would not see the queue.
 *   v / delta is at most cwnd, as in genericCC. After a timeout cwnd is 1 and slow start
 *   begins again: the paper says nothing of timeouts.
 */
#define WW_STATE copa
#define WW_PARAMETERS(X)                                                   \
    X(per_delta, 2, 1, 1000, "1 / delta, segments that wait in the queue") \
    X(competes, 1, 0, 1, "1: a smaller delta beside others that fill the queue")
#define WW_QUANTITIES(X)               \
    X(queueing_us, "us", "dq")         \
    X(velocity, "1", "v")              \
    X(wanted, "segments", "1 / delta") \
    X(competing, "1", "1 beside others that fill the queue")
#include "control.h"
#include "rounds.h"

#define SLOW_US 5000000u /* half of RTTmin's window */
#define STEADY 3u        /* windows in one direction before v doubles */
#define FLOOR 2u

/* The smallest or largest in this half of a window and in the one before. */
struct extreme {
    uint32_t since_us; /* when this half began */
    uint32_t now, before;
};

struct copa {
    struct ww_common common;
    uint32_t fraction; /* of cwnd, in 2^-32 segments */
    struct ww_rounds rounds;
    struct extreme standing, least, most;
    uint32_t empty_us; /* when the queue was last nearly empty */
    uint32_t compared; /* cwnd when the window of data began */
    uint32_t v;
    uint32_t per_delta;
    uint8_t steady; /* windows in the present direction, up to STEADY */
    bool is_up, has_left_slow_start, is_competing;
};

static void init(const struct ww_config *config, struct copa *state) {
    state->v = 1;
    state->per_delta = ww_parameters(config)->per_delta;
}

static uint32_t least_of(const struct extreme *extreme) {
    return ww_min_u32(extreme->now, extreme->before);
}

static uint32_t most_of(const struct extreme *extreme) {
    return ww_max_u32(extreme->now, extreme->before);
}

/* Adds a round trip to the half of a window that lasts half_us; `none` is that of an empty half. */
static void add(struct extreme *extreme, uint32_t now_us, uint32_t rtt_us, uint32_t half_us,
                uint32_t none) {
    const uint32_t age = ww_wrapping_sub(now_us, extreme->since_us);
    if (extreme->now != 0 && age <= half_us) {
        extreme->now =
            none == 0 ? ww_max_u32(extreme->now, rtt_us) : ww_min_u32(extreme->now, rtt_us);
        return;
    }
    extreme->before = extreme->now != 0 && age / 2 <= half_us ? extreme->now : none;
    extreme->now = rtt_us;
    extreme->since_us = now_us;
}

static uint32_t queueing_us(const struct copa *state) {
    return (uint32_t)ww_minus(least_of(&state->standing), least_of(&state->least));
}

static void measure(struct copa *state, uint32_t cwnd, const struct ww_sample *ack) {
    const uint32_t now_us = (uint32_t)ack->now_us, rtt_us = ack->rtt_us;
    const uint32_t srtt_us = ack->srtt_us == 0 ? rtt_us : ack->srtt_us;
    const bool is_first = state->least.now == 0;
    add(&state->standing, now_us, rtt_us, srtt_us / 4, UINT32_MAX);
    add(&state->least, now_us, rtt_us, SLOW_US, UINT32_MAX);
    add(&state->most, now_us, rtt_us, (uint32_t)ww_min_u64(2 * (uint64_t)srtt_us, UINT32_MAX), 0);
    const uint64_t range = ww_minus(most_of(&state->most), least_of(&state->least));
    const uint64_t dq = queueing_us(state);
    const bool is_short = dq * cwnd <= least_of(&state->standing); /* one segment waits, or none */
    if (is_first || 10 * dq <= range || is_short) state->empty_us = now_us;
    const uint64_t past = ww_wrapping_sub(now_us, state->empty_us);
    state->is_competing = past > 5 * (uint64_t)srtt_us;
}

/* Sets 1 / delta and v once a window of data. */
static void end_window(const struct ww_config *config, struct copa *state, uint32_t cwnd) {
    const struct ww_parameters *parameters = ww_parameters(config);
    if (parameters->competes && state->is_competing)
        state->per_delta = ww_min_u32(state->per_delta + 1, WW_CWND_MAX);
    else
        state->per_delta = parameters->per_delta;
    const bool is_up = cwnd > state->compared;
    if (is_up == state->is_up) {
        if (state->steady < STEADY)
            state->steady++;
        else
            state->v = ww_min_u32(state->v, WW_CWND_MAX) * 2;
    } else {
        state->steady = 0;
        state->v = 1;
    }
    state->is_up = is_up;
    state->compared = cwnd;
}

static void steer(struct copa *state, struct ww_window *window, uint32_t segments, bool is_up) {
    const uint64_t step = (uint64_t)state->v * state->per_delta; /* below 2^58 */
    const uint64_t each = ww_div(ww_min_u64(step, window->cwnd) << 32, window->cwnd);
    const uint64_t wide = ((uint64_t)window->cwnd << 32) + state->fraction;
    const uint64_t moved = each * segments; /* below 2^48 */
    const uint64_t next = is_up ? wide + moved : ww_minus(wide, moved);
    window->cwnd = (uint32_t)ww_min_u64(ww_max_u64(next >> 32, FLOOR), WW_CWND_MAX);
    state->fraction = (uint32_t)next;
}

static void on_ack(const struct ww_config *config, struct copa *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    if (ack->rtt_us != 0) measure(state, window->cwnd, ack);
    if (ww_round_ends(&state->rounds, ack)) end_window(config, state, window->cwnd);
    if (state->least.now == 0) return;
    const uint32_t segments = ww_min_u32(ack->newly_delivered, UINT16_MAX);
    const uint64_t standing_us = least_of(&state->standing);
    const uint64_t waited = (uint64_t)window->cwnd * queueing_us(state);
    const bool is_up = waited <= state->per_delta * standing_us; /* cwnd / RTTstanding <= target */
    const bool is_full = ack->is_cwnd_limited || !config->validate_cwnd;
    if (!is_up) state->has_left_slow_start = true;
    if (!state->has_left_slow_start) {
        if (is_full && ack->rtt_us != 0)
            window->cwnd = ww_min_u32(window->cwnd + segments, WW_CWND_MAX);
    } else if (is_full || !is_up) {
        steer(state, window, segments, is_up);
    }
    window->pacing = ww_rate(2 * (uint64_t)window->cwnd * ack->mss, standing_us);
}

static void on_loss(const struct ww_config *config, struct copa *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_remember(&state->common, window);
    if (ww_parameters(config)->competes && state->is_competing)
        state->per_delta = ww_max_u32(state->per_delta / 2, ww_parameters(config)->per_delta);
}

static void on_rto(const struct ww_config *config, struct copa *state, struct ww_window *window,
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated) {
    ww_reno_on_rto(&state->common, window, WW_SSTHRESH_INFINITE, repeated);
    state->has_left_slow_start = false;
    state->fraction = 0;
    state->v = 1;
}

static void observe(const struct ww_config *config, const struct copa *state, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->queueing_us = state->least.now == 0 ? 0 : queueing_us(state);
    seen->velocity = state->v;
    seen->wanted = state->per_delta;
    seen->competing = state->is_competing;
}

WW_CONTROL("Copa", WW_NEEDS_RATE | WW_OWNS_RECOVERY, .init = init, .on_ack = on_ack,
           .on_loss = on_loss, .on_rto = on_rto, .observe = observe)
