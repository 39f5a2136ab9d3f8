// SPDX-License-Identifier: GPL-2.0-only
#include "queues.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace ww::path {
namespace {

constexpr std::uint32_t kLeastMtu = 1500;
constexpr int kSocketBuffer = 1 << 29;  // bytes; only the discipline limits the queue
// A late timer of the kernel costs no throughput if the shaper may catch up for this long.
constexpr std::uint32_t kCatchUpNs = 250'000;
constexpr int kTickShift = 6;                 // the kernel's ticks of a schedule: PSCHED_SHIFT
constexpr std::uint16_t kAlways = 0;          // no attribute
constexpr std::uint32_t kPacketBytes = 2304;  // of memory, for a packet of 1500 bytes
static_assert(int{TCA_CODEL_LIMIT} == TCA_FQ_CODEL_LIMIT && int{TCA_CODEL_LIMIT} == TCA_PIE_LIMIT);

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

// Puts a setting of a discipline into a request; times are in microseconds.
#define WW_OF_TIME(value) static_cast<std::uint32_t>((value) / sim::kMicrosecond)
#define WW_OF_BYTES(value) (value)
#define WW_OF_COUNT(value) (value)
#define WW_OF_SWITCH(value) static_cast<std::uint32_t>(value)
#define WW_OF_RATE(value) static_cast<std::uint64_t>((value) / 8)
#define WW_PUT(kind, setting, attribute) \
    if (attribute != kAlways)            \
        request.put(attribute, WW_OF_##kind(settings.WW_ENGINE_FIELD(kind, setting)));
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)                    \
    void put_settings([[maybe_unused]] Message& request,                \
                      [[maybe_unused]] const sim::Settings& settings) { \
        WW_##PREFIX##_KERNEL(WW_PUT)                                    \
    }
WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
#undef WW_PUT

// Returns the name of a kind in Linux; empty: Linux has none.
std::string_view kernel_name(sim::QueueKind kind) {
    switch (kind) {
#define WW_QUEUE(name, Settings, Queue, PREFIX, title, ns2, ns3, kernel) \
    case sim::QueueKind::name:                                           \
        return kernel;
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case sim::QueueKind::droptail:
        break;
    }
    return "";
}

void put_settings(Message& request, const sim::Direction& direction) {
    switch (direction.queue_kind) {
#define WW_QUEUE(name, ...)    \
    case sim::QueueKind::name: \
        return put_settings(request, direction.name);
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case sim::QueueKind::droptail:
        break;
    }
}

void put_limit(Message& request, const sim::Direction& direction) {
    const auto packets = static_cast<std::uint32_t>(direction.queue_packets);
    const std::uint64_t memory_bytes = std::uint64_t{packets} * kPacketBytes;
    if (direction.queue_kind == sim::QueueKind::cake)
        request.put(TCA_CAKE_MEMORY,
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(memory_bytes, UINT32_MAX)));
    else if (direction.queue_kind == sim::QueueKind::fq_pie)
        request.put(TCA_FQ_PIE_LIMIT, packets);
    else
        request.put(TCA_CODEL_LIMIT, packets);
}

// A request to add a discipline or a class to a device, whose options are put next.
Message adding(std::uint16_t type, int device, std::uint32_t parent, std::uint32_t handle,
               std::string_view kind) {
    tcmsg head{};
    head.tcm_ifindex = device;
    head.tcm_parent = parent;
    head.tcm_handle = handle;
    Message request(type, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, head);
    request.put_text(TCA_KIND, std::string(kind));
    return request;
}

Descriptor open_packet_socket() {
    Descriptor socket(::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    check(socket.get(), "opening a packet socket");
    check(::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kSocketBuffer,
                       sizeof kSocketBuffer),
          "setting a packet socket's buffer");
    return socket;
}

const sim::Direction& direction_of(const sim::Network& network, std::uint32_t channel) {
    const sim::Link& link = network.links[channel / 2];
    return channel % 2 == 0 ? link.forward : link.backward;
}

// Makes a channel's queue in the namespace of the calling thread.
Queues::Queue make_queue(const Plan& plan, std::uint32_t channel) {
    const sim::Direction& direction = direction_of(plan.network, channel);
    std::uint32_t mtu = kLeastMtu;
    for (const sim::Flow& flow : plan.network.flows) mtu = std::max(mtu, flow.packet_bytes);
    std::string name = "queue%d";
    Descriptor tun = make_device(name, mtu);
    const auto number = static_cast<int>(::if_nametoindex(name.c_str()));
    const std::uint32_t overhead = plan.network.links[channel / 2].overhead_bytes;
    Netlink kernel(NETLINK_ROUTE);
    for (Message& request : requests_of(direction, overhead, number))
        kernel.send(request.finish(), 1, "setting up a queue");
    return {channel, Host(channel, current_namespace(), std::move(tun), name), open_packet_socket(),
            number};
}

}  // namespace

bool waits_in_kernel(const sim::Direction& direction) {
    return sim::holds(direction.queue_kind) && !kernel_name(direction.queue_kind).empty();
}

std::vector<Message> requests_of(const sim::Direction& direction, std::uint32_t overhead,
                                 int device) {
    constexpr std::uint32_t kHtb = 1 << 16, kOnlyClass = kHtb | 1;
    Message shaper = adding(RTM_NEWQDISC, device, TC_H_ROOT, kHtb, "htb");
    std::size_t options = shaper.open(TCA_OPTIONS);
    tc_htb_glob all{};
    all.version = 3;
    all.rate2quantum = 10;
    all.defcls = 1;
    shaper.put(TCA_HTB_INIT, all);
    shaper.close(options);

    Message shaped = adding(RTM_NEWTCLASS, device, kHtb, kOnlyClass, "htb");
    options = shaped.open(TCA_OPTIONS);
    tc_htb_opt limits{};
    const auto bytes_per_s = static_cast<std::uint64_t>(direction.rate_bps / 8);
    limits.rate.linklayer = TC_LINKLAYER_ETHERNET;
    limits.rate.overhead = static_cast<std::uint16_t>(overhead);
    limits.rate.rate = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_per_s, UINT32_MAX));
    limits.ceil = limits.rate;
    limits.buffer = limits.cbuffer = kCatchUpNs >> kTickShift;
    limits.quantum = 1514;  // of the only class: without effect
    shaped.put(TCA_HTB_PARMS, limits);
    if (bytes_per_s > UINT32_MAX)
        for (const std::uint16_t name : {TCA_HTB_RATE64, TCA_HTB_CEIL64})
            shaped.put(name, bytes_per_s);
    shaped.close(options);

    Message decides =
        adding(RTM_NEWQDISC, device, kOnlyClass, 0, kernel_name(direction.queue_kind));
    options = decides.open(TCA_OPTIONS | NLA_F_NESTED);  // fq_pie insists on the flag
    put_limit(decides, direction);
    put_settings(decides, direction);
    decides.close(options);
    return {std::move(shaper), std::move(shaped), std::move(decides)};
}

Queues::Queues(const Plan& plan) {
    for (std::uint32_t channel = 0; channel < 2 * plan.network.links.size(); channel++) {
        if (!waits_in_kernel(direction_of(plan.network, channel))) continue;
        if (queues_.empty()) enter_new_namespace();
        queues_.push_back(make_queue(plan, channel));
    }
}

bool Queues::enqueue(std::uint32_t channel, std::span<const std::uint8_t> packet) const {
    const auto queue = std::find_if(queues_.begin(), queues_.end(),
                                    [&](const Queue& one) { return one.channel == channel; });
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_protocol = htons(ETH_P_IP);
    to.sll_ifindex = queue->number;
    if (::sendto(queue->socket.get(), packet.data(), packet.size(), 0,
                 reinterpret_cast<const sockaddr*>(&to), sizeof to) >= 0)
        return true;
    if (errno != ENOBUFS) check(-1, "sending a packet to a queue of the kernel");
    return false;
}

}  // namespace ww::path
