// SPDX-License-Identifier: BSD-3-Clause
//
// The DUPACK bookkeeping (Mascolo et al. 2001; CountAck of Gangadhar et al. 2013, 3.2.2).
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "../../core/westwood.h"

namespace {

ww_config counting(bool literal) {
    ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD);
    config.literal_count = literal;
    return config;
}

class Counter {
  public:
    explicit Counter(bool literal) : config_(counting(literal)) { ww_init(&config_, &state_); }
    std::uint32_t dupack(std::uint32_t arrived = 0) {
        return ww_count_ack(&config_, &state_.westwood, true, arrived);
    }
    std::uint32_t ack(std::uint32_t segments) {
        return ww_count_ack(&config_, &state_.westwood, false, segments);
    }
    std::uint32_t accounted_for() const { return state_.westwood.accounted_for; }

  private:
    ww_config config_;
    ww_state state_{};
};

TEST(AckCount, ADuplicateCountsOneAndIsRemembered) {
    Counter counter(true);
    EXPECT_EQ(counter.dupack(), 1u);
    EXPECT_EQ(counter.dupack(), 1u);
    EXPECT_EQ(counter.accounted_for(), 2u);
}

TEST(AckCount, ADuplicateThatStandsForSeveralCountsThemAll) {  // a receiver with GRO
    Counter counter(false);
    EXPECT_EQ(counter.dupack(8), 8u);
    EXPECT_EQ(counter.ack(9), 1u) << "the retransmission";
    EXPECT_EQ(counter.accounted_for(), 0u);
}

TEST(AckCount, AnAckForOneSegmentCountsOneAndLeavesTheAccount) {
    Counter counter(true);
    counter.dupack();
    EXPECT_EQ(counter.ack(1), 1u);
    EXPECT_EQ(counter.accounted_for(), 1u);
}

TEST(AckCount, ADelayedAckCountsAllItCovers) {
    Counter counter(true);
    EXPECT_EQ(counter.ack(2), 2u);
    EXPECT_EQ(counter.ack(8), 8u);
}

TEST(AckCount, ACumulativeAckCountsWhatDuplicatesHadNotAnnounced) {
    for (const bool literal : {true, false}) {
        Counter counter(literal);
        for (int i = 0; i < 3; i++) counter.dupack();
        EXPECT_EQ(counter.ack(5), 2u);
        EXPECT_EQ(counter.accounted_for(), 0u);
    }
}

TEST(AckCount, APartialAckCountsOnlyTheRetransmission) {
    Counter literal(true), corrected(false);
    for (Counter* counter : {&literal, &corrected}) {
        for (int i = 0; i < 6; i++) counter->dupack();
        EXPECT_EQ(counter->ack(4), 1u);
    }
    EXPECT_EQ(literal.accounted_for(), 2u) << "accounted_for - cumul_ack, to the letter";
    EXPECT_EQ(corrected.accounted_for(), 3u) << "one of the four was announced by no duplicate";
}

TEST(AckCount, AnAckForNothingCountsNothing) {
    Counter counter(false);
    EXPECT_EQ(counter.ack(0), 0u);
}

// One loss episode between a NewReno sender and its receiver. The window's first segment and some
// others are lost. Each arriving segment brings a duplicate ACK, then each retransmission brings an
// ACK.
struct Episode {
    std::uint64_t delivered = 0, counted = 0;
    int third_branch = 0;  // partial ACKs that take the pseudo-code's third branch
};

Episode run_episode(std::mt19937& random, bool literal, double ack_loss) {
    Counter counter(literal);
    Episode episode;
    const std::size_t window = 2 + random() % 200;
    std::bernoulli_distribution lost(0.02 + 0.3 * static_cast<double>(random() % 100) / 100),
        ack_lost(ack_loss);
    std::vector<bool> arrived(window);
    for (std::size_t i = 1; i < window; i++) arrived[i] = !lost(random);
    episode.delivered = window;
    for (std::size_t i = 1; i < window; i++)
        if (arrived[i] && !ack_lost(random)) episode.counted += counter.dupack();
    for (std::size_t una = 0; una < window;) {
        std::size_t next = una + 1;
        while (next < window && arrived[next]) next++;
        const auto acked = static_cast<std::uint32_t>(next - una);
        if (acked > 1 && counter.accounted_for() >= acked) episode.third_branch++;
        episode.counted += counter.ack(acked);
        una = next;
    }
    return episode;
}

TEST(AckCount, ConservesSegmentsOverAnyLossEpisode) {
    std::mt19937 random(1);
    for (int i = 0; i < 20000; i++) {
        const Episode episode = run_episode(random, false, 0);
        ASSERT_EQ(episode.counted, episode.delivered);
    }
}

// The cumulative ACK that ends the episode makes up for a lost duplicate, where it still can.
TEST(AckCount, NeverCountsMoreThanWasDeliveredWhenAcksAreLost) {
    std::mt19937 random(2);
    for (int i = 0; i < 20000; i++) {
        const Episode episode = run_episode(random, false, 0.3);
        ASSERT_LE(episode.counted, episode.delivered + 1);
    }
}

TEST(AckCount, ThePseudoCodeCountsAtMostOneTooManyPerPartialAck) {
    std::mt19937 random(3);
    std::uint64_t excess = 0;
    for (int i = 0; i < 20000; i++) {
        const Episode episode = run_episode(random, true, 0);
        ASSERT_GE(episode.counted, episode.delivered);
        ASSERT_LE(episode.counted,
                  episode.delivered + static_cast<std::uint64_t>(episode.third_branch));
        if (episode.third_branch <= 1) {
            ASSERT_LE(episode.counted, episode.delivered + 1);
        }
        excess += episode.counted - episode.delivered;
    }
    EXPECT_GT(excess, 0u) << "the deviation that ackcount.h names is real";
}

}  // namespace
