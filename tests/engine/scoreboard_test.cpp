// SPDX-License-Identifier: BSD-3-Clause
//
// The scoreboard by RFC 6675, 4: the model answers by looking at every segment.
#include "engine/tcp/scoreboard.hpp"

#include <random>
#include <set>

#include "engine/tcp/seen_blocks.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

constexpr std::int64_t kNone = -1;
constexpr std::uint32_t kDupThresh = 3;

struct Rfc6675 {
    std::int64_t high_ack = -1;  // the highest segment cumulatively acknowledged
    std::int64_t next = 0;       // HighData + 1
    std::int64_t high_rxt = -1;
    std::int64_t rescue_rxt = kNone;
    std::int64_t recovery_point = -1;
    std::int64_t timed_out_below = 0;  // 5.1: after a timeout all that is not SACKed counts as lost
    std::set<std::int64_t> sacked;

    bool is_sacked(std::int64_t s) const { return sacked.count(s) != 0; }

    // "More than (DupThresh - 1) * SMSS bytes with sequence numbers greater than SeqNum SACKed."
    bool is_lost(std::int64_t s) const {
        const auto above = std::distance(sacked.upper_bound(s), sacked.end());
        return !is_sacked(s) && (s < timed_out_below || above > static_cast<int>(kDupThresh) - 1);
    }

    std::int64_t set_pipe() const {
        std::int64_t pipe = 0;
        for (std::int64_t s = high_ack + 1; s < next; s++) {
            if (is_sacked(s)) continue;
            if (!is_lost(s)) pipe++;    // (a)
            if (s <= high_rxt) pipe++;  // (b)
        }
        return pipe;
    }

    std::int64_t rule(int number) const {
        for (std::int64_t s = high_ack + 1; s < next && number != 4; s++) {
            if (is_sacked(s) || s <= high_rxt) continue;                 // (1.a)
            const bool below = !sacked.empty() && s < *sacked.rbegin();  // (1.b)
            // After a timeout every segment must be sent again, even if nothing above it is SACKed.
            if (!below && s >= timed_out_below) continue;
            if (number == 1 && !is_lost(s)) continue;  // (1.c)
            return s;
        }
        if (number != 4 || (rescue_rxt != kNone && high_ack <= rescue_rxt)) return kNone;
        for (std::int64_t s = next - 1; s > high_ack; s--)
            if (!is_sacked(s)) return s;
        return kNone;
    }
};

class Both {
  public:
    explicit Both(std::uint64_t seed) : random_(seed) { board_.reserve(16, 0); }

    void step() {
        switch (random_() % 8) {
        case 0:
        case 1:
            send_new();
            break;
        case 2:
        case 3:
            receive_sack();
            break;
        case 4:
            receive_ack();
            break;
        case 5:
        case 6:
            recover();
            break;
        case 7:
            if (random_() % 25 == 0) time_out();
        }
        compare();
    }

    int rescues = 0, third_rules = 0, first_rules = 0;

  private:
    std::int64_t una() const { return rfc_.high_ack + 1; }

    void send_new() {
        const auto segments = static_cast<std::int64_t>(1 + random_() % 6);
        if (rfc_.next + segments - una() > 200) return;
        rfc_.next += segments;
        while (static_cast<std::int64_t>(size_) < rfc_.next - una())
            board_.reserve(size_ *= 2, una());
    }

    // SACK reports a block above the first missing segment.
    void receive_sack() {
        const std::int64_t room = rfc_.next - una() - 1;
        if (room < 1) return;
        const std::int64_t start = una() + 1 + static_cast<std::int64_t>(random_()) % room;
        if (start <= una()) return;
        const std::int64_t end =
            std::min(rfc_.next, start + 1 + static_cast<std::int64_t>(random_() % 4));
        bool news = false;
        for (std::int64_t s = start; s < end; s++) news |= rfc_.sacked.insert(s).second;
        ASSERT_EQ(board_.add(start, end, [](std::int64_t, std::int64_t) {}), news);
        board_.detect(una(), kDupThresh);
    }

    // The receiver gets the next few segments, and has all SACKed ones that follow.
    void receive_ack() {
        if (una() >= rfc_.next) return;
        const std::int64_t before = una();
        std::int64_t after = before + 1 + static_cast<std::int64_t>(random_() % 5);
        after = std::min(after, rfc_.next);
        while (rfc_.is_sacked(after)) after++;
        board_.advance(before, after);
        rfc_.high_ack = after - 1;
        rfc_.sacked.erase(rfc_.sacked.begin(), rfc_.sacked.lower_bound(after));
        if (after > rfc_.recovery_point) recovering_ = false;
    }

    // Section 5, step 4, then NextSeg repeatedly.
    void recover() {
        if (una() >= rfc_.next) return;
        if (!recovering_) {
            if (!rfc_.is_lost(una()) || rfc_.high_rxt >= una()) return;
            recovering_ = true;
            rfc_.recovery_point = rfc_.next - 1;
            rfc_.rescue_rxt = kNone;
            rfc_.high_rxt = una();
            board_.enter_recovery(una());
            board_.mark_lost(una());
            board_.retransmitted(una());
            return;
        }
        std::int64_t segment = rfc_.rule(1);
        ASSERT_EQ(board_.next_lost(una()), segment);
        if (segment != kNone) {
            first_rules++;
        } else {
            segment = rfc_.rule(3);
            ASSERT_EQ(board_.next_unsacked(una()), segment);
            third_rules += segment != kNone;
        }
        if (segment != kNone) {
            rfc_.high_rxt = segment;
            return board_.retransmitted(segment);
        }
        segment = rfc_.rule(4);  // RescueRxt is set, HighRxt is not
        ASSERT_EQ(board_.rescue(una(), rfc_.next, rfc_.recovery_point + 1), segment);
        if (segment != kNone) rfc_.rescue_rxt = rfc_.recovery_point;
        rescues += segment != kNone;
    }

    void time_out() {
        if (una() >= rfc_.next) return;
        board_.mark_all_lost(una(), rfc_.next);
        rfc_.timed_out_below = rfc_.next;
        rfc_.recovery_point = rfc_.next - 1;
        rfc_.rescue_rxt = kNone;
        rfc_.high_rxt = rfc_.high_ack;
        recovering_ = true;
    }

    void compare() {
        ASSERT_EQ(board_.sacked(), static_cast<std::int64_t>(rfc_.sacked.size()));
        for (std::int64_t s = una(); s < rfc_.next; s++)
            ASSERT_EQ(board_.is_lost(s), rfc_.is_lost(s));
        ASSERT_EQ(board_.pipe(una(), rfc_.next), rfc_.set_pipe());
    }

    std::mt19937_64 random_;
    Scoreboard board_;
    std::size_t size_ = 16;
    Rfc6675 rfc_;
    bool recovering_ = false;
};

// ns-3 removes a retransmission from its pipe on the cumulative ACK, not when it is SACKed.
TEST(Scoreboard, MayKeepASackedRetransmissionInThePipe) {
    for (const bool keeps : {false, true}) {
        Scoreboard board(false, keeps);
        board.reserve(16, 0);
        const auto ignored = [](std::int64_t, std::int64_t) {};
        board.add(4, 10, ignored);  // 0 to 3 are lost, of ten
        board.detect(0, kDupThresh);
        board.retransmitted(0);
        board.retransmitted(1);
        EXPECT_EQ(board.pipe(0, 10), 2);
        board.add(1, 2, ignored);  // the retransmission of 1 arrived, that of 0 did not
        EXPECT_EQ(board.pipe(0, 10), keeps ? 2 : 1);
        board.advance(0, 2);
        EXPECT_EQ(board.pipe(2, 10), 0);
    }
}

class ScoreboardOf20Seeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Engine, ScoreboardOf20Seeds, testing::Range<std::uint64_t>(0, 6));

TEST_P(ScoreboardOf20Seeds, FollowsRfc6675) {
    int first_rules = 0, third_rules = 0, rescues = 0;
    for (std::uint64_t seed = 20 * GetParam() + 1; seed <= 20 * GetParam() + 20; seed++) {
        Both both(seed);
        for (int i = 0; i < 600; i++) {
            both.step();
            ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " step " << i;
        }
        first_rules += both.first_rules;
        third_rules += both.third_rules;
        rescues += both.rescues;
    }
    EXPECT_GT(first_rules, 150);  // all rules were used
    EXPECT_GT(third_rules, 5);
    EXPECT_GT(rescues, 5);
}

// RFC 4015: after a spurious recovery whatever is not SACKed is in flight.
TEST(Scoreboard, ForgetsItsLossesButNotWhatArrived) {
    Scoreboard board;
    board.reserve(16, 0);
    board.add(4, 10, [](std::int64_t, std::int64_t) {});
    board.detect(0, kDupThresh);
    ASSERT_EQ(board.pipe(0, 10), 0);
    board.forget_losses(0, 10);
    for (std::int64_t s = 0; s < 10; s++) {
        EXPECT_FALSE(board.is_lost(s)) << s;
        EXPECT_EQ(board.is_sacked(s), s >= 4) << s;
    }
    EXPECT_EQ(board.pipe(0, 10), 4);
    EXPECT_EQ(board.next_lost(0), -1);
}

// RFC 6675, 4, NextSeg rule 4: a second rescue needs a HighACK greater than RescueRxt.
TEST(Scoreboard, ListsEachLossOnceIfAsked) {
    Scoreboard board(false, false, true);
    board.reserve(16, 0);
    std::vector<std::int64_t> segments;
    std::vector<std::uint32_t> counts;
    std::vector<bool> continuing;
    const auto take = [&] {
        board.take_lost([&](std::int64_t segment, std::uint32_t found_lost, bool continues) {
            segments.push_back(segment);
            counts.push_back(found_lost);
            continuing.push_back(continues);
        });
    };
    for (const std::int64_t s : {3, 4, 7}) board.mark_lost(s);
    take();
    board.mark_lost(4);
    board.mark_lost(8);
    take();
    EXPECT_EQ(segments, (std::vector<std::int64_t>{3, 4, 7, 8}));
    EXPECT_EQ(counts, (std::vector<std::uint32_t>{1, 2, 3, 4}));
    EXPECT_EQ(continuing, (std::vector<bool>{false, true, false, true}));
}

TEST(Scoreboard, RescuesOncePerRecovery) {
    Scoreboard board;
    board.reserve(32, 0);
    constexpr std::int64_t kRecoveryPoint = 9;  // the last segment sent by then
    EXPECT_EQ(board.rescue(0, 10, kRecoveryPoint + 1), 9);
    for (const std::int64_t una : {0, 5, 10})  // HighACK is the segment before
        EXPECT_EQ(board.rescue(una, 20, kRecoveryPoint + 1), -1) << una;
    EXPECT_EQ(board.rescue(11, 20, 20), 19);
}

// RFC 6675, 4, NextSeg rule 1: the lowest first, also those that RACK finds lost again.
TEST(Scoreboard, SegmentsLostAgainComeBeforeHigherLosses) {
    Scoreboard board(true);
    board.reserve(16, 0);
    for (std::int64_t s = 0; s < 10; s++) board.mark_lost_by_time(s);
    for (std::int64_t s = 0; s < 6; s++) {
        EXPECT_EQ(board.next_lost(0), s);
        board.retransmitted(s);
    }
    board.mark_lost_by_time(4);
    board.mark_lost_by_time(2);
    board.mark_lost_by_time(3);
    board.add(3, 4, [](std::int64_t, std::int64_t) {});  // it was just late
    for (const std::int64_t s : {2, 4, 6, 7, 8, 9}) {
        EXPECT_EQ(board.next_lost(0), s);
        EXPECT_EQ(board.next_lost(0), s);  // asking changes nothing
        board.retransmitted(s);
    }
    EXPECT_EQ(board.next_lost(0), -1);
}

// RFC 8985, 6.2, step 5: the retransmission may be lost before the next one is looked for.
TEST(Scoreboard, FindsALostRetransmissionWhereItLastSearched) {
    Scoreboard board(true);
    board.reserve(16, 0);
    board.mark_lost_by_time(2);
    for (int times = 0; times < 3; times++) {
        EXPECT_EQ(board.next_lost(0), 2);
        board.retransmitted(2);
        board.mark_lost_by_time(2);
    }
}

// RFC 2018, 4: an ACK repeats blocks of the one before.
TEST(SeenBlocks, AreThoseOfTheLastSackWithoutItsDsack) {
    SeenBlocks seen;
    const SackBlocks::Block twice{100, 200}, first{300, 400}, second{500, 600};
    EXPECT_FALSE(seen.has(first, 0));
    seen.remember({3, {twice, first, second}}, 1, 9);
    EXPECT_TRUE(seen.has(first, 0) && seen.has(second, 8));
    EXPECT_FALSE(seen.has(twice, 0)) << "a D-SACK put nothing on the scoreboard";
    EXPECT_FALSE(seen.has({300, 401}, 0)) << "a longer one brings news";
    EXPECT_FALSE(seen.has(first, 9)) << "4 GB later the same numbers mean other data";
    seen.remember({1, {second}}, 0, 9);
    EXPECT_FALSE(seen.has(first, 0));
}

}  // namespace
}  // namespace ww::sim::test
