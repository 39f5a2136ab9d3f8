// SPDX-License-Identifier: BSD-3-Clause
//
// What fast recovery sends: PRR by RFC 9937, rate halving by Dell'Aera et al. 2003, 2.2.
#include "../../core/recovery.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

struct Sent {
    std::vector<std::uint32_t> each;  // segments sent on each ACK
    std::uint32_t total = 0, cwnd = 0, pipe = 0;
};

// The first `lost` of a window of `flight` segments are lost; each other one brings an ACK.
Sent recover_with_prr(std::uint32_t flight, std::uint32_t lost, std::uint32_t ssthresh) {
    ww_prr prr;
    ww_prr_enter(&prr, flight);
    Sent sent;
    sent.cwnd = flight;
    sent.pipe = flight - lost;
    for (std::uint32_t i = lost; i < flight; i++) {
        sent.pipe--;
        sent.cwnd = ww_prr_on_ack(&prr, sent.cwnd, ssthresh, sent.pipe, 1, false);
        const std::uint32_t now = sent.cwnd > sent.pipe ? sent.cwnd - sent.pipe : 0;
        prr.out += now;
        sent.pipe += now;
        sent.total += now;
        sent.each.push_back(now);
    }
    return sent;
}

TEST(Prr, OneLossSendsEverySecondSegment) {  // RFC 6937, 4: RB  s  s  s ...
    const Sent sent = recover_with_prr(20, 1, 10);
    EXPECT_EQ(sent.each.front(), 1u) << "the fast retransmit";
    for (std::size_t i = 1; i < 14; i++)  // until the flight has fallen to ssthresh
        EXPECT_EQ(sent.each[i] + sent.each[i + 1], 1u) << "ACKs " << i << " and the next";
    EXPECT_EQ(sent.total, 10u);
    EXPECT_EQ(sent.cwnd, 10u) << "recovery ends at ssthresh";
}

TEST(Prr, ManyLossesSendWhatArrives) {  // RFC 6937, 4: with 15 of 20 lost, one out for each one in
    const Sent sent = recover_with_prr(20, 15, 10);
    for (const std::uint32_t now : sent.each) EXPECT_EQ(now, 1u);
    EXPECT_EQ(sent.pipe, 5u) << "packet conservation: PRR-CRB without proof that it is safe";
}

// RFC 9937, 4.1 and 6: whatever is lost, and whenever ACKs arrive, no more is sent than was
// delivered (plus one per safe ACK, and the fast retransmit).
TEST(Prr, SendsNoMoreThanArrives) {
    std::mt19937 engine(1);
    const auto draw = [&engine](std::uint32_t below) {
        return static_cast<std::uint32_t>(engine() % below);
    };
    for (int run = 0; run < 2000; run++) {
        const std::uint32_t flight = 4 + draw(200);
        const std::uint32_t ssthresh = 2 + draw(flight - 2);
        ww_prr prr;
        ww_prr_enter(&prr, flight);
        std::uint32_t pipe = flight - 1 - draw(flight / 2), cwnd = flight, allowed = 1, out = 0;
        while (pipe > 3 && allowed < 4 * flight) {
            const std::uint32_t now = 1 + draw(3);
            const bool is_safe = draw(2) == 1;
            pipe -= now;
            allowed += now + is_safe;
            cwnd = ww_prr_on_ack(&prr, cwnd, ssthresh, pipe, now, is_safe);
            const std::uint32_t send =
                draw(4) == 0 ? 0 : cwnd - pipe;  // the sender may have nothing to send
            prr.out += send;
            pipe += send;
            out += send;
            ASSERT_LE(out, allowed);
        }
    }
}

TEST(RateHalving, OneSegmentLeavesForEveryTwoAcksDownToTheFloor) {  // Dell'Aera et al. 2003, 2.2
    for (const std::uint32_t floor : {5u, 16u}) {
        std::uint32_t count = 0, cwnd = 20, pipe = 19, silence = 0;
        for (int ack = 0; ack < 19; ack++) {
            cwnd = ww_rate_halving_on_ack(&count, cwnd, floor, --pipe, 1);
            silence = pipe < cwnd ? 0 : silence + 1;
            pipe = std::max(pipe, cwnd);
            EXPECT_LE(silence, 1u);
            EXPECT_GE(cwnd, floor);
        }
        EXPECT_EQ(cwnd, std::max(20u - 19 / 2 - 1, floor));
    }
}

TEST(RateHalving, AMergedAckCountsAsAllTheAcksItReplaces) {
    std::uint32_t one_by_one = 40, pipe = 40, odd = 0;
    for (int ack = 0; ack < 15; ack++) {
        one_by_one = ww_rate_halving_on_ack(&odd, one_by_one, 5, --pipe, 1);
        pipe = std::max(pipe, one_by_one);
    }
    std::uint32_t odd_merged = 0;
    EXPECT_EQ(ww_rate_halving_on_ack(&odd_merged, 40, 5, 40 - 15, 15), one_by_one);
    EXPECT_EQ(odd_merged, odd);
}

}  // namespace
