/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Every setting of a congestion control, declared once. A row generates the core's configuration and its
 * default, the engine's check, the binding, what a scenario accepts under `cc`, the attribute of ns-3's
 * WwTcpWestwood, the range that is fuzzed and the tables in docs/.
 *
 *   X(kind, name, default, least, most, controls, "what it does", "why that is the default")
 *
 *   kind            the field of ww_config          what a scenario writes
 *   SWITCH          bool NAME                       true or false
 *   COUNT           uint8_t NAME                    a whole number
 *   COUNT_OR_NONE   uint32_t NAME                   a whole number; 0 switches it off
 *   SPAN            uint32_t NAME_us                a time in whole microseconds, such as "50ms"
 *   SHARE           uint16_t NAME_permille          a fraction in whole thousandths, such as 0.9
 *   FACTOR_OR_NONE  uint16_t NAME_permille          a number in whole thousandths; 0 switches it off
 *   CHOICE          uint8_t NAME                    a word of the list WW_CHOICES_NAME
 *
 *   controls        which controls obey the setting
 *   WW_ONLY(ID)     one congestion control, with this ID in WW_ALGORITHMS (catalogue.h)
 *   WW_ALL_BUT(ID)  all congestion controls except this one; sets of them are joined by |
 *   WW_BY_HOST      the host sets it, because only the host knows its ACKs; users cannot set it
 *
 * Default and bounds are in the field's unit.
 */
#ifndef WW_SETTINGS_H
#define WW_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Hosts that can call through pointers, or know the table when they are compiled (WW_TABLE), also have controls that are
 * loaded while they run (loaded.h).
 */
#if defined(WW_TABLE) || !(defined(__bpf__) || defined(__FRAMAC__))
#define WW_LOADS_CONTROLS
#define WW_PARAMETERS_MAX 16 /* of a loaded control */
#endif

#define WW_TAU_MAX_US 60000000u        /* filter.h's overflow bounds depend on it */
#define WW_INTERVAL_MAX_US 3600000000u /* an hour */
#define WW_M_MAX 16u                   /* bounds the decay loop of the virtual null samples */

/* The samplers; estimator.h says when each takes a bandwidth sample. */
#define WW_CHOICES_sampler(X) \
    X(WW_PER_ACK, "per-ack")  \
    X(WW_PER_RTT, "per-rtt")  \
    X(WW_PER_RTT_TIMER, "per-rtt-timer")

/* The filters; filter.h has the equation by which each smooths the samples. */
#define WW_CHOICES_filter(X)                        \
    X(WW_FILTER_NONE, "none")                       \
    X(WW_FILTER_EWMA, "ewma")                       \
    X(WW_FILTER_TUSTIN_CONSTANT, "tustin-constant") \
    X(WW_FILTER_TUSTIN, "tustin")                   \
    X(WW_FILTER_EWMA_TWICE, "ewma-twice")           \
    X(WW_FILTER_TUSTIN_EVEN, "tustin-even")

/* How the first slow start grows and ends; slow_start.h lists the headers that say when. */
#define WW_CHOICES_slow_start(X)          \
    X(WW_SLOW_START_STANDARD, "standard") \
    X(WW_HYSTART_LINUX, "hystart")        \
    X(WW_HYSTART_NS3, "hystart-ns3")      \
    X(WW_HYSTART_PLUS_PLUS, "hystart++")  \
    X(WW_SEARCH, "search")                \
    X(WW_RAPID_START, "rapid-start")      \
    X(WW_SUSS, "suss")                    \
    X(WW_CAREFUL_RESUME, "careful-resume")

/* The controls with Reno's slow start, which `slow_start` may change. */
#define WW_RENO_STARTS \
    (WW_ONLY(RENO) | WW_ONLY(WESTWOOD) | WW_ONLY(CUBIC) | WW_ONLY(VEGAS) | WW_ONLY(VENO))

#define WW_CHOICES_cubic_rules(X)  \
    X(WW_RULES_RFC9438, "rfc9438") \
    X(WW_RULES_LINUX, "linux")     \
    X(WW_RULES_NS3, "ns3")

#define WW_CHOICES_bbr_rules(X)    \
    X(WW_BBR_RULES_DRAFT, "draft") \
    X(WW_BBR_RULES_LINUX, "linux")

#define WW_ENUMERATOR(id, word) id,
enum ww_sampler { WW_CHOICES_sampler(WW_ENUMERATOR) };
enum ww_filter { WW_CHOICES_filter(WW_ENUMERATOR) };
enum ww_start_rule { WW_CHOICES_slow_start(WW_ENUMERATOR) };
enum ww_cubic_rules { WW_CHOICES_cubic_rules(WW_ENUMERATOR) };
enum ww_bbr_rules { WW_CHOICES_bbr_rules(WW_ENUMERATOR) };
#undef WW_ENUMERATOR

#define WW_SETTINGS(X)                                                                             \
    X(SWITCH, byte_counting, true, 0, 1, WW_ALL_BUT(BBR) & WW_ALL_BUT(BBR3),                       \
      "Growth by the data acknowledged (RFC 3465, L = 2; L = 1 after a timeout) instead of once "  \
      "an ACK",                                                                                    \
      "RFC 5681, section 3.1 recommends counting the bytes acknowledged; limits of RFC 3465.")     \
    X(SWITCH, validate_cwnd, true, 0, 1, WW_ALL_BUT(BBR) & WW_ALL_BUT(BBR3),                       \
      "The window grows only while it limits the sender",                                          \
      "RFC 7661: a window that is not full does not grow.")                                        \
    X(COUNT, min_cwnd, 2, 1, 255, WW_ALL_BUT(BBR) & WW_ALL_BUT(BBR3),                              \
      "Floor of ssthresh, segments", "RFC 5681, equation 4.")                                      \
    X(COUNT, min_marked_cwnd, 1, 1, 255,                                                           \
      WW_ALL_BUT(BBR) & WW_ALL_BUT(BBR3) & WW_ALL_BUT(WESTWOOD_CUBIC),                             \
      "Floor of cwnd after a congestion mark, segments; at 1 the retransmission timer then paces", \
      "RFC 3168, section 6.1.2 and RFC 9438, section 4.6: one segment.")                           \
    X(SWITCH, batched_acks, false, 0, 1, WW_BY_HOST,                                               \
      "An ACK may stand for any number of segments, all of which count",                           \
      "Only hosts that merge ACKs (Linux with GRO) need it.")                                      \
    X(SWITCH, fractional_cwnd, false, 0, 1, WW_ONLY(RENO) | WW_ONLY(WESTWOOD) | WW_ONLY(VENO),     \
      "cwnd has a fraction, and congestion avoidance adds 1 / cwnd per ACK (RFC 5681, equation "   \
      "3)",                                                                                        \
      "Linux and BSD count the ACKs of a window. Adding fractions, as ns-2 does, is slower by "    \
      "half an ACK per window.")                                                                   \
    X(CHOICE, sampler, WW_PER_ACK, WW_PER_ACK, WW_PER_RTT_TIMER, WW_ONLY(WESTWOOD),                \
      "When a bandwidth sample is taken", "Mascolo 2001: one sample per ACK.")                     \
    X(CHOICE, filter, WW_FILTER_NONE, WW_FILTER_NONE, WW_FILTER_TUSTIN_EVEN, WW_ONLY(WESTWOOD),    \
      "How the samples are smoothed", "Gangadhar 2013, 3.2.2: by default the filter is disabled.") \
    X(SPAN, tau, 500000, 1, WW_TAU_MAX_US, WW_ONLY(WESTWOOD),                                      \
      "Time constant of the time-varying Tustin filter",                                           \
      "With m = 10 a constant interval of tau / m gives a = 19/21, the slides' 0.9.")              \
    X(COUNT_OR_NONE, m, 10, 2, WW_M_MAX, WW_ONLY(WESTWOOD),                                        \
      "A virtual null sample enters the Tustin filter after every tau / m of silence",             \
      "Mascolo 2001 requires at least 2; see tau. With tustin-even each ACK counts as tau / m of " \
      "time.")                                                                                     \
    X(SWITCH, null_trapezoid, false, 0, 1, WW_ONLY(WESTWOOD),                                      \
      "The first virtual null sample is a full step of the filter, which includes the previous "   \
      "sample",                                                                                    \
      "The decay in Mascolo 2001 does not include it; Valla 2002 does.")                           \
    X(SWITCH, null_at_timeout, false, 0, 1, WW_ONLY(WESTWOOD),                                     \
      "A timeout reads the estimate with the virtual null samples of the silence so far",          \
      "Valla 2002 computes null samples when an ACK arrives; Mascolo 2001 does not say.")          \
    X(COUNT_OR_NONE, max_counted, 0, 2, 255, WW_ONLY(WESTWOOD),                                    \
      "Maximum number of segments that an ACK counts for",                                         \
      "Mascolo 2001 has no bound; Valla 2002 counts at most two.")                                 \
    X(SWITCH, bound_samples, true, 0, 1, WW_ONLY(WESTWOOD),                                        \
      "A sample per ACK is at most the data in flight over the smallest RTT; the rest waits",      \
      "All data acknowledged within an RTT was in flight when it began, so no path is faster.")    \
    X(SHARE, alpha, 900, 0, 1000, WW_ONLY(WESTWOOD), "Pole a of the constant Tustin filter",       \
      "Gangadhar 2013, equation 1: 0.9.")                                                          \
    X(SPAN, min_interval, 50000, 1, WW_INTERVAL_MAX_US, WW_ONLY(WESTWOOD),                         \
      "Shortest window of the sampler per-rtt", "Dell'Aera 2003, 2.2.")                            \
    X(SWITCH, set_cwnd_on_loss, false, 0, 1, WW_ONLY(WESTWOOD),                                    \
      "A loss sets cwnd to ssthresh even if that raises it",                                       \
      "Mascolo 2001: cwnd only falls; Dell'Aera 2003, 2.1 sets it.")                               \
    X(SWITCH, seed_filter, false, 0, 1, WW_ONLY(WESTWOOD),                                         \
      "The first sample is the first estimate; otherwise the filter starts at 0",                  \
      "The papers' filters start at 0.")                                                           \
    X(SWITCH, literal_count, false, 0, 1, WW_ONLY(WESTWOOD),                                       \
      "Duplicate ACKs are counted exactly as in the pseudo-code",                                  \
      "The pseudo-code counts one segment too many per episode: see core/ackcount.h.")             \
    X(FACTOR_OR_NONE, cte, 0, 1000, 65000, WW_ONLY(WESTWOOD),                                      \
      "Divisor of the reduction in WestwoodNR+'s plateau after a loss",                            \
      "Only WestwoodNR+ has a plateau (Frikha 2005, equation 6).")                                 \
    X(SWITCH, set_at_exit, false, 0, 1, WW_ONLY(WESTWOOD),                                         \
      "When recovery completes, cwnd and ssthresh become the current BWE RTTmin",                  \
      "Only Linux does this (Dell'Aera 2003, 2.2; tcp_westwood.c).")                               \
    X(SWITCH, halve_on_loss, false, 0, 1, WW_ONLY(WESTWOOD),                                       \
      "Until recovery completes, ssthresh is half the flight, as in Reno",                         \
      "Only tcp_westwood.c does this.")                                                            \
    X(SPAN, rtt_tick, 1, 1, 1000000, WW_ONLY(WESTWOOD), "Clock tick to which RTTs are rounded up", \
      "RTTs are as exact as the host's. tcp_westwood.c uses jiffies (usecs_to_jiffies()).")        \
    X(SWITCH, counted_ticks, false, 0, 1, WW_ONLY(WESTWOOD),                                       \
      "An RTT is the number of clock ticks (rtt_tick) that pass, at least one",                    \
      "Only ns-2's clock works this way, and Valla 2002 uses its RTTs.")                           \
    X(SWITCH, divided_timeouts, false, 0, 1, WW_ONLY(WESTWOOD),                                    \
      "Timeouts in slow start divide ssthresh by a number that grows with each timeout, up to 4",  \
      "Mascolo 2001: the measured BDP in any case; Valla 2002 divides it.")                        \
    X(SWITCH, reset_rtt_min, false, 0, 1, WW_ONLY(WESTWOOD),                                       \
      "RTTmin restarts with the first RTT after a timeout", "Only tcp_westwood.c does this.")      \
    X(CHOICE, slow_start, WW_SLOW_START_STANDARD, WW_SLOW_START_STANDARD, WW_CAREFUL_RESUME,       \
      WW_RENO_STARTS, "Growth of slow start, and what ends it before a loss does",                 \
      "RFC 5681, section 3.1: a loss. CUBIC should use HyStart++: RFC 9438, section 4.10.")        \
    X(COUNT_OR_NONE, resume_cwnd, 0, 4, 1u << 20, WW_RENO_STARTS,                                  \
      "Window that an earlier connection has measured, segments: careful-resume takes up half",    \
      "RFC 9959, section 3.1: saved_cwnd. Without one the standard's slow start remains.")         \
    X(SPAN, resume_rtt, 100000, 1, WW_INTERVAL_MAX_US, WW_RENO_STARTS,                             \
      "Smallest RTT that it has measured; careful-resume gives up where it is another",            \
      "RFC 9959, section 3.1: saved_rtt. Any value will do until resume_cwnd is set.")             \
    X(CHOICE, cubic_rules, WW_RULES_RFC9438, WW_RULES_RFC9438, WW_RULES_NS3, WW_ONLY(CUBIC),       \
      "Rules for growth, ssthresh and undo: core/cubic.h lists the differences",                   \
      "RFC 9438 is the standard; Linux's tcp_cubic.c and ns-3's tcp-cubic.cc predate it.")         \
    X(SWITCH, fast_convergence, true, 0, 1, WW_ONLY(CUBIC),                                        \
      "A flow that shrinks gives up more of its window (RFC 9438, 4.7)", "RFC 9438, section 4.7.") \
    X(CHOICE, bbr_rules, WW_BBR_RULES_DRAFT, WW_BBR_RULES_DRAFT, WW_BBR_RULES_LINUX, WW_ONLY(BBR), \
      "Rules for policers and the smallest RTT: core/bbr_policer.h and ww_bbr_update_rtprop()",    \
      "draft-cardwell-iccrg-bbr-congestion-control-00 has no policers; Linux's tcp_bbr.c has.")    \
    X(COUNT, vegas_alpha, 2, 1, 255, WW_ONLY(VEGAS),                                               \
      "Lower bound for segments queued in the path", "tcp_vegas.c.")                               \
    X(COUNT, vegas_beta, 4, 1, 255, WW_ONLY(VEGAS), "Upper bound for segments queued in the path", \
      "tcp_vegas.c.")                                                                              \
    X(COUNT, vegas_gamma, 1, 1, 255, WW_ONLY(VEGAS),                                               \
      "Segments queued in the path at which slow start ends", "tcp_vegas.c.")                      \
    X(SHARE, wc_evidence, 250, 0, 1000, WW_ONLY(WESTWOOD_CUBIC),                                   \
      "Evidence above which losses count as a full queue's: 0 for a lossy link, 1 for a full "     \
      "queue",                                                                                     \
      "Random losses average 0, RED's 0.4 or more: docs/westwood-cubic.md.")                       \
    X(SHARE, wc_gain, 930, 1, 999, WW_ONLY(WESTWOOD_CUBIC),                                        \
      "Share of the measured BDP, B RTTmin, that a loss leaves at least while a queue stands",     \
      "Slightly below 1, so that the queue empties: docs/westwood-cubic.md.")                      \
    X(SHARE, wc_queue, 62, 0, 1000, WW_ONLY(WESTWOOD_CUBIC),                                       \
      "A queue stands if the smallest RTT of two rounds exceeds RTTmin by this share",             \
      "1/16 is half of HyStart++'s 1/8.")                                                          \
    X(SHARE, wc_heavy, 125, 1, 1000, WW_ONLY(WESTWOOD_CUBIC),                                      \
      "Share of a window lost in one round trip that reduces the window, whatever the cause",      \
      "1/8 is far above the 2 % of the lossiest links it is designed for: "                        \
      "docs/westwood-cubic.md.")                                                                   \
    X(COUNT, wc_small, 12, 1, 255, WW_ONLY(WESTWOOD_CUBIC),                                        \
      "Window, segments, below which any loss halves it",                                          \
      "Reno's mean window at 1 % loss is 1.22 / sqrt(0.01) = 12: RFC 8312, section 5.")            \
    X(SHARE, wc_growth, 125, 0, 1000, WW_ONLY(WESTWOOD_CUBIC),                                     \
      "Share of the window that it grows by per round trip while the link is sure to lose "        \
      "packets and no queue stands; 0: CUBIC's growth",                                            \
      "docs/westwood-cubic.md.")                                                                   \
    X(FACTOR_OR_NONE, wc_pacing, 3000, 1000, 65000, WW_ONLY(WESTWOOD_CUBIC),                       \
      "Pacing rate of slow start, as a multiple of cwnd / SRTT",                                   \
      "Without pacing, bursts overflow short queues; with 2, short flows take longer: "            \
      "docs/westwood-cubic.md.")                                                                   \
    X(COUNT, veno_beta, 3, 1, 255, WW_ONLY(VENO),                                                  \
      "Segments queued in the path from which a loss counts as congestion",                        \
      "Fu & Liew 2003; tcp_veno.c.")                                                               \
    X(SHARE, bbr3_drain, 500, 1, 1000, WW_ONLY(BBR3), "Pacing gain of Drain",                      \
      "draft-ietf-ccwg-bbr, 2.5: half, which drains Startup's queue in a round trip.")             \
    X(SHARE, bbr3_down, 900, 1, 1000, WW_ONLY(BBR3), "Pacing gain of ProbeBW_DOWN",                \
      "draft-ietf-ccwg-bbr, 5.3.3.1: 0.90.")                                                       \
    X(SHARE, bbr3_loss, 20, 1, 500, WW_ONLY(BBR3),                                                 \
      "Share of a flight lost above which a probe for bandwidth went too high",                    \
      "draft-ietf-ccwg-bbr, 2.8: LossThresh is 2 %.")                                              \
    X(COUNT, bbr3_startup_losses, 6, 1, 255, WW_ONLY(BBR3),                                        \
      "Separate ranges lost in a round trip that end Startup",                                     \
      "draft-ietf-ccwg-bbr, 5.3.1.3: StartupFullLossCnt is 6.")                                    \
    X(SPAN, bbr3_probe_rtt, 5000000, 1, WW_INTERVAL_MAX_US, WW_ONLY(BBR3),                         \
      "Time without a lower RTT after which ProbeRTT begins",                                      \
      "draft-ietf-ccwg-bbr, 5.3.4.2: each flow must use 5 s.")                                     \
    X(SPAN, bbr3_min_rtt, 10000000, 1, WW_INTERVAL_MAX_US, WW_ONLY(BBR3),                          \
      "Time after which the least RTT is forgotten",                                               \
      "draft-ietf-ccwg-bbr, 5.5.8.2: MinRTTFilterLen is 10 s.")                                    \
    X(SWITCH, bbr3_prior_rtt, false, 0, 1, WW_ONLY(BBR3),                                          \
      "ProbeRTT takes its window from the least RTT before that may expire",                       \
      "draft-ietf-ccwg-bbr, 5.3.4.3. Issue 109 of the draft proposes it with one filter of 10 s.")

/* Pairs of settings; the first of a pair must not exceed the second. */
#define WW_SETTINGS_IN_ORDER(X) X(vegas_alpha, vegas_beta)

/* The field that a row declares: WW_FIELD(SPAN, tau) is tau_us. */
#define WW_FIELD(kind, name) WW_FIELD_##kind(name)
#define WW_FIELD_SWITCH(name) name
#define WW_FIELD_COUNT(name) name
#define WW_FIELD_COUNT_OR_NONE(name) name
#define WW_FIELD_SPAN(name) name##_us
#define WW_FIELD_SHARE(name) name##_permille
#define WW_FIELD_FACTOR_OR_NONE(name) name##_permille
#define WW_FIELD_CHOICE(name) name

#define WW_TYPE_SWITCH bool
#define WW_TYPE_COUNT uint8_t
#define WW_TYPE_COUNT_OR_NONE uint32_t
#define WW_TYPE_SPAN uint32_t
#define WW_TYPE_SHARE uint16_t
#define WW_TYPE_FACTOR_OR_NONE uint16_t
#define WW_TYPE_CHOICE uint8_t

#ifdef WW_LOADS_CONTROLS
struct ww_control_ops;
#endif

/* The core only reads a configuration, so any number of connections may share one. */
struct ww_config {
    uint8_t algorithm; /* enum ww_algorithm: catalogue.h */
#define WW_MEMBER(kind, name, fallback, least, most, controls, what, why) \
    WW_TYPE_##kind WW_FIELD(kind, name);
    WW_SETTINGS(WW_MEMBER)
#undef WW_MEMBER
#ifdef WW_LOADS_CONTROLS
    const struct ww_control_ops *control; /* with WW_ALG_LOADED */
    uint32_t own[WW_PARAMETERS_MAX];      /* its parameters */
#endif
};

/* Every setting has a valid value for every congestion control, so users may set one at a time. */
static inline struct ww_config ww_default_config(uint8_t algorithm) {
    struct ww_config config;
    config.algorithm = algorithm;
#define WW_ASSIGN(kind, name, fallback, least, most, controls, what, why) \
    config.WW_FIELD(kind, name) = fallback;
    WW_SETTINGS(WW_ASSIGN)
#undef WW_ASSIGN
#ifdef WW_LOADS_CONTROLS
    config.control = 0;
    for (int i = 0; i < WW_PARAMETERS_MAX; i++) config.own[i] = 0;
#endif
    return config;
}

#endif
