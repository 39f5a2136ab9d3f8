// SPDX-License-Identifier: BSD-3-Clause
//
// What a trace shows of each control: the modes and quantities that its header lists.
#pragma once

#include <cstdint>
#include <limits>

#include "../core/westwood.h"

namespace ww::sim {

struct Quantity {
    const char* name;  // nullptr: none
    ww_unit unit;
};

#define WW_QUANTITY(name, unit, value) {#name, unit},
#define WW_ROW(ID, name) {WW_##ID##_QUANTITIES(WW_QUANTITY)},
inline constexpr Quantity kQuantities[WW_ALGORITHM_COUNT][WW_QUANTITIES_MAX] = {
    WW_ALGORITHMS(WW_ROW)};
#undef WW_ROW
#undef WW_QUANTITY

// Returns a control's quantity in bit/s, segments or seconds; NaN if it is unlimited, unknown or
// missing. A loaded control has units of its own.
inline double in_users_unit(const ww_config& cc, unsigned number, std::uint64_t value) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const auto plain = static_cast<double>(value);
    if (cc.algorithm == WW_ALG_LOADED) return number < cc.control->quantity_count ? plain : kNan;
    const Quantity& quantity = kQuantities[cc.algorithm][number];
    if (quantity.name == nullptr) return kNan;
    if (quantity.unit == WW_BANDWIDTH)
        return value >= WW_BW_MAX ? kNan : plain * 8 / static_cast<double>(WW_BW_UNIT);
    if (quantity.unit == WW_VOLUME) return value >= WW_CWND_MAX ? kNan : plain;
    return value >= UINT32_MAX ? kNan : plain / 1e6;
}

}  // namespace ww::sim
