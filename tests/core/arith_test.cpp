// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the core's arithmetic with 128-bit references: within its bounds nothing overflows.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../../core/westwood.h"

namespace {

__extension__ using Wide = unsigned __int128;

// Draws a number evenly over the orders of magnitude up to `bits`, and often an extreme one.
std::uint64_t spread(std::mt19937_64& random, unsigned bits) {
    const unsigned width = static_cast<unsigned>(random() % (bits + 1));
    const std::uint64_t top = width == 0 ? 0 : UINT64_MAX >> (64 - width);
    return random() % 8 == 0 ? top : random() & top;
}

TEST(Arithmetic, DivisionByZeroIsZero) { EXPECT_EQ(ww_div(5, 0), 0u); }

TEST(Arithmetic, AWrappingCounterHasReachedNumbersLessThanHalfItsRangeBehind) {
    for (const std::uint32_t end : {0u, 1000u, UINT32_MAX}) {
        EXPECT_TRUE(ww_reached(end, end));
        EXPECT_TRUE(ww_reached(end + 0x7fffffffu, end));
        EXPECT_FALSE(ww_reached(end + 0x80000000u, end));
        EXPECT_FALSE(ww_reached(end - 1, end));
    }
}

TEST(Arithmetic, ScaleIsTheRoundedQuotient) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000000; i++) {
        const std::uint64_t c = 1 + spread(random, 30), b = spread(random, 43);
        const std::uint64_t a = random() % (c + 1);
        const Wide exact = (static_cast<Wide>(a) * b + c / 2) / c;
        ASSERT_EQ(ww_scale(a, b, c), static_cast<std::uint64_t>(exact))
            << a << " " << b << " " << c;
    }
}

TEST(Arithmetic, RateIsTheQuotientUpToItsBound) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 1000000; i++) {
        const std::uint64_t bytes = spread(random, 48), us = 1 + spread(random, 35);
        const Wide exact = static_cast<Wide>(bytes) * 256000000u / us;
        const Wide bounded = std::min<Wide>(exact, WW_BW_MAX);
        ASSERT_EQ(ww_rate(bytes, us), static_cast<std::uint64_t>(bounded)) << bytes << " " << us;
    }
    EXPECT_EQ(ww_rate(1000, 0), 0u);
    EXPECT_EQ(ww_rate(UINT64_MAX, UINT64_MAX) <= WW_BW_MAX, true);
}

TEST(Arithmetic, ARateCoversAtMostNineteenHours) {  // 2^36 us
    const std::uint64_t bytes = UINT64_C(1) << 47, longest_us = (UINT64_C(1) << 36) - 1;
    const Wide exact = static_cast<Wide>(bytes) * 256000000u / longest_us;
    EXPECT_EQ(ww_rate(bytes, longest_us), static_cast<std::uint64_t>(exact));
    EXPECT_EQ(ww_rate(bytes, longest_us + 1), static_cast<std::uint64_t>(exact));
    EXPECT_EQ(ww_rate(bytes, longest_us << 4), static_cast<std::uint64_t>(exact));
    // For less than 2^36 bytes any time is allowed.
    for (const std::uint64_t few : {UINT64_C(1) << 35, (UINT64_C(1) << 36) - 1})
        EXPECT_EQ(ww_rate(few, UINT64_C(1) << 40),
                  static_cast<std::uint64_t>((static_cast<Wide>(few) * 256000000u) >> 40));
    EXPECT_EQ(ww_rate(UINT64_C(1) << 36, UINT64_C(1) << 40), 256000000u);
}

TEST(Arithmetic, BytesInATimeAreTheProductWithinAByte) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000000; i++) {
        const std::uint64_t bandwidth = spread(random, 45);
        const auto us = static_cast<std::uint32_t>(spread(random, 29));
        const Wide exact = static_cast<Wide>(bandwidth) * us / 256000000u;
        const std::uint64_t got = ww_bytes_in(bandwidth, us);
        ASSERT_LE(got, static_cast<std::uint64_t>(exact));
        ASSERT_GE(got + 1, static_cast<std::uint64_t>(exact));
    }
}

TEST(Arithmetic, BytesDoNotOverflowWhereTheFormulasMeet) {  // at 2^35
    const std::uint32_t us = UINT32_C(1) << 29;
    for (std::uint64_t bandwidth = (UINT64_C(1) << 35) - 1; bandwidth <= (UINT64_C(1) << 35) + 1;
         bandwidth++)
        EXPECT_EQ(ww_bytes_in(bandwidth, us),
                  static_cast<std::uint64_t>(static_cast<Wide>(bandwidth) * us / 256000000u));
}

TEST(Arithmetic, BytesCoverAtMostNineMinutes) {  // 2^29 us
    const auto most = static_cast<std::uint64_t>((static_cast<Wide>(WW_BW_MAX) << 29) / 256000000u);
    for (const std::uint32_t us : {UINT32_C(1) << 29, (UINT32_C(1) << 29) + 1, UINT32_MAX})
        EXPECT_EQ(ww_bytes_in(WW_BW_MAX, us), most);
}

TEST(Arithmetic, TheAreaOfASampleIsItsBytesUpToSixteenGigabytes) {  // whatever its time was
    const std::uint64_t most = UINT64_C(1) << 34, of_a_byte = 256000000;
    EXPECT_EQ(ww_area(1), of_a_byte);
    EXPECT_EQ(ww_area(most), most * of_a_byte);
    EXPECT_EQ(ww_area(most + 1), most * of_a_byte);
}

TEST(Arithmetic, TheTustinStepStaysWithinItsInputs) {
    std::mt19937_64 random(4);
    for (int i = 0; i < 1000000; i++) {
        const std::uint64_t tau = 1 + spread(random, 25) % WW_TAU_MAX_US;
        const std::uint64_t span = std::min(1 + spread(random, 26), 2 * tau - 1);
        const std::uint64_t b = std::min(spread(random, 45), WW_BW_MAX);
        const std::uint64_t last = std::min(spread(random, 45), WW_BW_MAX);
        const std::uint64_t area = spread(random, 62);
        const Wide exact =
            (static_cast<Wide>(2 * tau - span) * b + static_cast<Wide>(span) * last + area) /
            (2 * tau + span);
        const std::uint64_t bounded = static_cast<std::uint64_t>(std::min<Wide>(exact, WW_BW_MAX));
        const std::uint64_t got = ww_filter_tustin(b, area, last, span, tau);
        ASSERT_LE(got, bounded + 2);
        ASSERT_GE(got + 2, bounded);
    }
}

// From 1 kb/s to 1 Tb/s and 10 us to 60 s the window is the BDP, within a segment and 0.1 %.
TEST(Range, TheBdpIsRightFromTheSlowestToTheFastestPath) {
    for (const double bps : {1e3, 64e3, 2e6, 1e9, 100e9, 1e12}) {
        for (const std::uint32_t rtt_us : {10u, 1000u, 90000u, 60000000u}) {
            ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_PLUS);
            ww_state state{};
            ww_init(&config, &state);
            ww_window window{10, WW_SSTHRESH_INFINITE, 0};
            const double period_us = std::max(50000.0, static_cast<double>(rtt_us));
            const double segments = bps / 8 * period_us / 1e6 / 1000;
            const double acks = std::max(1.0, std::ceil(segments / 4e9));
            const double step_us = std::max(period_us / acks, 8e9 / bps);
            const auto acked = static_cast<std::uint32_t>(std::max(1.0, bps / 8 * step_us / 1e9));
            double clock = 1e6;
            for (int i = 0; i < 200; i++) {
                clock += step_us;
                ww_sample sample{};
                sample.now_us = static_cast<std::uint64_t>(clock);
                sample.mss = 1000;
                sample.acked_segments = acked;
                sample.rtt_us = rtt_us;
                ww_on_ack(&config, &state, &window, &sample);
            }
            const double bdp = std::clamp(acked / step_us * rtt_us, 2.0, 268435456.0);
            const double got = ww_ssthresh(&config, &state, state.westwood.mark_us, 10, 1000);
            EXPECT_NEAR(got, bdp, 1 + bdp * 1e-3) << bps << " bit/s, " << rtt_us << " us";
        }
    }
}

}  // namespace
