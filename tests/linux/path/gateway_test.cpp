// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/gateway.hpp: address blocks of parallel and nested gateways. linux/path/nat.hpp: nameservers.
#include "linux/path/gateway.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "linux/path/nat.hpp"

namespace ww::path::test {
namespace {

bool is_within(const Block& one, const Block& other) {
    return one.prefix > other.prefix && one.overlaps(other);
}

TEST(Gateway, IsOneOf64OutsideOfAnyOther) {
    const std::vector<Block> blocks = candidates({});
    ASSERT_EQ(blocks.size(), 64u);
    EXPECT_EQ(dotted(blocks.front().outside()), "100.64.0.1");
    EXPECT_EQ(dotted(blocks.front().inside()), "100.64.0.2");
    EXPECT_EQ(dotted(blocks.back().inside()), "100.127.0.2");
    for (std::size_t i = 1; i < blocks.size(); i++) EXPECT_FALSE(blocks[i].overlaps(blocks[i - 1]));
}

TEST(Gateway, HasABlockWithinTheEnclosingGatewaysWithoutItsAddresses) {
    Block around = candidates({}).front();
    int depth = 1;
    for (std::vector<Block> blocks; !(blocks = candidates(around)).empty(); depth++) {
        EXPECT_EQ(blocks.size(), 7u);
        for (const Block& block : blocks) {
            EXPECT_TRUE(is_within(block, around));
            EXPECT_FALSE(block.overlaps({around.outside(), 32}));
            EXPECT_FALSE(block.overlaps({around.inside(), 32}));
            EXPECT_TRUE(is_within({block.inside(), 32}, block));
        }
        EXPECT_FALSE(blocks[0].overlaps(blocks[6]));
        around = blocks[3];
    }
    EXPECT_EQ(depth, 5);
}

TEST(Gateway, KnowsWhatOverlaps) {
    const Block all{0, 0}, net{100u << 24, 8}, other{101u << 24, 8}, host{(100u << 24) + 5, 32};
    EXPECT_TRUE(all.overlaps(host) && host.overlaps(all));
    EXPECT_TRUE(net.overlaps(host) && host.overlaps(net));
    EXPECT_FALSE(other.overlaps(host) || net.overlaps(other));
}

TEST(Nameservers, OnLoopbackOnlyAreOutOfReach) {
    const auto lacking = [](const char* text) {
        std::istringstream file(text);
        return loopback_nameserver(file);
    };
    EXPECT_EQ(lacking("# nameserver 9.9.9.9\nnameserver 127.0.0.53\noptions edns0\n"),
              "127.0.0.53");
    EXPECT_EQ(lacking("nameserver ::1\n"), "::1");
    EXPECT_EQ(lacking("nameserver 127.0.0.1\nnameserver 192.0.2.1\n"), "");
    EXPECT_EQ(lacking(""), "");
}

}  // namespace
}  // namespace ww::path::test
