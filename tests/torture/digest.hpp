// SPDX-License-Identifier: BSD-3-Clause
//
// Makes random bytes from a seed, and a digest of everything that a program computed from them.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace ww::torture {

inline std::vector<std::uint8_t> random_bytes(std::uint64_t seed, std::size_t size) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(size);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

// FNV-1a over 64-bit words.
class Digest {
  public:
    void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3u; }
    void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace ww::torture
