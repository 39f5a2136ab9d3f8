// SPDX-License-Identifier: GPL-2.0-only
//
// Adds routes by rtnetlink(7), of which the hosts need this little.
#pragma once

#include <cstdint>
#include <map>

namespace ww::path {

struct Route {
    std::uint32_t to = 0;    // an address, host byte order
    std::uint32_t from = 0;  // the source address of packets to it; 0: `to` is this host's own
    int device = 0;
    std::map<std::uint16_t, std::uint32_t> metrics = {};  // RTAX_*
    std::uint32_t locked = 0;  // a bit for each metric that the kernel must not change
};

// Adds routes in the namespace that the calling thread is in.
class RouteTable {
  public:
    RouteTable();
    ~RouteTable();
    RouteTable(const RouteTable&) = delete;
    RouteTable& operator=(const RouteTable&) = delete;

    void add(const Route& route);

  private:
    int fd_;
    std::uint32_t sequence_ = 0;
};

}  // namespace ww::path
