/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The loss recoveries by name: how a sender repairs losses. The host does the work; for those with rate
 * reduction, recovery.h has the arithmetic.
 *
 *   X(ID, id, "name", uses_sack, rate_reduction, "source")
 *
 *   ID, id          its enumerator in C, WW_RECOVERY_ID, and in the engine, Recovery::id
 *   name            its name in scenarios
 *   uses_sack       it finds losses on a scoreboard of selective acknowledgments (RFC 6675)
 *   rate_reduction  until recovery ends, recovery.h sets cwnd, and not just the congestion control
 */
#ifndef WW_RECOVERIES_H
#define WW_RECOVERIES_H

#define WW_RECOVERIES(X)                                                                          \
    X(TAHOE, tahoe, "tahoe", 0, 0,                                                                \
      "The third duplicate ACK returns to the first hole in slow start: Jacobson 1988")           \
    X(RENO, reno, "reno", 0, 0,                                                                   \
      "Fast recovery ends with the first ACK for new data: RFC 5681, 3.2")                        \
    X(NEWRENO, newreno, "newreno", 0, 0, "Partial ACKs repair one hole per round trip: RFC 6582") \
    X(SACK, sack, "sack", 1, 0, "Selective acknowledgments show the holes: RFC 6675")             \
    X(RATE_HALVING, rate_halving, "rate-halving", 1, 1,                                           \
      "cwnd falls by one for every two ACKs: Dell'Aera 2003, 2.2; Linux 2.4")                     \
    X(PRR, prr, "prr", 1, 1, "Proportional rate reduction: RFC 9937")

#define WW_ENUMERATOR(ID, ...) WW_RECOVERY_##ID,
enum ww_recovery { WW_RECOVERIES(WW_ENUMERATOR) WW_RECOVERY_ANY };
#undef WW_ENUMERATOR

#endif
