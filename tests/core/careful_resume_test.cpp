// SPDX-License-Identifier: BSD-3-Clause
//
// Compares Careful Resume with the sections and the worked examples of RFC 9959.
#include <gtest/gtest.h>

#include "rounds.hpp"

namespace {

// saved_cwnd is 300, saved_rtt 100 ms: Appendix B.
class Resume : public ww::test::Start {
  public:
    explicit Resume(ww_protocol id = WW_PROTOCOL_SACK) : Start(WW_CAREFUL_RESUME, id) {}

    int phase() const { return state.start.resume.phase; }
    void ack(std::uint32_t flight, std::uint32_t prior = 0) { arrive(10, rtt_us, flight, prior); }
    // B.1: an initial window of 10, confirmed with 29 in flight.
    void confirm() {
        for (std::uint32_t i = 0; i < 9; i++) ack(9 - i);
        ack(29);
    }
    // 121 unvalidated packets follow, numbers 30 to 150 if those in flight before are 1 to 29.
    void send_unvalidated() {
        confirm();
        for (std::uint32_t i = 1; i <= 29; i++) ack(140, 9);
        EXPECT_EQ(window.cwnd, 150u) << "not increased";
        ack(120, 10);
        EXPECT_EQ(phase(), WW_VALIDATING) << "the first unvalidated packet is acknowledged";
    }

    std::uint32_t rtt_us = 100000;
};

TEST(CarefulResume, JumpsToHalfOfWhatWasSavedAndGoesOn) {  // B.1; 4.3.2
    Resume c;
    c.confirm();
    EXPECT_EQ(c.phase(), WW_UNVALIDATED);
    EXPECT_EQ(c.window.cwnd, 150u);
    EXPECT_EQ(ww_resume_pipe(&c.state.start.resume), 29u) << "PipeSize = flight_size";
    EXPECT_NEAR(ww::test::bytes_per_second(c.window.pacing) / 10 / ww::test::kMss, 150, 0.01);
    Resume d;
    d.send_unvalidated();
    EXPECT_EQ(d.window.cwnd, 121u) << "flight_size, and slow start";
    EXPECT_EQ(d.window.pacing, 0u);
    for (int i = 0; i < 120; i++) d.ack(120, d.delivered);
    EXPECT_EQ(d.phase(), WW_RESUME_OVER);
    EXPECT_EQ(d.window.cwnd, 241u);
}

TEST(CarefulResume, LeavesUnvalidatedByEachOfItsEnds) {  // 3.3
    const struct {
        std::uint32_t flight, waits_us, prior;
        ww_resume_phase phase;
        std::uint32_t cwnd;
    } rows[] = {
        {149, 0, 0, WW_VALIDATING, 150},       // "flight_size equals the CWND"
        {100, 100000, 0, WW_VALIDATING, 101},  // "more than one RTT has elapsed"
        {100, 0, 10, WW_VALIDATING, 101},      // "the first packet number (or higher)"
        {20, 0, 10, WW_RESUME_OVER, 31},       // at most PipeSize, 29 + 1
        {9, 0, 10, WW_RESUME_OVER, 31},        // less than IW
    };
    for (const auto& row : rows) {
        Resume c;
        c.confirm();
        c.now_us += row.waits_us;
        c.ack(row.flight, row.prior);
        EXPECT_EQ(c.phase(), row.phase) << row.flight;
        EXPECT_EQ(c.window.cwnd, row.cwnd) << row.flight;
    }
}

TEST(CarefulResume, RetreatsToHalfThePipe) {  // B.4: packet 64 is lost
    for (const ww_protocol id : {WW_PROTOCOL_SACK, WW_PROTOCOL_CUBIC}) {
        Resume c(id);
        c.send_unvalidated();
        for (int i = 0; i < 4; i++) c.ack(119);
        c.loss(119);
        EXPECT_EQ(c.phase(), WW_SAFE_RETREAT);
        EXPECT_EQ(c.window.cwnd, 31u) << "63 / 2";
        const std::uint32_t start = c.delivered;
        for (int i = 0; i < 86; i++) c.arrive(10, 1, 119, start - 1, WW_RECOVERY);
        for (int i = 0; i < 9; i++) c.arrive(10, 1, 119, start, WW_RECOVERY);  // sent again
        c.leave_recovery();
        EXPECT_EQ(c.window.cwnd, 31u) << "not increased";
        EXPECT_EQ(c.window.ssthresh, id == WW_PROTOCOL_CUBIC ? 149u * 7 / 10 : 149u / 2)
            << "Beta PipeSize, 63 + 86";
    }
}

TEST(CarefulResume, RetreatsBecauseOfAMark) {  // 3.4: "packet loss or ECN-CE marking"
    Resume c;
    c.send_unvalidated();
    c.mark(120);
    for (int i = 0; i < 119; i++) c.ack(120, c.delivered);
    EXPECT_EQ(c.phase(), WW_SAFE_RETREAT);
    EXPECT_EQ(c.window.cwnd, 29u) << "59 / 2";
    c.ack(120, c.delivered);
    EXPECT_EQ(c.phase(), WW_RESUME_OVER);
    EXPECT_EQ(c.window.ssthresh, 59u / 2) << "what was sent since does not count";
}

TEST(CarefulResume, GivesUpOrWaits) {  // 3.2, 3.6 and 4.2
    for (const auto& [rtt_us, expected] : {std::pair{50000u, WW_RESUME_OVER},
                                           {50001u, WW_UNVALIDATED},
                                           {1000000u, WW_UNVALIDATED},
                                           {1000001u, WW_RESUME_OVER}}) {
        Resume c;
        c.rtt_us = rtt_us;
        c.confirm();
        EXPECT_EQ(c.phase(), expected) << rtt_us;
    }
    Resume lost, large, late, undone, limited, unknown;
    lost.ack(9);
    lost.loss(9);
    large.config.resume_cwnd = 40;
    large.confirm();
    late.send_unvalidated();
    late.timeout();
    undone.send_unvalidated();
    undone.loss();
    undone.undo();
    for (const Resume& c : {lost, large, late, undone}) EXPECT_EQ(c.phase(), WW_RESUME_OVER);
    limited.limited = false;
    limited.confirm();
    EXPECT_EQ(limited.phase(), WW_RECONNAISSANCE) << "until the window limits the sender";
    unknown.config.resume_cwnd = 0;
    unknown.confirm();
    EXPECT_EQ(unknown.window.cwnd, 20u);
}

}  // namespace
