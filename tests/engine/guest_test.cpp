// SPDX-License-Identifier: BSD-3-Clause
//
// Connections whose ends another program simulates: the engine only carries their packets.
#include "engine/traffic/guest.hpp"

#include <map>
#include <tuple>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// What a guest saw: when, at which end, which packet.
using Seen = std::tuple<Time, End, std::uint32_t>;

struct Log {
    std::vector<Seen> arrived;
    std::vector<std::uint32_t> dropped, marked;
    std::uint32_t alive = 0, most_alive = 0;  // guests
};

// Sends packets of 1000 bytes at once when it starts, and answers each with one of 40 bytes.
class Echo final : public Guest {
  public:
    Echo(const Flow& flow, Log& log)
        : next_(flow.start), left_(flow.size_bytes / 1000), is_ecn_capable_(flow.ecn), log_(log) {
        log_.most_alive = std::max(log_.most_alive, ++log_.alive);
    }
    ~Echo() override { log_.alive--; }
    Echo(const Echo&) = delete;
    Echo& operator=(const Echo&) = delete;

    Time next() override { return next_; }
    void on_timer(Time) override {
        begun_ = true;
        next_ = kNever;
    }
    void on_packet(Time now, End to, std::uint32_t number, bool, bool is_marked) override {
        log_.arrived.emplace_back(now, to, number);
        if (is_marked) log_.marked.push_back(number);
        if (to == End::receiver)
            answers_.push_back(100 + number);
        else
            is_answered_ = true;
    }
    void on_drop(std::uint32_t number) override { log_.dropped.push_back(number); }
    bool is_over() const override { return is_answered_; }
    bool send(Time, End from, Sent& packet) override {
        if (from == End::receiver) {
            if (answers_.empty()) return false;
            packet = {answers_.back(), 40, false};
            answers_.pop_back();
            return true;
        }
        if (!begun_ || left_ == 0) return false;
        left_--;
        packet = {sent_++, 1000, is_ecn_capable_};
        return true;
    }
    std::uint64_t finish(Time, FlowCounts& result, std::vector<Message>&) override {
        result.sent = sent_;
        return 1000 * static_cast<std::uint64_t>(log_.arrived.size()) / 2;
    }

  private:
    Time next_;
    std::int64_t left_;
    const bool is_ecn_capable_;
    Log& log_;
    bool begun_ = false, is_answered_ = false;
    std::uint32_t sent_ = 0;
    std::vector<std::uint32_t> answers_;
};

class Echoes final : public GuestFactory {
  public:
    std::unique_ptr<Guest> open(const Flow& flow, std::uint32_t) override {
        return std::make_unique<Echo>(flow, log);
    }
    Log log;
};

constexpr std::uint32_t kHeader = 28;

// 8 Mb/s, so a byte takes a microsecond; 10 ms each way.
Network network(Echoes& echoes, std::int64_t packets) {
    Flow flow = bulk();
    flow.guests = &echoes;
    flow.header_bytes = kHeader;
    flow.size_bytes = 1000 * packets;
    flow.start = kSecond;
    Network unlimited = one_link(8'000'000, kSecond / 100, 10 * kSecond, {flow});
    Link& link = unlimited.links[0];
    link.forward.queue_packets = link.backward.queue_packets = kUnlimited;
    return unlimited;
}

TEST(Guest, ItsPacketsTakeTheTimesOfTheLinks) {
    Echoes echoes;
    const Outcome outcome = run(network(echoes, 1), 1);
    ASSERT_EQ(outcome.error, "");
    const Time there = kSecond + 1028 * kMicrosecond + kSecond / 100;
    const Time back = there + 68 * kMicrosecond + kSecond / 100;
    EXPECT_EQ(echoes.log.arrived,
              (std::vector<Seen>{{there, End::receiver, 0}, {back, End::sender, 100}}));
    EXPECT_EQ(outcome.connections[0].delivered_bytes, 1000u);
    EXPECT_EQ(outcome.connections[0].ip_bytes_at_sink, 1028u);
}

TEST(Guest, ItHearsWhichPacketsAreDropped) {
    Echoes echoes;
    Network all = network(echoes, 6);
    all.links[0].forward.queue_packets = 3;  // one is being sent
    const Outcome outcome = run(all, 1);
    EXPECT_EQ(echoes.log.dropped, (std::vector<std::uint32_t>{4, 5}));
    EXPECT_EQ(outcome.connections[0].queue_drops, 2u);
}

TEST(Guest, ALossOnTheWireReachesItToo) {
    Echoes echoes;
    Network all = network(echoes, 4);
    all.links[0].forward.loss = LossList{{2}};
    const Outcome outcome = run(all, 1);
    ASSERT_EQ(echoes.log.dropped.size(), 1u);
    EXPECT_EQ(outcome.connections[0].lost, 1u);
}

TEST(Guest, AQueueThatMarksMarksOnlyThoseThatAskForIt) {
    for (const bool ecn : {false, true}) {
        Echoes echoes;
        Network all = network(echoes, 200);
        all.flows[0].ecn = ecn;
        all.links[0].forward.queue_kind = QueueKind::codel;
        all.links[0].forward.codel.ecn = true;
        const Outcome outcome = run(all, 1);
        EXPECT_EQ(!echoes.log.marked.empty(), ecn);
        EXPECT_EQ(!echoes.log.dropped.empty(), !ecn);
    }
}

TEST(Guest, ItSharesAQueueWithConnectionsOfTheEngine) {
    Echoes echoes;
    Network all = network(echoes, 50);
    Flow& tcp = all.flows.emplace_back();
    tcp.to = 1;
    tcp.size_bytes = 100'000;
    tcp.start = kSecond;
    const Outcome outcome = run(all, 1);
    ASSERT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.connections[1].delivered_bytes, 100'000u);
    EXPECT_EQ(outcome.connections[0].delivered_bytes, 50'000u);
    // The SYN waits for all packets of the guest, which comes first at the same time.
    const double queue_s = 50 * 1028e-6;
    EXPECT_GT(outcome.connections[1].established_s, 1 + queue_s + 0.02);
}

TEST(Guest, AFlowOfArrivalsOpensOneForEachConnection) {
    Echoes echoes;
    Network all = network(echoes, 1);
    all.flows[0].arrivals_mean = kSecond / 2;
    const Outcome outcome = run(all, 1);
    ASSERT_GT(outcome.connections.size(), 8u);
    EXPECT_EQ(echoes.log.arrived.size(), 2 * outcome.connections.size());
}

TEST(Guest, ItIsGoneBeforeTheRunEndsIfItIsOver) {
    Echoes echoes;
    Network all = network(echoes, 1);
    all.flows[0].arrivals_mean = kSecond / 200;
    const Outcome outcome = run(all, 1);
    ASSERT_GT(outcome.connections.size(), 1500u);
    EXPECT_LT(echoes.log.most_alive, 600u);
}

}  // namespace
}  // namespace ww::sim::test
