// SPDX-License-Identifier: GPL-2.0-only
#include "host.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "netlink.hpp"
#include "packet.hpp"

namespace ww::path {
namespace {

constexpr const char* kDevice = "path";
constexpr std::int64_t kMinBuffer = 131072;  // bytes, Linux's default
constexpr std::int64_t kMaxBuffer = INT32_MAX;
constexpr std::uint32_t kMaxRetries = 127;  // a connection never gives up on a silent peer

std::uint32_t milliseconds(sim::Time time) {
    constexpr sim::Time kMillisecond = 1000 * sim::kMicrosecond;
    return static_cast<std::uint32_t>(std::max<sim::Time>(1, time / kMillisecond));
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}

std::uint32_t source_address(std::uint32_t flow) { return kSources | flow; }
std::uint32_t sink_address(std::uint32_t flow) { return kSinks | flow; }

Host::Host(const Plan& plan, std::uint32_t node) : node_(node) {
    enter_new_namespace();
    net_ = current_namespace();
    set_parameters(plan);
    std::uint32_t largest = 1500;
    for (const sim::Flow& flow : plan.network.flows) largest = std::max(largest, flow.packet_bytes);
    device_ = kDevice;
    tun_ = make_device(device_, largest);
    set_routes(plan);
}

void Host::set_parameters(const Plan& plan) const {
    std::int64_t buffer = kMinBuffer;
    bool timestamps = true, sack = true;
    std::uint32_t dupacks = 3, compressed_acks = 44;
    for (std::uint32_t i = 0; i < plan.network.flows.size(); i++) {
        const sim::Flow& flow = plan.network.flows[i];
        if (flow.from == node_ && !flow.datagrams.on) {
            timestamps = flow.header_bytes >= 52;  // 20 IP, 20 TCP, 12 for the option
            sack = has_sack(flow);
            dupacks = flow.dupack_threshold;
        }
        // The buffer is four times the window, since the kernel charges its bookkeeping to it.
        if (flow.to == node_) {
            buffer = std::max<std::int64_t>(buffer, 4LL * flow.receive_window_bytes);
            if (!flow.datagrams.on) compressed_acks = flow.compressed_acks;
        }
    }
    const std::string size = std::to_string(std::min(buffer, kMaxBuffer));
    const std::string retries = std::to_string(kMaxRetries);
    set_parameter("ipv6/conf/all/disable_ipv6", "1");  // IPv6 would send packets of its own
    set_parameter("ipv6/conf/default/disable_ipv6", "1");
    set_parameter("ipv4/conf/all/rp_filter", "0");
    set_parameter("ipv4/conf/default/rp_filter", "0");
    set_parameter("ipv4/tcp_timestamps", timestamps ? "1" : "0");
    set_parameter("ipv4/tcp_sack", sack ? "1" : "0");
    set_parameter("ipv4/tcp_reordering", std::to_string(dupacks));
    set_parameter("ipv4/tcp_comp_sack_nr", std::to_string(compressed_acks));
    set_parameter("ipv4/tcp_no_metrics_save", "1");  // flows don't learn from earlier ones
    set_parameter("ipv4/tcp_ecn_fallback", "0");
    set_parameter("ipv4/tcp_moderate_rcvbuf", "0");  // the route sets the window
    set_parameter("ipv4/tcp_rmem", "4096 " + size + " " + size);
    set_parameter("ipv4/tcp_wmem", "4096 65536 " + std::to_string(kMaxBuffer));
    set_parameter("ipv4/tcp_retries2", retries);
    set_parameter("ipv4/tcp_syn_retries", retries);
    set_parameter("ipv4/tcp_synack_retries", retries);
    set_parameter("ipv4/tcp_max_syn_backlog", "65536");
    set_parameter("ipv4/ip_local_port_range", "10000 65000");
    set_parameter("core/somaxconn", "65536");
}

void Host::set_routes(const Plan& plan) const {
    RouteTable table;
    const auto device = static_cast<int>(::if_nametoindex(device_.c_str()));
    for (std::uint32_t i = 0; i < plan.network.flows.size(); i++) {
        const sim::Flow& flow = plan.network.flows[i];
        const std::uint32_t packet = flow.packet_bytes;
        if (flow.from == node_) {
            if (!flow.tso && !flow.datagrams.on) table.send_alone(device);
            Route route{.to = sink_address(i), .from = source_address(i), .device = device};
            route.metrics[RTAX_MTU] = packet;
            route.metrics[RTAX_INITCWND] = flow.initial_cwnd;
            route.metrics[RTAX_RTO_MIN] = milliseconds(flow.min_rto);
            route.locked = 1u << RTAX_RTO_MIN | 1u << RTAX_MTU;
            if (flow.ecn) route.metrics[RTAX_FEATURES] = RTAX_FEATURE_ECN;
            table.add({.to = source_address(i), .device = device, .is_own = true});
            table.add(route);
        }
        if (flow.to == node_) {
            Route route{.to = source_address(i), .from = sink_address(i), .device = device};
            route.metrics[RTAX_MTU] = packet;
            route.metrics[RTAX_WINDOW] = flow.receive_window_bytes;
            if (flow.initial_receive_window_bytes > 0)
                route.metrics[RTAX_INITRWND] =
                    std::max(1u, flow.initial_receive_window_bytes / flow.mss());
            if (flow.delayed_ack == 1) route.metrics[RTAX_QUICKACK] = 1;
            route.locked = 1u << RTAX_MTU;
            table.add({.to = sink_address(i), .device = device, .is_own = true});
            table.add(route);
        }
    }
}

Descriptor Host::socket(int type) const {
    enter(net_.get());
    Descriptor made(::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!made)
        throw Unavailable(std::string("no further socket (") + std::strerror(errno) +
                          "): raise the limit of open files (ulimit -n)");
    return made;
}

std::vector<Host> make_hosts(const Plan& plan) {
    std::set<std::uint32_t> ends;
    for (const sim::Flow& flow : plan.network.flows) {
        ends.insert(flow.from);
        ends.insert(flow.to);
    }
    std::vector<Host> hosts;
    for (const std::uint32_t node : ends) hosts.emplace_back(plan, node);
    return hosts;
}

}  // namespace ww::path
