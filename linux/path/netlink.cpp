// SPDX-License-Identifier: GPL-2.0-only
#include "netlink.hpp"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace ww::path {
namespace {

// Builds a message, attribute by attribute.
class Message {
  public:
    Message() : bytes_(NLMSG_SPACE(sizeof(rtmsg))) {}

    template <class T>
    void put(std::uint16_t type, const T& value) {
        const std::size_t at = open(type);
        bytes_.resize(at + RTA_SPACE(sizeof value));
        std::memcpy(bytes_.data() + at + RTA_LENGTH(0), &value, sizeof value);
        close(at, RTA_LENGTH(sizeof value));
    }

    std::size_t open(std::uint16_t type) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + RTA_LENGTH(0));
        const rtattr head{0, type};
        std::memcpy(bytes_.data() + at, &head, sizeof head);
        return at;
    }

    void close(std::size_t at, std::size_t length) {
        const auto size = static_cast<unsigned short>(length);
        std::memcpy(bytes_.data() + at + offsetof(rtattr, rta_len), &size, sizeof size);
    }

    // Puts both headers before the attributes and returns the whole message.
    const std::vector<std::uint8_t>& finish(nlmsghdr head, const rtmsg& route) {
        head.nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
        std::memcpy(bytes_.data(), &head, sizeof head);
        std::memcpy(bytes_.data() + NLMSG_HDRLEN, &route, sizeof route);
        return bytes_;
    }

    std::size_t size() const { return bytes_.size(); }

  private:
    std::vector<std::uint8_t> bytes_;
};

Message attributes_of(const Route& route) {
    Message message;
    message.put(RTA_DST, htonl(route.to));
    message.put(RTA_OIF, route.device);
    if (route.from != 0) message.put(RTA_PREFSRC, htonl(route.from));
    if (route.metrics.empty()) return message;
    const std::size_t start = message.open(RTA_METRICS);
    if (route.locked != 0) message.put(RTAX_LOCK, route.locked);
    for (const auto& [metric, value] : route.metrics) message.put(metric, value);
    message.close(start, message.size() - start);
    return message;
}

rtmsg header_of(const Route& route) {
    const bool own = route.from == 0;
    rtmsg head{};
    head.rtm_family = AF_INET;
    head.rtm_dst_len = 32;
    head.rtm_protocol = RTPROT_BOOT;
    head.rtm_table = own ? RT_TABLE_LOCAL : RT_TABLE_MAIN;
    head.rtm_scope = own ? RT_SCOPE_HOST : RT_SCOPE_LINK;
    head.rtm_type = own ? RTN_LOCAL : RTN_UNICAST;
    return head;
}

[[noreturn]] void fail(int error) {
    throw std::system_error(error, std::generic_category(), "adding a route");
}

}  // namespace

RouteTable::RouteTable() : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    if (fd_ < 0) fail(errno);
}

RouteTable::~RouteTable() { ::close(fd_); }

void RouteTable::add(const Route& route) {
    nlmsghdr netlink{};
    netlink.nlmsg_type = RTM_NEWROUTE;
    netlink.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
    netlink.nlmsg_seq = ++sequence_;
    Message message = attributes_of(route);
    const auto& bytes = message.finish(netlink, header_of(route));
    if (::send(fd_, bytes.data(), bytes.size(), 0) < 0) fail(errno);

    alignas(nlmsghdr) std::uint8_t answer[1024];
    const ssize_t size = ::recv(fd_, answer, sizeof answer, 0);
    if (size < static_cast<ssize_t>(NLMSG_SPACE(sizeof(nlmsgerr)))) fail(size < 0 ? errno : EPROTO);
    nlmsgerr verdict;
    std::memcpy(&verdict, answer + NLMSG_HDRLEN, sizeof verdict);
    if (verdict.error != 0) fail(-verdict.error);
}

}  // namespace ww::path
