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

TEST(AckCount, FollowsThePseudoCode) {
    struct Row {
        const char* why;
        bool literal;
        std::uint32_t dupacks,
            arrived;  // each stands for so many segments; 0: the host does not know
        std::uint32_t acked, counted, accounted_for;
    };
    const Row rows[] = {
        {"a duplicate is remembered", true, 2, 0, 0, 0, 2},
        {"one of a receiver with GRO stands for several", false, 1, 8, 9, 1, 0},
        {"an ACK for one segment leaves the account", true, 1, 0, 1, 1, 1},
        {"a delayed ACK counts all it covers", true, 0, 0, 2, 2, 0},
        {"and a longer one", true, 0, 0, 8, 8, 0},
        {"a cumulative ACK counts what duplicates had not announced", true, 3, 0, 5, 2, 0},
        {"in our variant, too", false, 3, 0, 5, 2, 0},
        {"a partial ACK is the retransmission: accounted_for - cumul_ack", true, 6, 0, 4, 1, 2},
        {"one of the four was announced by no duplicate", false, 6, 0, 4, 1, 3},
        {"an ACK for nothing counts nothing", false, 0, 0, 0, 0, 0},
    };
    for (const Row& row : rows) {
        Counter counter(row.literal);
        for (std::uint32_t i = 0; i < row.dupacks; i++)
            EXPECT_EQ(counter.dupack(row.arrived), std::max(row.arrived, 1u)) << row.why;
        EXPECT_EQ(counter.ack(row.acked), row.counted) << row.why;
        EXPECT_EQ(counter.accounted_for(), row.accounted_for) << row.why;
    }
}

// One loss episode of NewReno: the window's first segment and some others are lost. Each arriving
// segment brings a duplicate ACK, then each retransmission an ACK.
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

// The cumulative ACK that ends the episode makes up for a lost duplicate, where it still can.
TEST(AckCount, ConservesSegmentsOverAnyLossEpisode) {
    for (const double ack_loss : {0.0, 0.3}) {
        std::mt19937 random(1);
        for (int i = 0; i < 20000; i++) {
            const Episode episode = run_episode(random, false, ack_loss);
            ASSERT_LE(episode.counted, episode.delivered + (ack_loss > 0));
            ASSERT_TRUE(ack_loss > 0 || episode.counted == episode.delivered);
        }
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
