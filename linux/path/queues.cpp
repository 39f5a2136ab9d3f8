// SPDX-License-Identifier: GPL-2.0-only
#include "queues.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace ww::path {
namespace {

constexpr std::uint32_t kLeastMtu = 1500;
constexpr int kSocketBuffer = 1 << 29;  // bytes; only the discipline limits the queue
// A late timer of the kernel costs no throughput if the shaper may catch up for this long.
constexpr std::int64_t kCatchUpUs = 250;

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

std::string tc_number(const char* word, std::int64_t value) {
    return std::string(" ") + word + " " + std::to_string(value);
}
std::string tc_time(const char* word, sim::Time value) {
    return tc_number(word, value / sim::kMicrosecond) + "us";
}
std::string tc_switch(const char* word, bool value) {
    return std::string(value ? " " : " no") + word;
}

#define WW_TC_TIME tc_time
#define WW_TC_BYTES tc_number
#define WW_TC_COUNT tc_number
#define WW_TC_SWITCH tc_switch
#define WW_WORD(kind, setting, word) +WW_TC_##kind(word, settings.WW_ENGINE_FIELD(kind, setting))
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)                    \
    std::string words([[maybe_unused]] const sim::Settings& settings) { \
        return std::string() WW_##PREFIX##_TC(WW_WORD);                 \
    }
WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
#undef WW_WORD

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

// Returns a discipline's settings in the words of tc(8).
std::string words_of(const sim::Direction& direction) {
    switch (direction.queue_kind) {
#define WW_QUEUE(name, ...)    \
    case sim::QueueKind::name: \
        return words(direction.name);
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case sim::QueueKind::droptail:
        break;
    }
    return "";
}

// Runs tc(8) in the namespace of the calling thread.
void run_tc(const std::string& arguments) {
    const std::string command = "PATH=$PATH:/usr/sbin:/sbin; tc " + arguments + " 2>&1";
    std::FILE* output = ::popen(command.c_str(), "r");
    if (output == nullptr) check(-1, "running tc");
    std::string said;
    for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output))
        said += c == '\n' ? ' ' : static_cast<char>(c);
    if (::pclose(output) != 0) throw Unavailable("tc " + arguments + ": " + said);
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
    const std::uint32_t overhead = plan.network.links[channel / 2].overhead_bytes;
    for (const std::string& arguments : tc_commands(direction, overhead, name)) run_tc(arguments);
    const auto number = static_cast<int>(::if_nametoindex(name.c_str()));
    return {channel, Host(channel, current_namespace(), std::move(tun), name), open_packet_socket(),
            number};
}

}  // namespace

bool waits_in_kernel(const sim::Direction& direction) {
    return sim::holds(direction.queue_kind) && !kernel_name(direction.queue_kind).empty();
}

std::vector<std::string> tc_commands(const sim::Direction& direction, std::uint32_t overhead,
                                     const std::string& device) {
    const std::string on = "add dev " + device;
    const std::string rate = std::to_string(direction.rate_bps) + "bit";
    const std::int64_t burst =
        std::max<std::int64_t>(1, direction.rate_bps / 8 * kCatchUpUs / 1'000'000);
    return {"qdisc " + on + " root handle 1: htb default 1",
            "class " + on + " parent 1: classid 1:1 htb rate " + rate + tc_number("burst", burst) +
                tc_number("cburst", burst) + tc_number("overhead", overhead) +
                " quantum 1514",  // of the only class: without effect
            "qdisc " + on + " parent 1:1 " + std::string(kernel_name(direction.queue_kind)) +
                tc_number("limit", direction.queue_packets) + words_of(direction)};
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
