/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The congestion controls by name: all hosts, tables and figures read this list.
 *
 * An algorithm is the code of a congestion control. A protocol is what a scenario names: an algorithm,
 * its settings and its loss recovery.
 *
 * A new algorithm needs a header that ends with the list of its operations (see reno.h), a line in
 * WW_ALGORITHMS, its include at the end of this file, and a row of WW_PROTOCOLS. docs/how-to-add.md
 * shows an example.
 */
#ifndef WW_CATALOGUE_H
#define WW_CATALOGUE_H

#include "hosts.h"
#include "recoveries.h"
#include "settings.h"

/*
 * X(ID, name): the header defines struct ww_NAME_state and the operations WW_ID_...
 *
 * The state of a compact algorithm fits in the private area that Linux gives a congestion control. Our programs for
 * Linux keep the state of the others in the socket's storage (linux/bpf/host.h).
 */
#define WW_COMPACT_ALGORITHMS(X) \
    X(RENO, reno)                \
    X(WESTWOOD, westwood)        \
    X(CUBIC, cubic)              \
    X(VEGAS, vegas)              \
    X(VENO, veno)                \
    X(WESTWOOD_CUBIC, westwood_cubic)
#define WW_LARGE_ALGORITHMS(X) X(BBR, bbr) X(BBR3, bbr3)
#ifdef WW_LOADS_CONTROLS
#define WW_LOADED_ALGORITHM(X) X(LOADED, loaded)
#else
#define WW_LOADED_ALGORITHM(X)
#endif
#define WW_ALGORITHMS(X)     \
    WW_COMPACT_ALGORITHMS(X) \
    WW_LARGE_ALGORITHMS(X)   \
    WW_LOADED_ALGORITHM(X)

/*
 * What `westwood list` and the guide say of a control that is not yet ready for use. The guide
 * prints only the first sentence: {experimental} of docs/conf.py.
 */
#define WW_EXPERIMENTAL "Experimental: safe beside CUBIC on most paths, and not yet on all. "

/*
 * X(ID, "name", ALGORITHM, RECOVERY, settings, "label", "look", "ns-3 class", kernel, "source")
 *
 *   name      its name in scenarios, tables and attributes of WwTcpWestwood in ns-3
 *   RECOVERY  its loss recovery, one of WW_RECOVERIES; with ANY the flow or the profile decides
 *   settings  assignments to the configuration c that differ from the defaults of WW_SETTINGS; (void)0
 *             if none does
 *   label     its name in figures
 *   look      its colour, marker and line in figures, in matplotlib's notation. The colours can be told
 *             apart with any colour vision: tests/westwood/draw. The marker hollow-s is an unfilled s, and
 *             the line 1,1 has dashes and gaps of length 1
 *   ns-3 class  its class in ns-3, without "ns3::". WwTcpWestwood is the class of our module in ns3/,
 *             which runs the core with the row's settings; any other is a class of ns-3 itself, with its
 *             own code. "" means that ns-3 has none: --engine ns3 and WwTcpHelper refuse the protocol.
 *             A row with a class of ns-3 itself whose algorithm is not RENO must be measured on six paths:
 *             python -m tools.pages comparators measure NAME
 *   kernel    its name in Linux: WW_UPSTREAM("name") if Linux has it, WW_OURS(name) if it is a program of
 *             linux/, else WW_NOWHERE. Whoever reads this field defines the three macros
 *
 * A row's source is one of these papers, or is given in full:
 *   Mascolo 2001     Mascolo, Casetti, Gerla, Sanadidi, Wang: TCP Westwood, MOBICOM 2001
 *   Dell'Aera 2003   Dell'Aera, Grieco, Mascolo: Linux 2.4 Implementation of Westwood+ TCP with
 *                    rate-halving, Politecnico di Bari, Tech. Rep. 08/03/S
 *   Frikha 2005      Frikha, Chekir: Improvement Congestion Avoidance over TCP Westwood Protocol
 *   Gangadhar 2013   Gangadhar, Nguyen, Umapathi, Sterbenz: TCP Westwood(+) Protocol Implementation in
 *                    ns-3, WNS3 2013
 *   Valla 2002       M. Valla, UCLA: tcp-westwood-nr.cc 1.3 of June 2002, a module of ns-2 (in the public
 *                    repository tomky/ns2-11n, tcp/)
 */
#define WW_PROTOCOLS(X)                                                                            \
    X(TAHOE, "tahoe", RENO, TAHOE, (void)0, "Tahoe", "#C7BDBD v 1,1", "TcpNewReno", WW_NOWHERE,    \
      "Jacobson 1988; Fall & Floyd 1996, section 2")                                               \
    X(RENO, "reno", RENO, RENO, (void)0, "Reno", "#EEBA07 hollow-s --", "TcpNewReno",              \
      WW_UPSTREAM("reno"), "RFC 5681 without RFC 6582")                                            \
    X(NEWRENO, "newreno", RENO, NEWRENO, (void)0, "NewReno", "#8DC8EB D -.", "TcpNewReno",         \
      WW_UPSTREAM("reno"), "RFC 6582")                                                             \
    X(SACK, "sack", RENO, SACK, (void)0, "NewReno + SACK", "#000C8C ^ -", "TcpNewReno",            \
      WW_UPSTREAM("reno"), "RFC 6675")                                                             \
    X(WESTWOOD, "westwood", WESTWOOD, ANY, c->filter = WW_FILTER_TUSTIN, "Westwood",               \
      "#E13200 o -", "WwTcpWestwood", WW_OURS(ww_westwood),                                        \
      "Mascolo 2001: one sample per ACK, time-varying Tustin filter")                              \
    X(WESTWOOD_NS3, "westwood-ns3", WESTWOOD, ANY,                                                 \
      (c->literal_count = true, c->bound_samples = false), "Westwood (ns-3, 2013)", "#E13200 o -", \
      "WwTcpWestwood", WW_NOWHERE,                                                                 \
      "Gangadhar 2013, 3.2.2: one sample per ACK, the filter disabled, DUPACKs exactly as "        \
      "printed")                                                                                   \
    X(WESTWOOD_PLUS, "westwood+", WESTWOOD, ANY,                                                   \
      (c->sampler = WW_PER_RTT, c->filter = WW_FILTER_EWMA, c->set_cwnd_on_loss = true,            \
       c->seed_filter = true),                                                                     \
      "Westwood+", "#048B77 P -", "WwTcpWestwood", WW_OURS(ww_plus),                               \
      "Dell'Aera 2003: one sample per round trip of at least 50 ms, 7/8 filter")                   \
    X(WESTWOOD_PLUS_NS3, "westwood+-ns3", WESTWOOD, ANY,                                           \
      (c->sampler = WW_PER_RTT_TIMER, c->literal_count = true), "Westwood+ (ns-3, 2013)",          \
      "#048B77 P 5,1", "WwTcpWestwood", WW_NOWHERE,                                                \
      "Gangadhar 2013: one sample per last RTT, the filter disabled, DUPACKs exactly as printed")  \
    X(WESTWOODNR, "westwoodnr", WESTWOOD, NEWRENO, c->filter = WW_FILTER_TUSTIN, "WestwoodNR",     \
      "#750500 h :", "WwTcpWestwood", WW_NOWHERE, "Frikha 2005, section 2: Westwood over NewReno") \
    X(WESTWOODNR_PLUS, "westwoodnr+", WESTWOOD, NEWRENO,                                           \
      (c->filter = WW_FILTER_TUSTIN, c->cte_permille = 2000), "WestwoodNR+", "#750500 H -",        \
      "WwTcpWestwood", WW_OURS(ww_nrplus),                                                         \
      "Frikha 2005, section 3: with a plateau after a loss, cte = 2")                              \
    X(WESTWOOD_UCLA, "westwood-ucla", WESTWOOD, NEWRENO,                                           \
      (c->filter = WW_FILTER_TUSTIN_EVEN, c->bound_samples = false, c->max_counted = 2,            \
       c->divided_timeouts = true, c->rtt_tick_us = 10000, c->counted_ticks = true),               \
      "Westwood (UCLA, 2002)", "#E13200 o :", "WwTcpWestwood", WW_NOWHERE,                         \
      "Valla 2002: 19/21 b' + 1/21 (s + s') per ACK, at most two segments per ACK, a divisor "     \
      "after timeouts")                                                                            \
    X(WESTWOOD_PLUS_LINUX24, "westwood+-linux24", WESTWOOD, RATE_HALVING,                          \
      (c->sampler = WW_PER_RTT, c->filter = WW_FILTER_EWMA, c->set_cwnd_on_loss = true,            \
       c->seed_filter = true, c->set_at_exit = true),                                              \
      "Westwood+ (Linux 2.4)", "#004545 p --", "", WW_OURS(ww_plus_rh),                            \
      "Dell'Aera 2003, 2.2: Westwood+ with rate halving")                                          \
    X(WESTWOOD_PLUS_LINUX, "westwood+-linux", WESTWOOD, PRR,                                       \
      (c->sampler = WW_PER_RTT, c->filter = WW_FILTER_EWMA_TWICE, c->set_cwnd_on_loss = true,      \
       c->seed_filter = true, c->set_at_exit = true, c->halve_on_loss = true,                      \
       c->reset_rtt_min = true, c->rtt_tick_us = 4000),                                            \
      "Westwood+ (Linux)", "#004545 * -", "WwTcpWestwood", WW_UPSTREAM("westwood"),                \
      "tcp_westwood.c: two 7/8 filters, BWE RTTmin set when recovery completes, RTTmin restarted " \
      "after a timeout, RTTs in jiffies of 4 ms (HZ = 250)")                                       \
    X(WESTWOOD_CUBIC, "westwood-cubic", WESTWOOD_CUBIC, SACK, (void)0, "Westwood-CUBIC",           \
      "#750500 s --", "WwTcpWestwood", WW_OURS(ww_cubic),                                          \
      WW_EXPERIMENTAL                                                                              \
      "docs/westwood-cubic.md: CUBIC that keeps its window when the link loses packets, not a "    \
      "full queue")                                                                                \
    X(CUBIC, "cubic", CUBIC, SACK, c->slow_start = WW_HYSTART_PLUS_PLUS, "CUBIC", "#C731C7 < -",   \
      "TcpCubic", WW_UPSTREAM("cubic"), "RFC 9438 with fast convergence and HyStart++ (RFC 9406)") \
    X(VEGAS, "vegas", VEGAS, SACK, (void)0, "Vegas", "#97A977 > --", "TcpVegas",                   \
      WW_UPSTREAM("vegas"), "Brakmo & Peterson 1995, as in tcp_vegas.c")                           \
    X(VENO, "veno", VENO, SACK, (void)0, "Veno", "#97A977 X :", "TcpVeno", WW_UPSTREAM("veno"),    \
      "Fu & Liew 2003, as in tcp_veno.c")                                                          \
    X(BBR, "bbr", BBR, SACK, (void)0, "BBRv1", "#000000 d -.", "TcpBbr", WW_UPSTREAM("bbr"),       \
      "draft-cardwell-iccrg-bbr-congestion-control-00: version 1")                                 \
    X(BBR3, "bbr3", BBR3, SACK, (void)0, "BBRv3", "#6D5A48 p -", "WwTcpWestwood",                  \
      WW_OURS(ww_bbr3), "draft-ietf-ccwg-bbr of August 2026: version 3")

#define WW_ENUMERATOR(ID, name) WW_ALG_##ID,
enum ww_algorithm { WW_ALGORITHMS(WW_ENUMERATOR) WW_ALGORITHM_COUNT };
#undef WW_ENUMERATOR

#define WW_ENUMERATOR(ID, ...) WW_PROTOCOL_##ID,
enum ww_protocol { WW_PROTOCOLS(WW_ENUMERATOR) WW_PROTOCOL_COUNT };
#undef WW_ENUMERATOR

/* A set of algorithms, one bit each. WW_SETTINGS uses it to say which controls obey a setting. */
#define WW_ONLY(ID) (UINT32_C(1) << WW_ALG_##ID)
#define WW_ALL_BUT(ID) (~WW_ONLY(ID))
#define WW_BY_HOST UINT32_C(0)

/* Returns a protocol's configuration, or Reno with the defaults for a number that names no protocol. */
static inline struct ww_config ww_configure(enum ww_protocol protocol) {
    struct ww_config config = ww_default_config(WW_ALG_RENO);
    struct ww_config *const c = &config;
    switch (protocol) {
#define WW_CASE(ID, name, ALGORITHM, RECOVERY, settings, ...) \
    case WW_PROTOCOL_##ID:                                    \
        c->algorithm = WW_ALG_##ALGORITHM;                    \
        settings;                                             \
        break;
        WW_PROTOCOLS(WW_CASE)
#undef WW_CASE
    case WW_PROTOCOL_COUNT:
        break;
    }
    return config;
}

/* Returns the loss recovery that belongs to a protocol. */
static inline enum ww_recovery ww_recovery_of(enum ww_protocol protocol) {
    switch (protocol) {
#define WW_CASE(ID, name, ALGORITHM, RECOVERY, ...) \
    case WW_PROTOCOL_##ID:                          \
        return WW_RECOVERY_##RECOVERY;
        WW_PROTOCOLS(WW_CASE)
#undef WW_CASE
    case WW_PROTOCOL_COUNT:
        break;
    }
    return WW_RECOVERY_ANY;
}

#endif

/*
 * The controls are included only for westwood.h, so that a file that just needs the names is not
 * rebuilt when a control changes. This part is outside the include guard, because such a file may
 * include westwood.h later.
 */
#if defined(WW_WANTS_CONTROLS) && !defined(WW_HAS_CONTROLS)
#define WW_HAS_CONTROLS
#include "bbr.h"
#include "bbr3.h"
#include "cubic.h"
#include "loaded.h"
#include "reno.h"
#include "vegas.h"
#include "veno.h"
#include "westwood_cubic.h"
#include "westwood_family.h"
#endif
