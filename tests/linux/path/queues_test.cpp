// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/queues.hpp asks the kernel for a scenario's discipline as tc(8) does, and the model counts what a queue of
// the kernel does. tests/linux/path/test_queues.py runs the kernel's disciplines.
#include "linux/path/queues.hpp"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <deque>
#include <map>

#include "packets.hpp"

namespace ww::path::test {
namespace {

Direction direction(QueueKind kind) {
    Direction made;
    made.rate_bps = 10'000'000;
    made.queue_kind = kind;
    made.queue_packets = 1000;
    return made;
}

using Attributes = std::map<int, std::vector<std::uint8_t>>;

Attributes parse(std::span<const std::uint8_t> bytes) {
    Attributes all;
    while (bytes.size() >= NLA_HDRLEN) {
        nlattr head;
        std::memcpy(&head, bytes.data(), sizeof head);
        const auto value = bytes.first(head.nla_len).subspan(NLA_HDRLEN);
        all[head.nla_type & NLA_TYPE_MASK].assign(value.begin(), value.end());
        bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(head.nla_len), bytes.size()));
    }
    return all;
}

template <class T>
T as(const std::vector<std::uint8_t>& bytes) {
    T value{};
    EXPECT_EQ(bytes.size(), sizeof value);
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
}

// A request of rtnetlink, taken apart.
struct Request {
    explicit Request(Message& message) {
        const auto bytes = message.finish();
        nlmsghdr start;
        std::memcpy(&start, bytes.data(), sizeof start);
        EXPECT_EQ(start.nlmsg_len, bytes.size());
        type = start.nlmsg_type;
        std::memcpy(&head, bytes.data() + NLMSG_HDRLEN, sizeof head);
        const Attributes all = parse(bytes.subspan(NLMSG_SPACE(sizeof head)));
        kind = reinterpret_cast<const char*>(all.at(TCA_KIND).data());
        options = parse(all.at(TCA_OPTIONS));
    }
    std::map<int, std::uint32_t> numbers() const {
        std::map<int, std::uint32_t> all;
        for (const auto& [name, value] : options) all[name] = as<std::uint32_t>(value);
        return all;
    }
    int type;
    tcmsg head;
    std::string kind;
    Attributes options;
};

using Numbers = std::map<int, std::uint32_t>;

// What tc(8) sent for `htb rate 10000000bit burst 312 cburst 312 overhead 38 quantum 1514`, but for its table of rates
// and for 16 ticks of 64 ns of the burst: 312 bytes are less than 250 us.
TEST(KernelQueues, AShaperLetsPacketsLeaveAtTheRate) {
    auto messages = requests_of(direction(QueueKind::codel), 38, 7);
    ASSERT_EQ(messages.size(), 3u);
    const Request shaper(messages[0]), shaped(messages[1]);
    EXPECT_EQ(shaper.type, RTM_NEWQDISC);
    EXPECT_EQ(shaper.kind, "htb");
    EXPECT_EQ(shaper.head.tcm_parent, TC_H_ROOT);
    EXPECT_EQ(as<tc_htb_glob>(shaper.options.at(TCA_HTB_INIT)).defcls, 1u);
    EXPECT_EQ(shaped.type, RTM_NEWTCLASS);
    EXPECT_EQ(shaped.head.tcm_ifindex, 7);
    EXPECT_EQ(shaped.head.tcm_handle, 65537u);
    EXPECT_EQ(shaped.head.tcm_parent, 65536u);
    const auto limits = as<tc_htb_opt>(shaped.options.at(TCA_HTB_PARMS));
    EXPECT_EQ(limits.rate.rate, 1'250'000u);
    EXPECT_EQ(limits.ceil.rate, 1'250'000u);
    EXPECT_EQ(limits.rate.linklayer, 1);
    EXPECT_EQ(limits.rate.overhead, 38);
    EXPECT_EQ(limits.buffer, 3890u + 16u);
    EXPECT_EQ(limits.quantum, 1514u);
    EXPECT_EQ(shaped.options.count(TCA_HTB_RATE64), 0u);
}

TEST(KernelQueues, ARateBeyond32BitsHasAnAttributeOfItsOwn) {
    Direction fast = direction(QueueKind::codel);
    fast.rate_bps = 40'000'000'000;
    auto messages = requests_of(fast, 0, 7);
    const Request shaped(messages[1]);
    EXPECT_EQ(as<std::uint64_t>(shaped.options.at(TCA_HTB_RATE64)), 5'000'000'000u);
    EXPECT_EQ(as<std::uint64_t>(shaped.options.at(TCA_HTB_CEIL64)), 5'000'000'000u);
}

// Also what tc(8) sent: `codel limit 77 target 13000us interval 260000us ecn`, and so on.
TEST(KernelQueues, EachDisciplineHasItsOwnAttributes) {
    Direction codel = direction(QueueKind::codel);
    codel.codel.target = 13 * kMs;
    codel.codel.interval = 260 * kMs;
    codel.codel.ecn = true;
    codel.codel.ce_threshold = kMs;
    codel.queue_packets = 77;
    auto messages = requests_of(codel, 0, 7);
    const Request decides(messages[2]);
    EXPECT_EQ(decides.type, RTM_NEWQDISC);
    EXPECT_EQ(decides.kind, "codel");
    EXPECT_EQ(decides.head.tcm_parent, 65537u);
    EXPECT_EQ(decides.head.tcm_handle, 0u);
    EXPECT_EQ(decides.numbers(), (Numbers{{1, 13000}, {2, 77}, {3, 260000}, {4, 1}, {5, 1000}}));

    messages = requests_of(direction(QueueKind::fq_codel), 0, 7);
    const Request fq_codel(messages[2]);
    EXPECT_EQ(fq_codel.kind, "fq_codel");
    EXPECT_EQ(fq_codel.numbers(), (Numbers{{1, 5000},
                                           {2, 1000},
                                           {3, 100000},
                                           {4, 0},
                                           {5, 1024},
                                           {6, 1514},
                                           {7, 1000000000},
                                           {8, 64}}));

    messages = requests_of(direction(QueueKind::pie), 0, 7);
    const Request pie(messages[2]);
    EXPECT_EQ(pie.kind, "pie");
    EXPECT_EQ(pie.numbers(), (Numbers{{1, 15000}, {2, 1000}, {3, 15000}, {6, 0}}));

    messages = requests_of(direction(QueueKind::fq_pie), 0, 7);
    const Request fq_pie(messages[2]);
    EXPECT_EQ(fq_pie.kind, "fq_pie");
    EXPECT_EQ(fq_pie.numbers(),
              (Numbers{{1, 1000}, {2, 1024}, {3, 15000}, {4, 15000}, {7, 1500}, {10, 0}}));

    Direction shaped = direction(QueueKind::cake);
    shaped.cake.bandwidth_bps = 9'500'000;
    messages = requests_of(shaped, 0, 7);
    const Request cake(messages[2]);
    EXPECT_EQ(cake.kind, "cake");
    EXPECT_EQ(as<std::uint64_t>(cake.options.at(TCA_CAKE_BASE_RATE64)), 1'187'500u);
    EXPECT_EQ(as<std::uint32_t>(cake.options.at(TCA_CAKE_RTT)), 100'000u);
    EXPECT_EQ(as<std::uint32_t>(cake.options.at(TCA_CAKE_MEMORY)), 2'304'000u);
    shaped.queue_packets = 1'864'136;  // of memory 2^32 bytes and 2048
    messages = requests_of(shaped, 0, 7);
    const Request longest(messages[2]);
    EXPECT_EQ(as<std::uint32_t>(longest.options.at(TCA_CAKE_MEMORY)), UINT32_MAX);
}

TEST(KernelQueues, OnlyDisciplinesThatLinuxHasWaitInTheKernel) {
    for (const QueueKind kind : {QueueKind::codel, QueueKind::fq_codel, QueueKind::pie,
                                 QueueKind::fq_pie, QueueKind::cake})
        EXPECT_TRUE(waits_in_kernel(direction(kind)));
    for (const QueueKind kind : {QueueKind::droptail, QueueKind::red, QueueKind::dualpi2})
        EXPECT_FALSE(waits_in_kernel(direction(kind)));
}

// A queue outside the model holds the packets in their order.
class OverAKernelQueue : public Emulation {
  protected:
    OverAKernelQueue()
        : Emulation(
              sim::test::one_link(10'000'000, 20 * kMs, kSecond, {sim::test::datagrams(8'000'000)}),
              Packets::of_flows, [this](auto channel, auto packet) {
                  EXPECT_EQ(channel, 0u);
                  if (!is_full_) queue_.emplace_back(packet.begin(), packet.end());
                  return !is_full_;
              }) {
        network_.links[0].forward = direction(QueueKind::codel);
        network_.links[0].forward.delay = 20 * kMs;
        network_.trace.queues = true;
    }

    // Sends a packet with this number in its payload.
    void send(Time now, std::uint8_t number, std::uint8_t ecn = 0) {
        Bytes bytes = tcp(source_address(0), sink_address(0), 1448, ecn);
        bytes.back() = number;
        enter(now, 0, bytes);
    }
    // Lets the packet at the head of the queue leave.
    void leave(Time now, bool marks = false) {
        if (marks) mark(queue_.front());
        const Bytes& bytes = queue_.front();
        std::copy(bytes.begin(), bytes.end(), model().room().begin());
        model().leave(now, 0, bytes.size());
        queue_.pop_front();
    }
    std::vector<std::pair<Time, Bytes>> delivered(Time now) {
        std::vector<std::pair<Time, Bytes>> all;
        model().run(now, [&](std::uint32_t, std::span<const std::uint8_t> packet, Time at) {
            all.emplace_back(at, Bytes(packet.begin(), packet.end()));
        });
        return all;
    }

    std::deque<Bytes> queue_;
    bool is_full_ = false;
};

constexpr Time kSending = 1500 * 8 * kSecond / 10'000'000;

TEST_F(OverAKernelQueue, APacketIsSentOnWhenItLeaves) {
    send(0, 1);
    EXPECT_TRUE(delivered(100 * kMs).empty());
    leave(100 * kMs);
    const auto all = delivered(200 * kMs);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].first, 100 * kMs + kSending + 20 * kMs);
    const DirectionResult forward = model().finish()[0];
    EXPECT_DOUBLE_EQ(forward.longest_wait_s, 0.1);
    EXPECT_EQ(forward.trace.start_s, std::vector<double>{0.1});
}

TEST_F(OverAKernelQueue, EarlierPacketsThatHaveNotLeftWereDropped) {
    for (std::uint8_t number = 1; number <= 4; number++) send(number * kMs, number);
    queue_.erase(queue_.begin() + 1, queue_.begin() + 3);
    leave(50 * kMs);
    leave(52 * kMs);
    EXPECT_EQ(model().counts(0).queue_drops, 2u);
    ASSERT_EQ(model().drops().size(), 2u);
    EXPECT_EQ(model().drops()[0].kind, DropKind::early);
    EXPECT_DOUBLE_EQ(model().drops()[0].time_s, 0.052);
    const DirectionResult forward = model().finish()[0];
    EXPECT_EQ(forward.queue_drops, 2u);
    EXPECT_EQ(forward.early_drops, 2u);
    EXPECT_EQ(forward.packets, 2u);
}

TEST_F(OverAKernelQueue, ARefusedPacketIsDroppedByTheFullQueueOrEarly) {
    is_full_ = true;
    send(0, 1);  // an empty queue is not full, so its discipline refused it
    is_full_ = false;
    for (int i = 0; i < 1000; i++) send(kMs, 2);
    is_full_ = true;
    send(2 * kMs, 3);
    ASSERT_EQ(model().drops().size(), 2u);
    EXPECT_EQ(model().drops()[0].kind, DropKind::early);
    EXPECT_EQ(model().drops()[1].kind, DropKind::queue);
    const DirectionResult forward = model().finish()[0];
    EXPECT_EQ(forward.queue_drops, 2u);
    EXPECT_EQ(forward.early_drops, 1u);
    EXPECT_EQ(forward.in_flight, 1000u);
    EXPECT_EQ(model().counts(0).in_flight, 1000u);
}

TEST_F(OverAKernelQueue, AMarkReachesTheReceiver) {
    send(0, 1, 2);
    leave(10 * kMs, true);
    const auto all = delivered(100 * kMs);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].second[1] & 3, 3);
    EXPECT_EQ(checksum(all[0].second), 0u);
    ASSERT_EQ(model().drops().size(), 1u);
    EXPECT_EQ(model().drops()[0].kind, DropKind::mark);
    EXPECT_EQ(model().finish()[0].marked, 1u);
}

}  // namespace
}  // namespace ww::path::test
