/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Speeds up or ends slow start, as the setting slow_start says, around any control whose slow start is Reno's: westwood.h
 * calls this before and after the control.
 *
 *   standard                RFC 5681: a loss
 *   hystart, hystart-ns3    hystart.h, in every slow start; CUBIC has both, and HyStart++, itself
 *   hystart++               hystart_plus_plus.h, in the first slow start
 *   search                  search.h, in the first slow start
 *   rapid-start             rapid_start.h, in the first slow start and the recovery that ends it
 *   suss                    suss.h, in the first slow start
 *   careful-resume          careful_resume.h, in the first slow start and the recovery that ends it
 *
 * The first slow start ends with a loss, a mark or a timeout. An undo resumes it.
 *
 * The state lies beside the control's, because Westwood's and CUBIC's fill Linux's 104 bytes. Our programs for Linux
 * have the settings of their rows in catalogue.h, and so none of this.
 *
 * Deviation: around other controls HyStart takes every round trip for the smallest one. CUBIC leaves out those of the
 * first second after a loss.
 */
#ifndef WW_SLOW_START_H
#define WW_SLOW_START_H

#include "careful_resume.h"
#include "catalogue.h"
#include "hystart.h"
#include "rapid_start.h"
#include "reno.h"
#include "search.h"
#include "suss.h"

struct ww_start {
    union {
        struct ww_search_state search; /* the largest, so that it is all initialised */
        struct ww_hystart_state hystart;
        struct ww_hystart_plus_plus_state plus_plus;
        struct ww_rapid_start_state rapid;
        struct ww_suss_state suss;
        struct ww_resume_state resume;
    };
    uint32_t least_rtt_us; /* 0: none */
    uint32_t css_acks;     /* since the window last grew in CSS */
    bool over;             /* the first slow start has ended by a loss, a mark or a timeout */
    bool was_over;         /* before the last of them */
};

static inline void ww_start_init(struct ww_start *start) {
    const struct ww_start fresh = {{{0, 0, 0, 0, {0}, {0}}}, 0, 0, false, false};
    *start = fresh;
}

/* Returns whether slow_start is not the control's task. */
static inline bool ww_start_is_apart(const struct ww_config *config) {
    if (config->slow_start == WW_SLOW_START_STANDARD) return false;
    if (config->algorithm == WW_ALG_CUBIC) return config->slow_start >= WW_SEARCH;
    return (WW_RENO_STARTS >> config->algorithm & 1) != 0;
}

/* Returns whether it needs the rate part of ww_sample, and paces. */
static inline bool ww_start_needs_rate(const struct ww_config *config) {
    return config->slow_start >= WW_RAPID_START && ww_start_is_apart(config);
}

static inline bool ww_resumes(const struct ww_config *config) {
    return config->slow_start == WW_CAREFUL_RESUME && config->resume_cwnd != 0;
}

/* Takes an ACK before the control does. It may end slow start. */
static inline void ww_start_on_ack(const struct ww_config *config, struct ww_start *start,
                                   struct ww_window *window, const struct ww_sample *sample) {
    const uint32_t rtt_us = config->slow_start == WW_HYSTART_NS3 ? sample->srtt_us : sample->rtt_us;
    if (rtt_us != 0) start->least_rtt_us = ww_least_rtt(start->least_rtt_us, rtt_us);
    if (ww_has_hystart(config)) ww_count_acked(&start->hystart.rounds, sample);
    if (config->slow_start == WW_RAPID_START) {
        ww_rapid_count(&start->rapid, sample);
        window->pacing = 0;
    }
    if (config->slow_start == WW_SUSS) {
        ww_count_acked(&start->suss.hystart.rounds, sample);
        if (start->over) window->pacing = 0;
    }
    if (ww_resumes(config)) {
        ww_resume_count(&start->resume, sample);
        if (ww_may_grow(sample)) ww_resume_on_ack(config, &start->resume, window, sample);
    }
    if (!ww_may_grow(sample) || window->cwnd >= window->ssthresh) return;
    const struct ww_hystart_delays delays = {rtt_us, sample->srtt_us, start->least_rtt_us};
    if (ww_has_hystart(config)) {
        ww_hystart_on_ack(config, &start->hystart, &delays, window, sample);
    } else if (start->over) {
        return;
    } else if (config->slow_start == WW_SEARCH) {
        ww_search_on_ack(config, &start->search, window, sample);
    } else if (config->slow_start == WW_RAPID_START) {
        ww_rapid_on_ack(&start->rapid, window, sample, start->least_rtt_us);
    } else if (config->slow_start == WW_SUSS) {
        ww_suss_on_ack(config, &start->suss, &delays, window, sample);
    } else if (config->slow_start == WW_HYSTART_PLUS_PLUS) {
        ww_hystart_plus_plus_on_ack(config, &start->plus_plus, window, sample);
    }
}

/* Takes back what the control has added, in conservative slow start three times in four, or adds more. */
static inline void ww_start_after_ack(const struct ww_config *config, struct ww_start *start,
                                      const struct ww_window *before, struct ww_window *window,
                                      const struct ww_sample *sample) {
    if (ww_resumes(config) && ww_may_grow(sample))
        ww_resume_after_ack(config, &start->resume, before, window, sample, start->least_rtt_us);
    if (start->over || before->cwnd >= before->ssthresh) return;
    if (config->slow_start == WW_SUSS) ww_suss_after_ack(&start->suss, before, window);
    if (window->cwnd <= before->cwnd) return;
    if (config->slow_start == WW_RAPID_START)
        ww_rapid_after_ack(&start->rapid, before, window, start->least_rtt_us);
    if (config->slow_start == WW_HYSTART_PLUS_PLUS &&
        !ww_css_may_grow(&start->plus_plus, &start->css_acks))
        window->cwnd = before->cwnd;
}

static inline void ww_start_end(struct ww_start *start) {
    start->was_over = start->over;
    start->over = true;
}

/* Takes a loss or a mark before the control does. */
static inline void ww_start_before_reduction(const struct ww_config *config, struct ww_start *start,
                                             struct ww_window *window, uint32_t in_flight,
                                             bool is_mark) {
    if (config->slow_start == WW_RAPID_START && !start->over && !is_mark)
        ww_rapid_on_loss(&start->rapid, window);
    if (config->slow_start == WW_SUSS && !start->over)
        ww_suss_on_reduction(&start->suss, window, in_flight);
    ww_start_end(start);
}

/* Takes it after the control has. */
static inline void ww_start_after_reduction(const struct ww_config *config, struct ww_start *start,
                                            struct ww_window *window, uint32_t in_flight) {
    if (ww_resumes(config)) ww_resume_on_reduction(config, &start->resume, window, in_flight);
}

static inline void ww_start_on_undo(const struct ww_config *config, struct ww_start *start) {
    start->over = start->was_over;
    if (config->slow_start == WW_RAPID_START) start->rapid.recovery = WW_RAPID_NONE;
    if (config->slow_start == WW_SUSS) start->suss.slowed = true;
    if (ww_resumes(config)) start->resume.phase = WW_RESUME_OVER;
}

static inline void ww_start_on_rto(const struct ww_config *config, struct ww_start *start,
                                   bool repeated) {
    if (!repeated) ww_start_end(start);
    if (ww_resumes(config)) start->resume.phase = WW_RESUME_OVER;
    if (ww_has_hystart(config)) start->hystart.done = false;
}

#endif
