// SPDX-License-Identifier: GPL-2.0-only
//
// Makes packets as a kernel does, for tests of the emulated path's parser.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linux/path/model.hpp"
#include "tests/engine/one_link.hpp"

namespace ww::path::test {

using namespace sim;
using sim::test::kMs;

using Bytes = std::vector<std::uint8_t>;

inline void put(Bytes& bytes, std::size_t at, std::uint32_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; i++)
        bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * (count - 1 - i)));
}

// Computes the checksum of a header (RFC 791), which is 0 if the header already has its checksum.
inline std::uint32_t checksum(const Bytes& bytes, std::size_t header = 20) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < header; i += 2)
        sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
    while (sum >> 16 != 0) sum = (sum & 0xffffu) + (sum >> 16);
    return ~sum & 0xffffu;
}

// Makes an IPv4 packet whose transport header has this length and whose options and payload are zeros.
inline Bytes packet(std::uint32_t from, std::uint32_t to, std::uint8_t protocol, std::size_t header,
                    std::size_t payload, std::uint8_t ecn = 0) {
    Bytes bytes(20 + header + payload);
    bytes[0] = 0x45;
    bytes[1] = ecn;
    put(bytes, 2, static_cast<std::uint32_t>(bytes.size()), 2);
    bytes[8] = 64;
    bytes[9] = protocol;
    put(bytes, 12, from, 4);
    put(bytes, 16, to, 4);
    if (protocol == 6) bytes[20 + 12] = static_cast<std::uint8_t>(header / 4 << 4);
    put(bytes, 10, checksum(bytes), 2);
    return bytes;
}

inline Bytes udp(std::uint32_t from, std::uint32_t to, std::size_t payload) {
    return packet(from, to, 17, 8, payload);
}
inline Bytes tcp(std::uint32_t from, std::uint32_t to, std::size_t payload, std::uint8_t ecn = 0) {
    return packet(from, to, 6, 32, payload, ecn);  // with timestamps
}

// The emulated path over a network that a test may change before it sends the first packet.
class Emulation : public ::testing::Test {
  protected:
    explicit Emulation(const Network& network, Packets packets = Packets::of_others,
                       Model::Enqueue enqueue = {})
        : network_(network), packets_(packets), enqueue_(std::move(enqueue)) {}

    Model& model() {
        if (!model_) {
            topology_.emplace(network_);
            model_.emplace(network_, *topology_, 1, packets_, enqueue_);
        }
        return *model_;
    }
    void enter(Time at, std::uint32_t node, const Bytes& bytes) {
        std::copy(bytes.begin(), bytes.end(), model().room().begin());
        model().enter(at, node, bytes.size());
    }

    Network network_;

  private:
    const Packets packets_;
    const Model::Enqueue enqueue_;
    std::optional<Topology> topology_;
    std::optional<Model> model_;
};

}  // namespace ww::path::test
