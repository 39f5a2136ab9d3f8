// SPDX-License-Identifier: GPL-2.0-only
#include "gateway.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "netlink.hpp"

namespace ww::path {
namespace {

constexpr const char* kInside = "path";
constexpr const char* kOutside = "ww%d";
constexpr Block kShared{100u << 24 | 64u << 16, 10};  // RFC 6598
constexpr std::uint8_t kOutermost = 16;               // 64 blocks side by side
constexpr std::uint8_t kStep = 3;                     // seven blocks in each block
constexpr std::uint8_t kSmallest = 28;                // five levels deep
constexpr std::uint32_t kPacketBytes = 1500;

struct Interface {
    std::string name;
    Block block;
};

std::vector<Interface> interfaces() {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0)
        throw std::system_error(errno, std::generic_category(), "listing addresses");
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, ::freeifaddrs);
    std::vector<Interface> found;
    const auto number = [](const sockaddr* address) {
        return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
    };
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
        const std::uint32_t mask = one->ifa_netmask ? number(one->ifa_netmask) : UINT32_MAX;
        found.push_back(
            {one->ifa_name,
             {number(one->ifa_addr) & mask, static_cast<std::uint8_t>(std::popcount(mask))}});
    }
    return found;
}

// Returns the block of the gateway that this namespace is inside of.
Block around(const std::vector<Interface>& interfaces) {
    for (const Interface& one : interfaces)
        if (one.name == kInside && one.block.prefix >= kOutermost && kShared.overlaps(one.block))
            return one.block;
    return {};
}

int number_of(const std::string& device) {
    return static_cast<int>(::if_nametoindex(device.c_str()));
}

// Takes the first free block. Of two gateways that start at once only one can add a block's route.
Block claim(const std::vector<Interface>& interfaces, const Block& around, int device) {
    for (const Block& block : candidates(around)) {
        const bool is_taken = std::any_of(
            interfaces.begin(), interfaces.end(),
            [&](const Interface& one) { return one.name != kInside && one.block.overlaps(block); });
        if (is_taken) continue;
        try {
            RouteTable table;
            table.add(Route{.to = block.first, .device = device, .prefix = block.prefix});
            table.add(Address{block.outside(), 32, device});
            return block;
        } catch (const std::system_error& error) {
            if (error.code().value() != EEXIST) throw;
        }
    }
    throw Unavailable(
        around.prefix == 0
            ? "no free addresses: all of 100.64.0.0/10 is in use on this machine"
            : "no free addresses: a shell can hold seven others, nested up to five deep");
}

void set_up_inside(const Block& block, const std::string& device) {
    start_device("lo");
    RouteTable table;
    const int number = number_of(device);
    table.add(Address{block.inside(), block.prefix, number});
    table.add(Route{.from = block.inside(), .device = number, .prefix = 0});
}

}  // namespace

std::vector<Block> candidates(const Block& around) {
    std::vector<Block> found;
    const std::uint8_t from = around.prefix == 0 ? kShared.prefix : around.prefix;
    const auto prefix = static_cast<std::uint8_t>(around.prefix == 0 ? kOutermost : from + kStep);
    if (prefix > kSmallest) return found;
    const std::uint32_t first = around.prefix == 0 ? kShared.first : around.first;
    // The first part of a block belongs to its own gateway.
    for (std::uint32_t i = around.prefix == 0 ? 0 : 1; i < 1u << (prefix - from); i++)
        found.push_back({first + (i << (32 - prefix)), prefix});
    return found;
}

Gateway make_gateway(const Plan& plan) {
    const sim::Flow& flow = plan.network.flows.front();
    Gateway gateway;
    const std::vector<Interface> before = interfaces();
    const Block outer = around(before);
    gateway.is_nested = outer.prefix != 0;
    Descriptor outside = current_namespace();
    gateway.device = kOutside;
    Descriptor outside_tun = make_device(gateway.device, kPacketBytes);
    set_parameter("ipv4/conf/" + gateway.device + "/forwarding", "1");
    gateway.block = claim(before, outer, number_of(gateway.device));

    if (::unshare(CLONE_NEWNET) < 0)
        throw Unavailable("no network namespace (" + std::string(std::strerror(errno)) +
                          "): run it as root");
    Descriptor inside = current_namespace();
    set_parameter("ipv4/ip_forward", "1");  // for nested gateways
    std::string device = kInside;
    Descriptor inside_tun = make_device(device, kPacketBytes);
    set_up_inside(gateway.block, device);
    enter(outside.get());
    gateway.hosts.emplace_back(flow.from, std::move(inside), std::move(inside_tun), device);
    gateway.hosts.emplace_back(flow.to, std::move(outside), std::move(outside_tun), gateway.device);
    return gateway;
}

std::string dotted(std::uint32_t address) {
    const in_addr network{htonl(address)};
    char text[INET_ADDRSTRLEN];
    return ::inet_ntop(AF_INET, &network, text, sizeof text);
}

}  // namespace ww::path
