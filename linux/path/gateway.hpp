// SPDX-License-Identifier: GPL-2.0-only
//
// A gateway is a network namespace for other programs: one TUN device, the path, is its only way out, and the
// path's other end is a device in the namespace that ww-path was started in. No device outlives ww-path, and
// neither does the namespace once nobody is in it.
//
//   inside    100.64.N.2 on `path`     by default everything goes this way
//   outside   100.64.N.1 on `ww0`, ww1...; what is not for it is forwarded, and masqueraded (nat.hpp)
//
// A gateway has a block of addresses. One that is made inside another takes a part of that one's block, so that
// every packet finds its way back without any translation, however deep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host.hpp"

namespace ww::path {

// So many addresses have the same first `prefix` bits as `first`.
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

// Lists the blocks that a gateway may take, the first one first. `around`: the block of the gateway that it is made
// in; empty (prefix 0): it is made in none.
std::vector<Block> candidates(const Block& around);

struct Gateway {
    std::vector<Host> hosts;  // inside, outside
    Block block;
    std::string device;      // outside
    bool is_nested = false;  // it is made in another gateway
};

// Makes a gateway between the ends of the plan's first flow: inside is where that comes from.
Gateway make_gateway(const Plan& plan);

std::string dotted(std::uint32_t address);

}  // namespace ww::path
