// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and writes quantities with a unit, exactly. Every language reads and writes them here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "section.hpp"

namespace ww::plan {

struct Unit {
    const char* name;
    std::int64_t scale;
};

inline constexpr Unit kRates[] = {{"bps", 1},
                                  {"kbps", 1'000},
                                  {"Mbps", 1'000'000},
                                  {"Gbps", 1'000'000'000},
                                  {"Tbps", 1'000'000'000'000}};
inline constexpr Unit kTimes[] = {{"ps", 1},
                                  {"ns", 1'000},
                                  {"us", 1'000'000},
                                  {"ms", 1'000'000'000},
                                  {"s", 1'000'000'000'000},
                                  {"min", 60'000'000'000'000},
                                  {"h", 3'600'000'000'000'000}};
inline constexpr Unit kSizes[] = {{"B", 1},          {"kB", 1'000},    {"KiB", 1 << 10},
                                  {"MB", 1'000'000}, {"MiB", 1 << 20}, {"GB", 1'000'000'000},
                                  {"GiB", 1 << 30}};

// Write a quantity in one unit, as it reads back: 2000000 bit/s as "2Mbps", 45000000000 ps as "45ms".
std::string written_rate(std::int64_t bps);
std::string written_time(std::int64_t ps);
std::string written_size(std::int64_t bytes);  // in whole binary units, or bytes

// A kind of quantity; its first unit is the base unit.
struct Kind {
    std::span<const Unit> units;
    const char* expected;
    std::string (*written)(std::int64_t);
};
inline constexpr Kind kRate = {kRates, "a rate such as \"2Mbps\"", written_rate};
inline constexpr Kind kTime = {kTimes, "a time such as \"45ms\"", written_time};
inline constexpr Kind kSize = {kSizes, "a size such as \"64KiB\"", written_size};

// Returns a value in base units, or throws Problem.
std::int64_t read(const Item& item, const Kind& kind);
std::int64_t read(const Item& item, const Kind& kind, std::int64_t least, std::int64_t most);

inline std::int64_t rate_bps(const Item& item, std::int64_t least, std::int64_t most) {
    return read(item, kRate, least, most);
}
inline std::int64_t time_ps(const Item& item, std::int64_t least, std::int64_t most) {
    return read(item, kTime, least, most);
}
inline std::int64_t size_bytes(const Item& item, std::int64_t least, std::int64_t most) {
    return read(item, kSize, least, most);
}
std::int64_t span_us(const Item& item, std::int64_t least, std::int64_t most);  // whole us
double fraction(const Item& item);                                              // 0.005 or "0.5%"

// Packets ("100p") or bytes ("64KiB").
struct Amount {
    std::optional<std::int64_t> count;  // none: unlimited
    bool in_packets = true;
};
Amount amount(const Item& item, bool finite);

// A decimal number: digits x 10^power.
struct Decimal {
    std::uint64_t digits = 0;
    int power = 0;
};

// The limit of a queue: an amount, or what follows from the link.
struct Limit {
    Amount amount;
    std::optional<Decimal> products;  // "0.5bdp": bandwidth-delay products
    std::optional<std::int64_t> ps;   // "5ms": what the link carries in this time

    bool is_relative() const { return products || ps; }
};
inline constexpr char kLimitExpected[] =
    "a queue limit such as \"100p\", \"64KiB\", \"5ms\" or \"1bdp\", or \"unlimited\"";
Limit limit(const Item& item);

// A quantity whose kind its unit tells: a number in base units of "rate", "time", "size", "packets", "bdp" or
// "fraction". The kind is empty if the text is none.
struct Measure {
    const char* kind;
    double number;
};
Measure measure(const std::string& text);

}  // namespace ww::plan
