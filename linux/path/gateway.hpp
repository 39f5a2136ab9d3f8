// SPDX-License-Identifier: GPL-2.0-only
//
// A gateway is a network namespace for other programs. One TUN device, the path, is its only route out. The
// path's other end is a device in the namespace that ww-path was started in. The devices disappear with ww-path,
// and the namespace when nothing runs in it.
//
//   inside    100.64.N.2 on `path`     the default route
//   outside   100.64.N.1 on `ww0`, ww1...; forwards and masquerades the packets for other hosts (nat.hpp)
//
// A gateway has a block of addresses. A gateway nested in another one takes a part of its block, so that every
// packet is routed back without translation, however deep the nesting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host.hpp"

namespace ww::path {

// A block: the addresses that share the first `prefix` bits of `first`.
struct Block {
    std::uint32_t first = 0;  // host byte order
    std::uint8_t prefix = 0;

    bool overlaps(const Block& other) const {
        const std::uint8_t shorter = prefix < other.prefix ? prefix : other.prefix;
        return shorter == 0 || (first ^ other.first) >> (32 - shorter) == 0;
    }
    std::uint32_t outside() const { return first + 1; }
    std::uint32_t inside() const { return first + 2; }
};

// Lists the blocks that a gateway may take, in order of preference. `around` is the block of the enclosing gateway;
// prefix 0: there is none.
std::vector<Block> candidates(const Block& around);

struct Gateway {
    std::vector<Host> hosts;  // inside, outside
    Block block;
    std::string device;      // outside
    bool is_nested = false;  // inside another gateway
};

// Makes a gateway between the ends of the plan's first flow; `inside` is the flow's source.
Gateway make_gateway(const Plan& plan);

std::string dotted(std::uint32_t address);

}  // namespace ww::path
