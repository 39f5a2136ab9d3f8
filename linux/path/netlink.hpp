// SPDX-License-Identifier: GPL-2.0-only
//
// Adds routes and addresses by rtnetlink(7), limited to what the hosts need. nat.cpp uses the same classes for
// the packet filter.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ww::path {

// Builds a message: a header, the fixed part for its kind, and attributes, which may be nested.
class Message {
  public:
    template <class Fixed>
    Message(std::uint16_t type, std::uint16_t flags, const Fixed& fixed)
        : bytes_(NLMSG_SPACE(sizeof fixed)) {
        nlmsghdr head{};
        head.nlmsg_type = type;
        head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        std::memcpy(bytes_.data(), &head, sizeof head);
        std::memcpy(bytes_.data() + NLMSG_HDRLEN, &fixed, sizeof fixed);
    }

    template <class T>
    void put(std::uint16_t type, const T& value) {
        put_bytes(type, {reinterpret_cast<const char*>(&value), sizeof value});
    }
    void put_text(std::uint16_t type, const std::string& text) {
        put_bytes(type, {text.c_str(), text.size() + 1});
    }
    void put_bytes(std::uint16_t type, std::string_view value);

    // Begins an attribute that contains attributes; close() takes the returned position.
    std::size_t open(std::uint16_t type);
    void close(std::size_t at);

    std::span<const std::uint8_t> finish();

  private:
    std::vector<std::uint8_t> bytes_;
};

// Talks to a subsystem of the kernel in the namespace of the calling thread.
class Netlink {
  public:
    explicit Netlink(int protocol);
    ~Netlink();
    Netlink(const Netlink&) = delete;
    Netlink& operator=(const Netlink&) = delete;

    // Sends messages, `answers` of which ask for an answer (NLM_F_ACK). Throws std::system_error for the first
    // answer that reports an error.
    void send(std::span<const std::uint8_t> messages, int answers, const char* what);

  private:
    int fd_;
};

struct Route {
    std::uint32_t to = 0;    // an address, host byte order
    std::uint32_t from = 0;  // the source address of packets to it; 0: the device's
    int device = 0;
    std::map<std::uint16_t, std::uint32_t> metrics = {};  // RTAX_*
    std::uint32_t locked = 0;  // a bit for each metric that the kernel must not change
    std::uint8_t prefix = 32;  // bits of `to` that count
    bool is_own = false;       // `to` is an address of this host
};

struct Address {
    std::uint32_t address = 0;  // host byte order
    std::uint8_t prefix = 32;
    int device = 0;
};

// Adds routes and addresses in the namespace of the calling thread. Fails if one exists already.
class RouteTable {
  public:
    // Sets how many packets a device can queue. ioctl(SIOCSIFTXQLEN) is not permitted in a user namespace.
    void set_queue(int device, std::uint32_t packets);

    // Lets a device take one segment at a time.
    void send_alone(int device);

    void add(const Route& route);
    void add(const Address& address);

  private:
    void set(int device, std::uint16_t attribute, std::uint32_t value);

    Netlink kernel_{NETLINK_ROUTE};
};

}  // namespace ww::path
