// SPDX-License-Identifier: GPL-2.0-only
#include "netlink.hpp"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ww::path {
namespace {

constexpr std::uint16_t kAddNew = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;

[[noreturn]] void fail(int error, const char* what) {
    throw std::system_error(error, std::generic_category(), what);
}

rtmsg header_of(const Route& route) {
    rtmsg head{};
    head.rtm_family = AF_INET;
    head.rtm_dst_len = route.prefix;
    head.rtm_protocol = RTPROT_BOOT;
    head.rtm_table = route.is_own ? RT_TABLE_LOCAL : RT_TABLE_MAIN;
    head.rtm_scope = route.is_own ? RT_SCOPE_HOST : RT_SCOPE_LINK;
    head.rtm_type = route.is_own ? RTN_LOCAL : RTN_UNICAST;
    return head;
}

}  // namespace

void Message::put_bytes(std::uint16_t type, std::string_view value) {
    const std::size_t at = open(type);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    close(at);
}

std::size_t Message::open(std::uint16_t type) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + NLA_HDRLEN);
    const nlattr head{0, type};
    std::memcpy(bytes_.data() + at, &head, sizeof head);
    return at;
}

void Message::close(std::size_t at) {
    const auto size = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at + offsetof(nlattr, nla_len), &size, sizeof size);
    bytes_.resize(at + NLA_ALIGN(size));
}

std::span<const std::uint8_t> Message::finish() {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_len), &size, sizeof size);
    return bytes_;
}

Netlink::Netlink(int protocol) : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)) {
    if (fd_ < 0) fail(errno, "opening a netlink socket");
}

Netlink::~Netlink() { ::close(fd_); }

void Netlink::send(std::span<const std::uint8_t> messages, int answers, const char* what) {
    if (::send(fd_, messages.data(), messages.size(), 0) < 0) fail(errno, what);
    for (; answers > 0; answers--) {
        alignas(nlmsghdr) std::uint8_t answer[4096];
        const ssize_t size = ::recv(fd_, answer, sizeof answer, 0);
        if (size < static_cast<ssize_t>(NLMSG_SPACE(sizeof(nlmsgerr))))
            fail(size < 0 ? errno : EPROTO, what);
        nlmsgerr verdict;
        std::memcpy(&verdict, answer + NLMSG_HDRLEN, sizeof verdict);
        if (verdict.error != 0) fail(-verdict.error, what);
    }
}

void RouteTable::set(int device, std::uint16_t attribute, std::uint32_t value) {
    ifinfomsg head{};
    head.ifi_family = AF_UNSPEC;
    head.ifi_index = device;
    Message message(RTM_NEWLINK, NLM_F_ACK, head);
    message.put(attribute, value);
    kernel_.send(message.finish(), 1, "setting up a device");
}

void RouteTable::set_queue(int device, std::uint32_t packets) { set(device, IFLA_TXQLEN, packets); }

void RouteTable::send_alone(int device) { set(device, IFLA_GSO_MAX_SEGS, 1); }

void RouteTable::add(const Route& route) {
    Message message(RTM_NEWROUTE, kAddNew, header_of(route));
    message.put(RTA_DST, htonl(route.to));
    message.put(RTA_OIF, route.device);
    if (route.from != 0) message.put(RTA_PREFSRC, htonl(route.from));
    if (!route.metrics.empty()) {
        const std::size_t start = message.open(RTA_METRICS);
        if (route.locked != 0) message.put(RTAX_LOCK, route.locked);
        for (const auto& [metric, value] : route.metrics) message.put(metric, value);
        message.close(start);
    }
    kernel_.send(message.finish(), 1, "adding a route");
}

void RouteTable::add(const Address& address) {
    ifaddrmsg head{};
    head.ifa_family = AF_INET;
    head.ifa_prefixlen = address.prefix;
    head.ifa_index = static_cast<std::uint32_t>(address.device);
    Message message(RTM_NEWADDR, kAddNew, head);
    message.put(IFA_LOCAL, htonl(address.address));
    message.put(IFA_ADDRESS, htonl(address.address));
    kernel_.send(message.finish(), 1, "adding an address");
}

}  // namespace ww::path
