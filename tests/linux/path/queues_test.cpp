// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/queues.hpp writes a scenario's discipline in the words of tc(8), and the model counts what a queue of
// the kernel does. tests/linux/path/test_queues.py runs the kernel's disciplines.
#include "linux/path/queues.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "linux/path/model.hpp"
#include "packets.hpp"
#include "tests/engine/one_link.hpp"

namespace ww::path::test {
namespace {

using namespace sim;
using sim::test::kMs;

Direction direction(QueueKind kind) {
    Direction made;
    made.rate_bps = 10'000'000;
    made.queue_kind = kind;
    made.queue_packets = 1000;
    return made;
}

TEST(KernelQueues, TcSetsUpAShaperAndTheDiscipline) {
    Direction codel = direction(QueueKind::codel);
    EXPECT_EQ(tc_commands(codel, 38, "queue0"),
              (std::vector<std::string>{
                  "qdisc add dev queue0 root handle 1: htb default 1",
                  "class add dev queue0 parent 1: classid 1:1 htb rate 10000000bit burst 312 "
                  "cburst 312 overhead 38 quantum 1514",
                  "qdisc add dev queue0 parent 1:1 codel limit 1000 target 5000us interval "
                  "100000us noecn"}));
    codel.codel.target = 13 * kMs;
    codel.codel.interval = 260 * kMs;
    codel.codel.ecn = true;
    codel.queue_packets = 77;
    EXPECT_EQ(
        tc_commands(codel, 0, "queue0").back(),
        "qdisc add dev queue0 parent 1:1 codel limit 77 target 13000us interval 260000us ecn");
}

TEST(KernelQueues, EachDisciplineHasItsOwnWords) {
    EXPECT_EQ(tc_commands(direction(QueueKind::fq_codel), 0, "q").back(),
              "qdisc add dev q parent 1:1 fq_codel limit 1000 target 5000us interval 100000us "
              "noecn quantum 1514 flows 1024 drop_batch 64");
    EXPECT_EQ(tc_commands(direction(QueueKind::pie), 0, "q").back(),
              "qdisc add dev q parent 1:1 pie limit 1000 target 15000us tupdate 15000us noecn");
}

TEST(KernelQueues, OnlyDisciplinesThatLinuxHasWaitInTheKernel) {
    for (const QueueKind kind : {QueueKind::codel, QueueKind::fq_codel, QueueKind::pie})
        EXPECT_TRUE(waits_in_kernel(direction(kind)));
    for (const QueueKind kind : {QueueKind::droptail, QueueKind::red, QueueKind::dualpi2})
        EXPECT_FALSE(waits_in_kernel(direction(kind)));
}

// A queue outside the model, with the packets in their order.
struct FakeQueue {
    std::deque<Bytes> packets;
    bool is_full = false;

    bool enqueue(std::uint32_t channel, std::span<const std::uint8_t> packet) {
        EXPECT_EQ(channel, 0u);
        if (!is_full) packets.emplace_back(packet.begin(), packet.end());
        return !is_full;
    }
};

class OverAKernelQueue : public ::testing::Test {
  protected:
    OverAKernelQueue() : network_(sim::test::one_link(10'000'000, 20 * kMs, kSecond)) {
        network_.links[0].forward = direction(QueueKind::codel);
        network_.links[0].forward.delay = 20 * kMs;
        network_.flows.push_back(sim::test::datagrams(8'000'000));
        network_.trace.queues = true;
        topology_.emplace(network_);
        model_.emplace(
            network_, *topology_, 1, Packets::of_flows,
            [this](auto channel, auto packet) { return queue_.enqueue(channel, packet); });
    }

    // Sends a packet with this number in its payload.
    void send(Time now, std::uint8_t number, std::uint8_t ecn = 0) {
        Bytes bytes = tcp(source_address(0), sink_address(0), 1448, ecn);
        bytes.back() = number;
        std::copy(bytes.begin(), bytes.end(), model_->room().begin());
        model_->enter(now, 0, bytes.size());
    }
    // Lets the packet at the head of the queue leave.
    void leave(Time now, bool marks = false) {
        if (marks) mark(queue_.packets.front());
        const Bytes& bytes = queue_.packets.front();
        std::copy(bytes.begin(), bytes.end(), model_->room().begin());
        model_->leave(now, 0, bytes.size());
        queue_.packets.pop_front();
    }
    std::vector<std::pair<Time, Bytes>> delivered(Time now) {
        std::vector<std::pair<Time, Bytes>> all;
        model_->run(now, [&](std::uint32_t, std::span<const std::uint8_t> packet, Time at) {
            all.emplace_back(at, Bytes(packet.begin(), packet.end()));
        });
        return all;
    }

    Network network_;
    std::optional<Topology> topology_;
    std::optional<Model> model_;
    FakeQueue queue_;
};

constexpr Time kSending = 1500 * 8 * kSecond / 10'000'000;

TEST_F(OverAKernelQueue, APacketIsSentOnWhenItLeaves) {
    send(0, 1);
    EXPECT_TRUE(delivered(100 * kMs).empty());
    leave(100 * kMs);
    const auto all = delivered(200 * kMs);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].first, 100 * kMs + kSending + 20 * kMs);
    const DirectionResult forward = model_->finish()[0];
    EXPECT_DOUBLE_EQ(forward.longest_wait_s, 0.1);
    EXPECT_EQ(forward.trace.start_s, std::vector<double>{0.1});
}

TEST_F(OverAKernelQueue, EarlierPacketsThatHaveNotLeftWereDropped) {
    for (std::uint8_t number = 1; number <= 4; number++) send(number * kMs, number);
    queue_.packets.erase(queue_.packets.begin() + 1, queue_.packets.begin() + 3);
    leave(50 * kMs);
    leave(52 * kMs);
    EXPECT_EQ(model_->counts(0).queue_drops, 2u);
    ASSERT_EQ(model_->drops().size(), 2u);
    EXPECT_EQ(model_->drops()[0].kind, DropKind::early);
    EXPECT_DOUBLE_EQ(model_->drops()[0].time_s, 0.052);
    const DirectionResult forward = model_->finish()[0];
    EXPECT_EQ(forward.queue_drops, 2u);
    EXPECT_EQ(forward.early_drops, 2u);
    EXPECT_EQ(forward.packets, 2u);
}

TEST_F(OverAKernelQueue, ARefusedPacketIsDroppedByTheFullQueueOrEarly) {
    queue_.is_full = true;
    send(0, 1);  // an empty queue is not full, so its discipline refused it
    queue_.is_full = false;
    for (int i = 0; i < 1000; i++) send(kMs, 2);
    queue_.is_full = true;
    send(2 * kMs, 3);
    ASSERT_EQ(model_->drops().size(), 2u);
    EXPECT_EQ(model_->drops()[0].kind, DropKind::early);
    EXPECT_EQ(model_->drops()[1].kind, DropKind::queue);
    const DirectionResult forward = model_->finish()[0];
    EXPECT_EQ(forward.queue_drops, 2u);
    EXPECT_EQ(forward.early_drops, 1u);
    EXPECT_EQ(forward.in_flight, 1000u);
    EXPECT_EQ(model_->counts(0).in_flight, 1000u);
}

TEST_F(OverAKernelQueue, AMarkReachesTheReceiver) {
    send(0, 1, 2);
    leave(10 * kMs, true);
    const auto all = delivered(100 * kMs);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].second[1] & 3, 3);
    EXPECT_EQ(checksum(all[0].second), 0u);
    ASSERT_EQ(model_->drops().size(), 1u);
    EXPECT_EQ(model_->drops()[0].kind, DropKind::mark);
    EXPECT_EQ(model_->finish()[0].marked, 1u);
}

}  // namespace
}  // namespace ww::path::test
