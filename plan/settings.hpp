// SPDX-License-Identifier: BSD-3-Clause
//
// Sets the declared settings (core/settings.h, engine/settings.hpp) that a section of a scenario has. Each key
// is a setting's name, its value in the form that the declarations describe; without a value the field stays.
#pragma once

#include <algorithm>
#include <cmath>

#include "../engine/network.hpp"
#include "quantities.hpp"
#include "section.hpp"

namespace ww::plan {

// Reads a probability, or a number in whole thousandths.
inline void set_share(const Item& item, double& field, double, double) { field = fraction(item); }

inline void set_share(const Item& item, std::uint16_t& field, std::uint32_t least,
                      std::uint32_t most, bool or_none = false) {
    const bool is_text = std::holds_alternative<std::string>(item.value()->is);
    const double thousandths = 1000 * (is_text ? fraction(item) : item.number(0, 1e6));
    const double rounded = std::round(thousandths);
    if (!(or_none && rounded == 0)) item.within(static_cast<std::int64_t>(rounded), least, most);
    if (std::abs(rounded - thousandths) > 1e-9) item.refuse("expected at most three decimals");
    field = static_cast<std::uint16_t>(rounded);
}

// Reads a window; one in bytes is rounded down to whole segments of `mss` bytes.
inline std::int64_t segments(const Item& item, const Amount& amount, std::int64_t least,
                             std::int64_t most, std::int64_t mss) {
    if (amount.in_packets) return item.within(*amount.count, least, most);
    return std::clamp(*amount.count / mss, least, most);
}

// Sets a member of object `o`, for each kind of setting.
#define WW_SET_WHOLE(member, value) o.member = static_cast<decltype(o.member)>(value)
#define WW_SET_SWITCH(setting, member, least, most) o.member = item.is_flag()
#define WW_SET_COUNT(setting, member, least, most) WW_SET_WHOLE(member, item.whole(least, most))
#define WW_SET_COUNT_OR_NONE(setting, member, least, most) \
    WW_SET_WHOLE(member, item.is_zero() ? 0 : item.whole(least, most))
#define WW_SET_SHARE(setting, member, least, most) set_share(item, o.member, least, most)
#define WW_SET_FACTOR_OR_NONE(setting, member, least, most) \
    set_share(item, o.member, least, most, true)
#define WW_SET_PACKETS(setting, member, least, most) o.member = item.number(least, most)
#define WW_SET_RATE(setting, member, least, most) WW_SET_WHOLE(member, rate_bps(item, least, most))
#define WW_SET_TIME(setting, member, least, most) WW_SET_WHOLE(member, time_ps(item, least, most))
#define WW_SET_TIME_OR_NEVER WW_SET_TIME
#define WW_SET_SPAN(setting, member, least, most) WW_SET_WHOLE(member, span_us(item, least, most))
#define WW_SET_BYTES(setting, member, least, most) \
    WW_SET_WHOLE(member, size_bytes(item, least, most))
#define WW_SET_SIZE_OR_ALL WW_SET_BYTES
#define WW_SET_SEGMENTS(setting, member, least, most) \
    WW_SET_WHOLE(member, segments(item, amount(item, true), least, most, mss))
#define WW_SET_SSTHRESH(setting, member, least, most)                   \
    if (const Amount window = amount(item, false); window.count)        \
        WW_SET_WHOLE(member, segments(item, window, least, most, mss)); \
    else                                                                \
        o.member = WW_SSTHRESH_INFINITE
#define WW_SET_CHOICE(setting, member, least, most) \
    WW_SET_WHOLE(member, item.choice<int>({WW_CHOICES_##setting(WW_SET_WORD)}))
#define WW_SET_WORD(id, word) {word, id},

// Settings of a control that have an effect only while another, a choice, has a word.
#define WW_SETTINGS_THAT_NEED(X)                                                   \
    X(COUNT_OR_NONE, resume_cwnd, slow_start, WW_CAREFUL_RESUME, "careful-resume") \
    X(SPAN, resume_rtt, slow_start, WW_CAREFUL_RESUME, "careful-resume")

// Sets a row's setting, if the section has it.
#define WW_SET_ROW(kind, setting, member, least, most) \
    if (const Item item = section[#setting]) {         \
        WW_SET_##kind(setting, member, least, most);   \
    }
#define WW_SET_SETTING(kind, setting, fallback, least, most, ...) \
    WW_SET_ROW(kind, setting, WW_ENGINE_FIELD(kind, setting), least, most)

}  // namespace ww::plan
