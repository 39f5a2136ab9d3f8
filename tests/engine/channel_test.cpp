// SPDX-License-Identifier: BSD-3-Clause
//
// Compares a channel (queue, transmitter, wire, loss) with models that keep every packet.
#include "engine/link/channel.hpp"

#include <deque>
#include <random>

#include "one_link.hpp"
#include "statistics.hpp"

namespace ww::sim::test {
namespace {

Direction direction(std::int64_t rate_bps, Time delay) {
    Direction d;
    d.rate_bps = rate_bps;
    d.delay = delay;
    return d;
}

Random any_random(std::uint64_t seed = 1) { return Random(seed, Stream::loss_forward, 0); }

Channel channel_of(const Direction& d, std::uint32_t overhead = 0) {
    Network network;
    network.duration = kLongest;
    network.links.push_back({0, 1, overhead, d, d});
    return Channel(network, 0, 1);
}

Passage arrival(Time time) { return {Fate::arrives, time}; }
Passage drop(Time time) { return {Fate::dropped, time}; }
Passage loss(Time time) { return {Fate::lost, time}; }

LossProcess process_of(const Loss& loss, const Random& random = any_random()) {
    return LossProcess(loss, random, Random(1, Stream::link_state, 0));
}

bool lose(LossProcess& process) { return process.loses(0); }

// A model of a direction as network.hpp describes it, packet by packet. It lists the waiting
// packets; the one in transmission does not count against the limits.
class ListedChannel {
  public:
    ListedChannel(const Direction& d, std::uint32_t overhead) : d_(d), overhead_(overhead) {}

    Passage transmit(Time now, std::uint32_t ip_bytes) {
        const std::int64_t bytes = ip_bytes + overhead_;
        while (!waiting_.empty() && waiting_.front().start <= now) waiting_.pop_front();
        Time start = now;
        if (free_at_ > now) {
            std::int64_t waiting_bytes = 0;
            for (const Waiting& w : waiting_) waiting_bytes += w.bytes;
            if (static_cast<std::int64_t>(waiting_.size()) + 1 > d_.queue_packets ||
                (d_.queue_bytes != kUnlimited && waiting_bytes + bytes > d_.queue_bytes))
                return {Fate::dropped, now};
            start = free_at_;
            waiting_.push_back({start, bytes});
        }
        const double exact = static_cast<double>(bytes) * 8e12 / static_cast<double>(d_.rate_bps);
        free_at_ = start + static_cast<Time>(std::floor(exact + 0.5));
        return {Fate::arrives, free_at_ + d_.delay};
    }

    std::size_t waiting() const { return waiting_.size(); }

  private:
    struct Waiting {
        Time start;
        std::int64_t bytes;
    };
    Direction d_;
    std::uint32_t overhead_;
    std::deque<Waiting> waiting_;
    Time free_at_ = 0;
};

// As in the simulation: asks first whether there is anything to decide.
Passage cross(Channel& channel, Time now, std::uint32_t bytes) {
    if (channel.pass_if_open(now, bytes, kLongest)) return arrival(now);
    channel.leave_step();
    const Passage passage = channel.transmit(now, bytes);
    channel.join();
    return passage;
}

// Sends bursts of packets of a few sizes with pauses, so that the queue is sometimes empty and
// sometimes full, and its packets have sometimes one size and sometimes several.
void expect_as_listed(const Direction& d, std::uint32_t overhead, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::uint32_t sizes[] = {40, 576, 1500, static_cast<std::uint32_t>(41 + random() % 1459)};
    const std::uint64_t kinds = 1 + random() % 4;
    Channel channel = channel_of(d, overhead);
    ListedChannel model(d, overhead);
    const auto slot = static_cast<std::uint64_t>(1500 * 8 * kSecond / d.rate_bps);
    Time now = 0;
    std::uint64_t drops = 0, accepted = 0;
    std::uint32_t bytes = sizes[0];
    for (int i = 0; i < 2000; i++) {
        if (random() % 8 != 0) now += static_cast<Time>(random() % slot);
        if (random() % 100 == 0) now += static_cast<Time>(random() % (slot * 40));
        if (random() % (1 + seed % 16) == 0) bytes = sizes[random() % kinds];
        const Passage is = cross(channel, now, bytes), should_be = model.transmit(now, bytes);
        ASSERT_EQ(is, should_be) << "seed " << seed << " packet " << i;
        (is.fate == Fate::dropped ? drops : accepted)++;
        // Continues exactly when it leaves: the packet behind it starts then and no longer waits.
        if (is.fate == Fate::arrives && random() % 50 == 0) now = is.at - d.delay;
    }
    EXPECT_EQ(channel.result().packets, accepted);
    EXPECT_EQ(channel.result().queue_drops, drops);
    EXPECT_EQ(channel.result().lost, 0u);
}

TEST(Queue, DropsByWhicheverLimitIsReachedFirstAsAListWould) {
    for (std::uint64_t seed = 1; seed <= 600; seed++) {
        Direction d = direction(1'000'000 + static_cast<std::int64_t>(seed) * 7919, kSecond / 50);
        if (seed % 3 != 0) d.queue_packets = static_cast<std::int64_t>(seed % 12);
        if (seed % 3 != 1) d.queue_bytes = static_cast<std::int64_t>(seed * 137 % 9000);
        expect_as_listed(d, seed % 4 == 0 ? 18 : 0, seed);
    }
}

// 1500 bytes take 1.2 us at 10 Gb/s, 12 ns at 1 Tb/s: whole picoseconds, no drift.
TEST(Transmitter, IsExactAtHighRates) {
    for (const std::int64_t gigabits : {10, 100, 1000}) {
        const Time step = 12'000'000 / gigabits;
        Channel channel = channel_of(direction(gigabits * 1'000'000'000, 1'000'000'007));
        for (Time i = 1; i <= 1'000'000; i++)
            ASSERT_EQ(channel.transmit(0, 1500), arrival(i * step + 1'000'000'007));
    }
}

TEST(Transmitter, AlternatesBetweenManySizesExactly) {
    Channel channel = channel_of(direction(10'000'000'000, 0));
    Time end = 0;
    for (std::uint32_t i = 0; i < 10'000; i++) {
        const std::uint32_t bytes = 40 + i * 7919 % 1461;
        end += static_cast<Time>(bytes) * 800;
        ASSERT_EQ(channel.transmit(0, bytes), arrival(end));
    }
}

// ---- Loss

// Counts the gaps between losses by length.
struct Losses {
    std::uint64_t lost = 0;
    std::vector<std::uint64_t> gaps =
        std::vector<std::uint64_t>(10);  // the last one: all longer gaps
};

Losses losses(double rate, std::uint64_t seed, std::uint64_t packets) {
    LossProcess process = process_of(Uniform{rate}, any_random(seed));
    Losses losses;
    std::uint64_t gap = 0;
    for (std::uint64_t i = 0; i < packets; i++) {
        gap++;
        if (!lose(process)) continue;
        losses.lost++;
        // The cells are tenths of the distribution: P(gap > g) = (1 - rate)^g.
        const double below = 1 - std::pow(1 - rate, static_cast<double>(gap) - 0.5);
        losses.gaps[static_cast<std::size_t>(below * 10)]++;
        gap = 0;
    }
    EXPECT_EQ(process.crossed(), packets);
    return losses;
}

TEST(UniformLoss, HasItsRate) {
    for (const double rate : {0.0001, 0.001, 0.005, 0.05, 0.3, 0.9}) {
        const std::uint64_t packets = rate < 0.001 ? 4'000'000 : 1'000'000;
        double chi_square = 0;
        for (std::uint64_t seed = 1; seed <= 10; seed++) {
            const double expected = rate * static_cast<double>(packets);
            const double off = static_cast<double>(losses(rate, seed, packets).lost) - expected;
            chi_square += off * off / (expected * (1 - rate));
        }
        EXPECT_LT(chi_square, 29.6) << rate;  // 10 degrees of freedom, one in a thousand
        EXPECT_GT(chi_square, 1.48) << rate;  // nor too good to be random
    }
}

TEST(UniformLoss, HasGeometricGaps) {
    for (const double rate : {0.001, 0.005, 0.01}) {  // small enough for cells of equal probability
        Losses all;
        for (std::uint64_t seed = 1; seed <= 10; seed++) {
            const Losses some = losses(rate, seed + 100, 400'000);
            all.lost += some.lost;
            for (std::size_t i = 0; i < 10; i++) all.gaps[i] += some.gaps[i];
        }
        std::vector<double> seen(all.gaps.begin(), all.gaps.end()), expected;
        double before = 0;
        for (std::size_t i = 0; i < 10; i++) {
            // The gaps whose middle lies in this tenth are at most `last`.
            const double last = std::floor(
                std::log(1 - 0.1 * static_cast<double>(i + 1)) / std::log(1 - rate) + 0.5);
            const double upto = i == 9 ? 1 : 1 - std::pow(1 - rate, last);
            expected.push_back((upto - before) * static_cast<double>(all.lost));
            before = upto;
        }
        expect_chi_square(seen, expected, "gaps at " + std::to_string(rate));
    }
}

TEST(UniformLoss, RateZeroLosesNothingAndRateOneEverything) {
    LossProcess none = process_of(Uniform{0});
    LossProcess all = process_of(Uniform{1});
    for (int i = 0; i < 100'000; i++) {
        ASSERT_FALSE(lose(none));
        ASSERT_TRUE(lose(all));
    }
}

TEST(UniformLoss, DiffersBetweenSeedsPlacesAndDirections) {
    const auto pattern = [](const Random& random) {
        LossProcess process = process_of(Uniform{0.1}, random);
        std::vector<bool> lost;
        for (int i = 0; i < 1000; i++) lost.push_back(lose(process));
        return lost;
    };
    const auto losses = pattern(Random(1, Stream::loss_forward, 0));
    EXPECT_EQ(losses, pattern(Random(1, Stream::loss_forward, 0)));
    EXPECT_NE(losses, pattern(Random(2, Stream::loss_forward, 0)));
    EXPECT_NE(losses, pattern(Random(1, Stream::loss_forward, 1)));
    EXPECT_NE(losses, pattern(Random(1, Stream::loss_backward, 0)));
}

TEST(ScriptedLoss, LosesExactlyTheNamedPackets) {
    const std::vector<std::uint64_t> script{1, 2, 7, 100, 101, 5000};
    LossProcess process = process_of(LossList{script});
    std::vector<std::uint64_t> lost;
    for (std::uint64_t packet = 1; packet <= 10'000; packet++)
        if (lose(process)) lost.push_back(packet);
    EXPECT_EQ(lost, script);
}

// A lost packet has used the link; one that the queue drops has not.
TEST(ScriptedLoss, CountsWhatCrosses) {
    Direction d = direction(8'000'000, 0);
    d.queue_packets = 1;
    d.loss = LossList{{2, 3}};
    Channel channel = channel_of(d);
    EXPECT_EQ(channel.transmit(0, 1000), arrival(kSecond / 1000));
    EXPECT_EQ(channel.transmit(0, 1000), loss(2 * kSecond / 1000));
    EXPECT_EQ(channel.transmit(0, 1000), drop(0));
    EXPECT_EQ(channel.transmit(2 * kSecond / 1000, 1000), loss(3 * kSecond / 1000));
    EXPECT_EQ(channel.transmit(2 * kSecond / 1000, 1000), arrival(4 * kSecond / 1000));
    EXPECT_EQ(channel.result().packets, 4u);
    EXPECT_EQ(channel.result().lost, 2u);
    EXPECT_EQ(channel.result().queue_drops, 1u);
}

// With impairments transmit_impaired() decides; RED's drops have their own fate.
TEST(Impairments, ReplaceTheDecisionOfTheChannel) {
    Direction d = direction(8'000'000, kSecond / 100);
    d.queue_packets = 2;
    d.queue_kind = QueueKind::red;
    d.red = {1, 1.5, 1.0,
             1.0};  // the average is the queue length; from 1.5 on everything is dropped
    Channel channel = channel_of(d);
    Packet packet;
    const auto enter = [&] {
        EXPECT_EQ(channel.transmit(0, 1000).fate, Fate::undecided);
        return channel.transmit_impaired(0, 1000, packet, nullptr);
    };
    EXPECT_EQ(enter(), arrival(11 * kSecond / 1000));
    EXPECT_EQ(enter(), arrival(12 * kSecond / 1000));
    EXPECT_EQ(enter(), arrival(13 * kSecond / 1000));  // at an average of 1 pb is still 0
    EXPECT_EQ(enter(), (Passage{Fate::dropped_early, 0}));
    EXPECT_EQ(channel.result().early_drops, 1u);
    EXPECT_EQ(drop_kind(Fate::dropped_early), DropKind::early);
    EXPECT_EQ(drop_kind(Fate::dropped), DropKind::queue);
    EXPECT_EQ(drop_kind(Fate::lost), DropKind::wire);
}

TEST(NaturalLogarithm, IsAccurate) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; i++) {
        const double x = std::ldexp(1 + static_cast<double>(random() % 1000003) / 1000003,
                                    static_cast<int>(random() % 120) - 60);
        EXPECT_NEAR(natural_log(x), std::log(x), 4e-16 * (1 + std::abs(std::log(x))));
    }
}

}  // namespace
}  // namespace ww::sim::test
