// SPDX-License-Identifier: BSD-3-Clause
//
// Compares Careful Resume with the sections and the worked examples of RFC 9959.
#include <gtest/gtest.h>

#include "rounds.hpp"

namespace {

using ww::test::Host;
using ww::test::kMss;

constexpr std::uint32_t kRtt = 100000;  // us

class CarefulResume : public Host, public testing::Test {
  public:
    explicit CarefulResume(ww_protocol id = WW_PROTOCOL_SACK) : Host(configured(id)) {}

  protected:
    static ww_config configured(ww_protocol id) {
        ww_config config = ww_configure(id);
        config.slow_start = WW_CAREFUL_RESUME;
        config.resume_cwnd = 300;
        config.resume_rtt_us = kRtt;
        return config;
    }
    int phase() const { return state.start.resume.phase; }

    // An ACK for a segment that was sent when `prior` others had been delivered.
    void ack(std::uint32_t flight, std::uint32_t prior = 0, ww_phase in = WW_OPEN) {
        ww_sample sample{};
        sample.acked_segments = in == WW_OPEN;
        sample.newly_delivered = 1;
        sample.in_flight = flight;
        sample.rtt_us = sample.srtt_us = rtt_us;
        sample.is_cwnd_limited = limited;
        sample.phase = in;
        sample.prior_delivered = prior;
        sample.delivered = ++delivered;
        take(10, sample);
    }
    // Appendix B.1: an initial window of 10, confirmed with 29 in flight.
    void confirm() {
        for (std::uint32_t i = 0; i < 9; i++) ack(9 - i);
        ack(29);
    }
    // 121 unvalidated packets follow, numbers 30 to 150 if those in flight before are 1 to 29.
    void send_unvalidated() {
        confirm();
        const std::uint32_t start = delivered;
        for (std::uint32_t i = 1; i <= 29; i++) ack(140, 9);
        EXPECT_EQ(phase(), WW_UNVALIDATED);
        EXPECT_EQ(window.cwnd, 150u) << "not increased";
        ack(120, start);
        EXPECT_EQ(phase(), WW_VALIDATING) << "the first unvalidated packet is acknowledged";
    }

    std::uint32_t delivered = 0, rtt_us = kRtt;
    bool limited = true;
};

TEST_F(CarefulResume, JumpsToHalfOfWhatWasSavedAndPacesIt) {  // 3.3 and 4.3.2
    confirm();
    EXPECT_EQ(phase(), WW_UNVALIDATED);
    EXPECT_EQ(window.cwnd, 150u);
    EXPECT_EQ(ww_resume_pipe(&state.start.resume), 29u) << "PipeSize = flight_size";
    EXPECT_NEAR(ww::test::bytes_per_second(window.pacing) / 10 / kMss, 150, 0.01);
}

TEST_F(CarefulResume, GoesOnInSlowStartWithoutALoss) {  // Appendix B.1
    send_unvalidated();
    EXPECT_EQ(window.cwnd, 121u) << "flight_size, and slow start";
    EXPECT_EQ(window.pacing, 0u);
    for (int i = 0; i < 120; i++) ack(120, delivered);
    EXPECT_EQ(phase(), WW_RESUME_OVER);
    EXPECT_EQ(window.cwnd, 241u);
    EXPECT_EQ(window.ssthresh, WW_SSTHRESH_INFINITE);
    loss();
    EXPECT_EQ(window.cwnd, 120u) << "normal control";
}

TEST_F(CarefulResume, FallsToPipeSizeIfRateLimited) {  // 3.3, Check flight_size
    for (const auto& [sent, expected] : {std::pair{20u, 60u}, {5u, 60u}}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
        delivered = 0;
        confirm();
        const std::uint32_t start = delivered;
        for (int i = 0; i < 29; i++) ack(29 + sent);
        ack(sent, start);
        EXPECT_EQ(phase(), WW_RESUME_OVER);
        EXPECT_EQ(window.cwnd, expected) << "29, 30 ACKs and the growth of the last";
    }
}

TEST_F(CarefulResume, LeavesUnvalidatedAfterARoundTripOrWhenAllIsSent) {  // 3.3
    for (const bool sent : {false, true}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
        delivered = 0;
        confirm();
        if (!sent) now_us += kRtt;
        ack(sent ? 149 : 100);
        EXPECT_EQ(phase(), WW_VALIDATING);
        EXPECT_EQ(window.cwnd, sent ? 150u : 101u);
    }
}

TEST_F(CarefulResume, RetreatsToHalfThePipe) {  // Appendix B.4: packet 64 is lost
    for (const ww_protocol id : {WW_PROTOCOL_SACK, WW_PROTOCOL_CUBIC}) {
        *static_cast<Host*>(this) = Host(configured(id));
        delivered = 0;
        send_unvalidated();
        for (int i = 0; i < 4; i++) ack(119);
        EXPECT_EQ(ww_resume_pipe(&state.start.resume), 63u);
        loss(119);
        EXPECT_EQ(phase(), WW_SAFE_RETREAT);
        EXPECT_EQ(window.cwnd, 31u) << "63 / 2";
        EXPECT_EQ(window.ssthresh, 31u);
        const std::uint32_t start = delivered;
        for (int i = 0; i < 86; i++) ack(119, start - 1, WW_RECOVERY);
        for (int i = 0; i < 9; i++) ack(119, start, WW_RECOVERY);  // retransmitted
        leave_recovery();
        EXPECT_EQ(window.cwnd, 31u) << "not increased";
        EXPECT_EQ(window.ssthresh, id == WW_PROTOCOL_CUBIC ? 149u * 7 / 10 : 149u / 2)
            << "Beta PipeSize, 63 + 86";
        EXPECT_EQ(phase(), WW_RESUME_OVER);
    }
}

TEST_F(CarefulResume, RetreatsBecauseOfAMark) {  // 3.4: "packet loss or ECN-CE marking"
    send_unvalidated();
    mark(120);
    EXPECT_EQ(phase(), WW_SAFE_RETREAT);
    EXPECT_EQ(window.cwnd, 29u) << "59 / 2";
    for (int i = 0; i < 119; i++) ack(120, delivered);
    EXPECT_EQ(window.cwnd, 29u);
    ack(120, delivered);
    EXPECT_EQ(phase(), WW_RESUME_OVER);
    EXPECT_EQ(window.ssthresh, 59u / 2) << "what was sent since does not count";
}

TEST_F(CarefulResume, GivesUpWhereThePathIsAnother) {  // 3.2 and 4.2.1
    for (const auto& [rtt, expected] : {std::pair{50000u, WW_RESUME_OVER},
                                        {50001u, WW_UNVALIDATED},
                                        {1000000u, WW_UNVALIDATED},
                                        {1000001u, WW_RESUME_OVER}}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
        rtt_us = rtt;
        confirm();
        EXPECT_EQ(phase(), expected) << rtt;
    }
}

TEST_F(CarefulResume, GivesUpAfterCongestionOrWithALargerWindow) {
    ack(9);
    loss(9);
    EXPECT_EQ(phase(), WW_RESUME_OVER) << "Appendix B.3";
    *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
    config.resume_cwnd = 40;
    confirm();
    EXPECT_EQ(phase(), WW_RESUME_OVER) << "cwnd is 20 already";
    for (const bool undone : {false, true}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
        send_unvalidated();
        if (undone)
            undo();
        else
            timeout();
        EXPECT_EQ(phase(), WW_RESUME_OVER) << "3.6";
    }
}

TEST_F(CarefulResume, WaitsUntilTheWindowLimitsTheSender) {  // 4.2
    limited = false;
    confirm();
    EXPECT_EQ(phase(), WW_RECONNAISSANCE);
    limited = true;
    ack(29);
    EXPECT_EQ(phase(), WW_UNVALIDATED);
}

TEST_F(CarefulResume, DoesNothingWithoutSavedParameters) {
    config.resume_cwnd = 0;
    confirm();
    EXPECT_EQ(window.cwnd, 20u);
    EXPECT_EQ(window.pacing, 0u);
}

}  // namespace
