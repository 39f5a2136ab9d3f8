// SPDX-License-Identifier: BSD-3-Clause
//
// Reads quantities with a unit, exactly: westwood/units.py defines the accepted forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "section.hpp"

namespace ww::plan {

// Each reads a value in base units, or throws Problem.
std::int64_t rate_bps(const Item& item, std::int64_t least, std::int64_t most);
std::int64_t time_ps(const Item& item, std::int64_t least, std::int64_t most);
std::int64_t span_us(const Item& item, std::int64_t least, std::int64_t most);  // whole us
std::int64_t size_bytes(const Item& item, std::int64_t least, std::int64_t most);
double fraction(const Item& item);  // 0.005 or "0.5%"

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
Limit limit(const Item& item);

}  // namespace ww::plan
