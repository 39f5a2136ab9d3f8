// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC's recovery: the state machine at the top of core/westwood_cubic.h, its invariant,
// and how a reduced window falls. westwood_cubic_test.cpp tests what a loss does to the window.
#include <random>

#include "westwood_cubic.hpp"

namespace ww::test::westwood_cubic {
namespace {

// Only many losses or a mark reduce the window here. With 120 segments and no queue, 16 are many.
constexpr Said kQuiet{.in_network = 20, .phase = WW_RECOVERY};
constexpr Said kRoundEnds{.in_network = 20, .phase = WW_RECOVERY, .ends_round = true};
constexpr Said kFewLost{.lost = 15, .in_network = 20, .phase = WW_RECOVERY};
constexpr Said kManyLost{.lost = 20, .in_network = 20, .phase = WW_RECOVERY};

// Brings a connection into this state.
WestwoodCubic in(enum ww_wc_answer state) {
    WestwoodCubic c = settled(120);
    if (state == WW_WC_WATCHES) return c;
    c.loss();
    if (state == WW_WC_KEEPS) return c;
    c.ack(kManyLost);
    if (state == WW_WC_CUTS) return c;
    c.ack(kQuiet);
    if (state == WW_WC_WAITS) return c;
    c.ack(kRoundEnds);
    return c;
}

constexpr enum ww_wc_answer kAll[] = {WW_WC_WATCHES, WW_WC_KEEPS, WW_WC_CUTS, WW_WC_WAITS,
                                      WW_WC_PRR};

TEST(WestwoodCubicAnswers, EveryStateIsReached) {
    for (const auto state : kAll) EXPECT_EQ(in(state).wc().answer, state);
}

TEST(WestwoodCubicAnswers, TheEndOfARoundChangesTheState) {
    const std::pair<enum ww_wc_answer, enum ww_wc_answer> ends[] = {{WW_WC_WATCHES, WW_WC_WATCHES},
                                                                    {WW_WC_KEEPS, WW_WC_WATCHES},
                                                                    {WW_WC_CUTS, WW_WC_WAITS},
                                                                    {WW_WC_WAITS, WW_WC_PRR},
                                                                    {WW_WC_PRR, WW_WC_PRR}};
    for (const auto& [before, after] : ends) {
        WestwoodCubic c = in(before);
        c.ack(kRoundEnds);
        EXPECT_EQ(c.wc().answer, after) << before;
    }
}

TEST(WestwoodCubicAnswers, ManyLossesReduceUnlessTheyWereSentBeforeAReduction) {
    for (const auto state : kAll) {
        WestwoodCubic c = in(state);
        const bool waits = state == WW_WC_CUTS || state == WW_WC_WAITS;
        const std::uint32_t before = c.window.ssthresh;
        c.ack(kManyLost);
        EXPECT_EQ(c.wc().answer, waits ? WW_WC_WAITS : WW_WC_CUTS) << state;
        EXPECT_EQ(c.window.ssthresh < before, !waits) << state;
    }
}

TEST(WestwoodCubicAnswers, AMarkReducesInAnyState) {
    for (const auto state : kAll) {
        WestwoodCubic c = in(state);
        const std::uint32_t before = c.window.ssthresh;
        c.mark();
        EXPECT_EQ(c.wc().answer, WW_WC_CUTS) << state;
        EXPECT_EQ(c.window.ssthresh, before * 7 / 10) << state;
    }
}

TEST(WestwoodCubicAnswers, TheEndOfRecoveryUndoAndTimeoutLeadBackToTheStart) {
    for (const auto state : kAll) {
        WestwoodCubic ended = in(state), undone = in(state), timed_out = in(state);
        ended.leave_recovery();
        EXPECT_EQ(ended.wc().answer, WW_WC_WATCHES);
        undone.undo();
        EXPECT_EQ(undone.wc().answer, WW_WC_WATCHES);
        timed_out.timeout();
        EXPECT_EQ(timed_out.wc().answer, WW_WC_WATCHES);
    }
}

// ---- the losses of a round

// Issue 26: the first answer came at the end of a round, and later losses never counted as many.
TEST(WestwoodCubicAnswers, ManyLossesAfterALateAnswerAreAnsweredInEveryRound) {
    WestwoodCubic c = in_recovery(0);
    c.ack(kRoundEnds);
    c.ack(kFewLost);
    c.set_evidence(0.5);
    c.ack(kRoundEnds);
    ASSERT_EQ(c.wc().answer, WW_WC_CUTS) << "the late answer";
    for (int round = 0; round < 3; round++) {
        const std::uint32_t before = c.window.ssthresh;
        c.ack(kQuiet);
        c.ack(kRoundEnds);
        ASSERT_EQ(c.wc().answer, WW_WC_PRR);
        c.ack({.lost = before / 8 + 5, .in_network = 20, .phase = WW_RECOVERY});
        EXPECT_EQ(c.window.ssthresh, before * 7 / 10) << round;
    }
}

// Returns the window that a recovery goes to.
std::uint32_t standing(const WestwoodCubic& c) {
    return c.wc().answer < WW_WC_CUTS ? c.window.cwnd : std::max(c.window.cwnd, c.window.ssthresh);
}

TEST(WestwoodCubicAnswers, AfterAnAckInRecoveryManyLossesAreInCutsOrWaits) {
    std::mt19937 random(1);
    const auto below = [&random](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
    const auto one_in = [&below](unsigned n) { return below(n) == 0; };
    int many = 0, states[5] = {};
    for (int connection = 0; connection < 200; connection++) {
        WestwoodCubic c = settled(10 + below(300), one_in(2) ? kQueue : 0);
        for (int i = 0; i < 500; i++) {
            if (one_in(30)) c.loss();
            if (one_in(150)) c.mark();
            if (one_in(50)) c.leave_recovery();
            if (one_in(300)) c.undo();
            if (one_in(400)) c.timeout();
            if (one_in(50)) c.set_evidence(0.99 * (below(201) / 100.0 - 1));
            const std::uint32_t before = standing(c);
            const ww_phase phase = one_in(10) ? WW_OPEN : WW_RECOVERY;
            c.ack({.rtt_us = kRtt + (one_in(2) ? kQueue : 0),
                   .delivered = below(4),
                   .lost = one_in(4) ? below(one_in(3) ? 30 : 4) : 0,
                   .in_network = below(200),
                   .phase = phase,
                   .ends_round = one_in(10),
                   .fills = one_in(2)});
            if (phase != WW_RECOVERY) continue;
            states[c.wc().answer]++;
            const std::uint32_t lost = c.wc().lost, cwnd = std::max(before, standing(c));
            if (lost <= 4 || lost * 8 <= cwnd) continue;
            many++;
            ASSERT_TRUE(c.wc().answer == WW_WC_CUTS || c.wc().answer == WW_WC_WAITS)
                << "connection " << connection << ", ACK " << i << ", answer " << int{c.wc().answer}
                << ", lost " << lost << " of " << cwnd;
        }
    }
    EXPECT_GT(many, 1000);
    for (const int count : states) EXPECT_GT(count, 500) << "the connections were in every state";
}

// ---- how a reduced window falls: RFC 9937

// Returns the window after an ACK in a recovery from 120 to 95 segments.
std::uint32_t let_go(std::uint32_t in_network, std::uint32_t delivered, std::uint32_t lost = 0) {
    WestwoodCubic c = in_recovery(kQueue);
    c.state.common.cwnd_count = 0;
    c.ack({.delivered = delivered, .lost = lost, .in_network = in_network, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.ssthresh, 95u);
    return c.window.cwnd;
}

TEST(WestwoodCubicFalls, BelowSsthreshAsMuchIsSentAsWasDelivered) {
    EXPECT_EQ(let_go(50, 2), 53u) << "one more: the ACK advances and tells of no loss";
    EXPECT_EQ(let_go(50, 2, 1), 52u) << "it tells of one";
    EXPECT_EQ(let_go(50, 0), 50u) << "it does not advance";
    EXPECT_EQ(let_go(93, 2), 95u) << "and no more than ssthresh";
    EXPECT_EQ(let_go(0, 0), 1u) << "a segment at least";
}

TEST(WestwoodCubicFalls, AboveSsthreshItFallsInProportion) {
    EXPECT_EQ(let_go(94, 2), 95u) << "94 + 2 95/120";
    EXPECT_EQ(let_go(118, 2), 119u);
    EXPECT_EQ(let_go(100, 12), 109u) << "100 + 12 95/120 = 109.5";
    EXPECT_EQ(let_go(115, 100), 120u) << "never beyond the window before";
}

}  // namespace
}  // namespace ww::test::westwood_cubic
