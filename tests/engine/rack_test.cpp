// SPDX-License-Identifier: BSD-3-Clause
//
// Rack, which examines each segment once, beside RFC 8985, 6.2's loop over all segments.
#include "engine/tcp/rack.hpp"

#include <random>

#include "engine/tcp/frto.hpp"
#include "engine/tcp/loss_probe.hpp"
#include "engine/tcp/undo.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// The segments of a connection, and RACK as the RFC writes it.
class RackModel {
  public:
    struct Segment {
        Time sent;
        bool again = false, arrived = false, lost = false;
    };

    void send(Time now) { segments.push_back({now}); }
    void send_again(std::size_t s, Time now) {
        segments[s].sent = now;
        segments[s].again = true;
        segments[s].lost = false;
    }
    void deliver(std::size_t s, Time now) {
        Segment& segment = segments[s];
        segment.arrived = true;
        segment.lost = false;
        const Time rtt = now - segment.sent;
        if (segment.again && rtt < min_rtt) return;
        if (segment.sent > xmit || (segment.sent == xmit && s > end))
            xmit = segment.sent, end = s, rack_rtt = rtt;
    }
    void detect(Time now, Time window) {
        for (std::size_t s = 0; s < segments.size(); s++) {
            Segment& segment = segments[s];
            const bool before = segment.sent < xmit || (segment.sent == xmit && s < end);
            if (!segment.arrived && before && segment.sent + rack_rtt + window <= now)
                segment.lost = true;
        }
    }
    // Returns how long until the next one may be lost, 0: none is suspected.
    Time wait(Time now, Time window) const {
        Time least = 0;
        for (std::size_t s = 0; s < segments.size(); s++) {
            const Segment& segment = segments[s];
            const bool before = segment.sent < xmit || (segment.sent == xmit && s < end);
            if (segment.arrived || segment.lost || !before) continue;
            const Time left = segment.sent + rack_rtt + window - now;
            if (least == 0 || left < least) least = left;
        }
        return least;
    }

    std::vector<Segment> segments;
    Time min_rtt = 50 * kMs, xmit = -1, rack_rtt = 0;
    std::size_t end = 0;
};

TEST(Rack, FindsTheSameLossesAsTheLoopOfTheRfc) {
    std::uint64_t losses = 0, again_lost = 0;
    for (std::uint64_t seed = 1; seed <= 30; seed++) {
        std::mt19937_64 random(seed);
        RackModel model;
        Rack rack;
        Scoreboard board(true);
        SendTimes times;
        std::int64_t una = 0, next = 0;
        for (Time now = kMs; now < 3000 * kMs; now += static_cast<Time>(1 + random() % 3) * kMs) {
            const std::uint64_t what = random() % 10;
            const auto pick = static_cast<std::size_t>(
                una +
                static_cast<std::int64_t>(
                    random() % static_cast<std::uint64_t>(std::max<std::int64_t>(next - una, 1))));
            if (what < 4 && next - una < 100) {
                if (!times.has_room_for(next, una)) times.grow(una, next);
                board.reserve(times.capacity(), una);
                times.on_sent(next++, now);
                model.send(now);
            } else if (what < 8 && next > una && !model.segments[pick].arrived) {
                const auto s = static_cast<std::int64_t>(pick);
                const bool again = times.was_sent_again(s);
                board.add(s, s + 1, [](std::int64_t, std::int64_t) {});
                rack.on_delivered(now, s, times.last(s), again, model.min_rtt);
                model.deliver(pick, now);
                std::int64_t to = una;
                while (to < next && model.segments[static_cast<std::size_t>(to)].arrived) to++;
                board.advance(una, to);
                una = to;
            } else if (const std::int64_t s = board.next_lost(una); s >= 0) {
                board.retransmitted(s);
                times.on_sent_again(s, now);
                rack.on_sent_again(now, s);
                model.send_again(static_cast<std::size_t>(s), now);
            }
            const Time window = static_cast<Time>(random() % 2) * 10 * kMs;
            const Time wait = rack.find_losses(now, una, next, window, board, times);
            model.detect(now, window);
            ASSERT_EQ(wait, model.wait(now, window)) << "at " << now;
            for (std::int64_t s = una; s < next; s++) {
                const RackModel::Segment& expected = model.segments[static_cast<std::size_t>(s)];
                ASSERT_EQ(board.awaits_repair(s), expected.lost)
                    << "segment " << s << " at " << now;
                losses += expected.lost;
                again_lost += expected.lost && expected.again;
            }
        }
    }
    EXPECT_GT(losses, 1000u);
    EXPECT_GT(again_lost, 100u);
}

// 6.2, step 3: only a segment that was sent once and arrives below RACK.fack shows reordering.
TEST(Rack, LearnsOfReorderingFromALateOriginal) {
    Rack rack;
    const auto window = [&] { return rack.window(true, 100 * kMs, 120 * kMs); };
    for (const std::int64_t segment : {0, 1, 4}) {
        rack.on_ack();
        rack.on_delivered(100 * kMs, segment, segment * kMs, false, 50 * kMs);
    }
    EXPECT_EQ(window(), 0) << "in order";
    rack.on_ack();
    rack.on_delivered(200 * kMs, 2, 110 * kMs, true, 50 * kMs);
    EXPECT_EQ(window(), 0) << "sent again";
    rack.on_ack();
    rack.on_delivered(201 * kMs, 3, 3 * kMs, false, 50 * kMs);
    EXPECT_EQ(window(), 25 * kMs) << "late";
}

// 6.2, step 3; Linux: prior_fack in tcp_clean_rtx_queue(). A SACK block is read before the
// cumulative part, so of one ACK segment 4 is delivered before segment 2.
TEST(Rack, TheSegmentsOfOneAckShowNoReordering) {
    Rack rack;
    rack.on_ack();
    for (const std::int64_t segment : {4, 2})
        rack.on_delivered(100 * kMs, segment, segment * kMs, false, 50 * kMs);
    EXPECT_EQ(rack.window(true, 100 * kMs, 120 * kMs), 0);
}

// 6.3: a timeout marks the first segment, and those for which step 5's time has passed.
TEST(Rack, ATimeoutMarksTheFirstSegmentAndTheOverdue) {
    Rack rack;
    Scoreboard board(true);
    SendTimes times;
    for (std::int64_t s = 0; s < 6; s++) {
        if (!times.has_room_for(s, 0)) times.grow(0, s);
        board.reserve(times.capacity(), 0);
        times.on_sent(s, s * 10 * kMs);
    }
    rack.on_delivered(70 * kMs, 2, times.last(2), false, 50 * kMs);  // its round trip: 50 ms
    board.add(2, 3, [](std::int64_t, std::int64_t) {});
    // With a window of 20 ms, what was sent 70 ms ago or before is overdue.
    rack.mark_on_timeout(100 * kMs, 0, 5, 20 * kMs, board, times);
    for (const std::int64_t lost : {0, 1, 3}) EXPECT_TRUE(board.awaits_repair(lost)) << lost;
    for (const std::int64_t other : {2, 4, 5}) EXPECT_FALSE(board.awaits_repair(other)) << other;
    EXPECT_EQ(board.pipe(0, 5), 1);
    Scoreboard fresh(true);
    fresh.reserve(times.capacity(), 0);
    Rack unsure;
    unsure.mark_on_timeout(kMs, 0, 6, 20 * kMs, fresh, times);
    EXPECT_TRUE(fresh.awaits_repair(0)) << "the first in any case";
    EXPECT_EQ(fresh.pipe(0, 6), 5);
}

// 6.2, step 4: min(reo_wnd_mult min_RTT / 4, SRTT); 0 if `at_once` and no reordering was seen.
TEST(Rack, TheReorderingWindowGrowsWithDSacksAndPersistsForSixteenRecoveries) {
    Rack rack;
    EXPECT_EQ(rack.window(true, 100 * kMs, 120 * kMs), 0);
    EXPECT_EQ(rack.window(false, 100 * kMs, 120 * kMs), 25 * kMs);
    rack.on_reordering();
    EXPECT_EQ(rack.window(true, 100 * kMs, 120 * kMs), 25 * kMs);
    rack.on_dsack(10, 20);
    rack.on_dsack(15, 25);  // the same round trip
    EXPECT_EQ(rack.window(true, 100 * kMs, 120 * kMs), 50 * kMs);
    for (int round = 0; round < 9; round++) rack.on_dsack(100 + 100 * round, 200 + 100 * round);
    EXPECT_EQ(rack.window(true, 100 * kMs, 120 * kMs), 120 * kMs);  // SRTT
    for (int recovery = 0; recovery < 15; recovery++) rack.on_recovery_exit();
    EXPECT_EQ(rack.window(true, 100 * kMs, 120 * kMs), 120 * kMs);
    rack.on_recovery_exit();
    EXPECT_EQ(rack.window(true, 100 * kMs, 120 * kMs), 25 * kMs);
}

// 7.4.2: the four cases of an ACK at or beyond TLP.end_seq.
TEST(LossProbe, TellsWhetherItRepairedALoss) {
    LossProbe probe;
    probe.on_sent(10, false);
    EXPECT_FALSE(probe.on_ack(9, false, false));
    EXPECT_TRUE(probe.is_out());
    EXPECT_FALSE(probe.on_ack(10, false, false));  // new data, acknowledged
    EXPECT_FALSE(probe.is_out());
    probe.on_sent(10, true);
    EXPECT_FALSE(probe.on_ack(10, false, false));  // the first copy or the second: not known yet
    EXPECT_TRUE(probe.is_out());
    EXPECT_TRUE(probe.on_ack(11, false, false));  // no D-SACK: the first copy was lost
    EXPECT_FALSE(probe.is_out());
    probe.on_sent(20, true);
    EXPECT_FALSE(probe.on_ack(20, true, false));  // a D-SACK: both arrived
    EXPECT_FALSE(probe.is_out());
    probe.on_sent(30, true);
    EXPECT_FALSE(probe.on_ack(30, false, true));  // a duplicate of a receiver without D-SACK
    EXPECT_FALSE(probe.is_out());
}

// RFC 3708, 2: every retransmission must be reported; RFC 3522, 3.2: only the first ACK counts.
TEST(Undo, OneAckOfARetransmissionDecides) {
    Undo undo;
    undo.begin(0);
    EXPECT_FALSE(undo.on_advance(false, false)) << "of a segment that was not sent again";
    EXPECT_TRUE(undo.on_advance(true, false)) << "the original arrived";
    EXPECT_FALSE(undo.on_advance(true, false)) << "it is decided";
}

TEST(Undo, NeedsProofForTheWholeEpisode) {
    Undo undo;
    EXPECT_FALSE(undo.on_dsack(5));
    undo.begin(5);
    undo.on_sent_again();
    undo.on_sent_again();
    EXPECT_FALSE(undo.on_dsack(4));  // before the episode
    EXPECT_FALSE(undo.on_dsack(5));
    EXPECT_TRUE(undo.on_dsack(6));
    undo.begin(7);
    undo.on_sent_again();
    EXPECT_FALSE(
        undo.on_advance(false, false));  // SND.UNA was not sent again, so the ACK cannot answer it
    EXPECT_FALSE(undo.on_advance(true, true));
    EXPECT_FALSE(undo.on_advance(true, false));  // not the first ACK
    undo.begin(9);
    EXPECT_TRUE(undo.on_advance(true, false));
    undo.begin(11);
    undo.on_sent_again();
    undo.on_recovery_exit();
    // This ACK may answer a probe: it is not the episode's first.
    EXPECT_FALSE(undo.on_advance(true, false));
    EXPECT_TRUE(undo.on_dsack(11));  // a D-SACK may come late
}

}  // namespace
}  // namespace ww::sim::test
