// SPDX-License-Identifier: BSD-3-Clause
#include "quantities.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "../engine/settings.hpp"
#include "natural.hpp"

namespace ww::plan {
namespace {

constexpr Unit kSpellings[] = {{"b/s", 0}, {"bit/s", 0}, {"µs", 1}, {"μs", 1}};
constexpr const char* kStandard[] = {"bps", "us"};
constexpr std::uint64_t kMostDigits = UINT64_MAX / 10;  // a smaller number can take another digit
constexpr std::size_t kLongest = 40;                    // characters of a quantity
constexpr std::int64_t kMostAmount = std::int64_t{1} << 30;  // packets or bytes
constexpr double kMostProducts = 1000;
constexpr Unit kAmounts[] = {
    {"p", 1},          {"B", 1},         {"kB", 1'000},         {"KiB", 1 << 10},
    {"MB", 1'000'000}, {"MiB", 1 << 20}, {"GB", 1'000'000'000}, {"GiB", 1 << 30}};
const std::string kUnlimited = "unlimited", kProducts = "bdp";

bool is_digit(char character) { return character >= '0' && character <= '9'; }

// The parts of "-1.5e3 ms".
struct Quantity {
    bool is_negative = false;
    bool is_exact = true;  // false: it has more digits than `number` keeps
    Decimal number;        // without its sign
    std::string unit;      // in its standard spelling

    void add(char digit, bool is_decimal) {
        if (number.digits < kMostDigits) {
            number.digits = 10 * number.digits + static_cast<std::uint64_t>(digit - '0');
            number.power -= is_decimal ? 1 : 0;
        } else {
            is_exact = is_exact && digit == '0';
            number.power += is_decimal ? 0 : 1;
        }
    }
};

std::string standard(std::string unit) {
    for (const Unit& known : kSpellings) {
        const std::string_view spelling = known.name;
        if (unit.size() < spelling.size() || !unit.ends_with(spelling)) continue;
        unit.replace(unit.size() - spelling.size(), spelling.size(), kStandard[known.scale]);
    }
    return unit;
}

// Returns the length of an exponent of at most two digits at the start of the text; 0: there is none.
std::size_t exponent_length(std::string_view text) {
    if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
    const std::size_t sign = text.size() > 1 && (text[1] == '-' || text[1] == '+') ? 1 : 0;
    std::size_t digits = 0;
    while (digits < 2 && 1 + sign + digits < text.size() && is_digit(text[1 + sign + digits]))
        digits++;
    return digits > 0 ? 1 + sign + digits : 0;
}

// Returns the number of characters of a text in UTF-8.
std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

bool is_space(char character) {
    return character == ' ' || (character >= '\t' && character <= '\r');
}

bool is_control(char character) {
    return (character >= 0 && character <= ' ') || character == 0x7F;
}

// Splits a number, an optional space and a unit; none if the text has another form.
std::optional<Quantity> split(std::string_view text) {
    if (characters(text) > kLongest) return std::nullopt;
    Quantity quantity;
    std::size_t position = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    quantity.is_negative = position == 1 && text[0] == '-';
    const std::size_t begin = position;
    bool has_point = false;
    for (; position < text.size() &&
           (is_digit(text[position]) || (text[position] == '.' && !has_point));
         position++) {
        if (text[position] == '.')
            has_point = true;
        else
            quantity.add(text[position], has_point);
    }
    if (position == begin + (has_point ? 1 : 0)) return std::nullopt;
    if (const std::size_t length = exponent_length(text.substr(position)); length > 0) {
        const std::size_t sign = text[position + 1] == '+' ? 2 : 1;
        int exponent = 0;
        std::from_chars(text.data() + position + sign, text.data() + position + length, exponent);
        quantity.number.power += exponent;
        position += length;
    }
    if (position < text.size() && text[position] == ' ') position++;
    const std::string_view unit = text.substr(position);
    if (std::any_of(unit.begin(), unit.end(), is_control)) return std::nullopt;
    quantity.unit = standard(std::string(unit));
    return quantity;
}

// Returns the quantity in base units if it is a whole number; INT64_MAX if it is larger.
std::optional<std::int64_t> whole(const Quantity& quantity, std::int64_t scale) {
    constexpr Wide kMost = INT64_MAX;
    Wide value = Wide{quantity.number.digits} * static_cast<Wide>(scale);
    for (int power = quantity.number.power; power > 0 && value > 0 && value <= kMost; power--)
        value *= 10;
    for (int power = quantity.number.power; power < 0 && value > 0; power++) {
        if (value % 10 != 0) return std::nullopt;
        value /= 10;
    }
    if (value > kMost) return INT64_MAX;
    if (!quantity.is_exact) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

const Unit* unit_of(const Quantity& quantity, std::span<const Unit> units) {
    for (const Unit& unit : units)
        if (quantity.unit == unit.name) return &unit;
    return nullptr;
}

std::optional<Quantity> quantity_of(const Item& item) {
    const auto* text = std::get_if<std::string>(&item.value()->is);
    return text ? split(*text) : std::nullopt;
}

std::int64_t read(const Item& item, std::span<const Unit> units, const std::string& expected) {
    const std::optional<Quantity> quantity = quantity_of(item);
    if (!quantity) item.refuse("expected " + expected);
    const Unit* unit = unit_of(*quantity, units);
    if (unit == nullptr)
        item.refuse((quantity->unit.empty() ? std::string("a unit is missing")
                                            : "unknown unit \"" + quantity->unit + "\"") +
                    ", expected " + expected);
    const std::optional<std::int64_t> value = whole(*quantity, unit->scale);
    if (quantity->is_negative && value != 0)
        item.refuse("must not be negative, expected " + expected);
    if (!value)
        item.refuse(std::string("is not a whole number of ") + units[0].name + ", expected " +
                    expected);
    return *value;
}

// Returns the decimal number as a double, divided by a hundred if it is a percentage.
double real(const Quantity& quantity, bool is_percent) {
    const std::string text = std::to_string(quantity.number.digits) + "e" +
                             std::to_string(quantity.number.power - (is_percent ? 2 : 0));
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return quantity.is_negative ? -value : value;
}

// Writes a number as an exact decimal in the largest unit that does not exceed it.
std::string written(std::int64_t value, std::span<const Unit> units) {
    const Unit* unit = &units[0];
    for (const Unit& candidate : units)
        if (candidate.scale <= value) unit = &candidate;
    std::string text = std::to_string(value / unit->scale);
    if (const std::int64_t rest = value % unit->scale; rest != 0) {
        const std::string decimals = std::to_string(unit->scale + rest).substr(1);
        text += '.' + decimals.substr(0, decimals.find_last_not_of('0') + 1);
    }
    return text + unit->name;
}

}  // namespace

std::int64_t read(const Item& item, const Kind& kind) {
    const std::int64_t value = read(item, kind.units, kind.expected);
    if (value == INT64_MAX) item.refuse(std::string("is too large, expected ") + kind.expected);
    return value;
}

std::int64_t read(const Item& item, const Kind& kind, std::int64_t least, std::int64_t most) {
    const std::int64_t value = read(item, kind.units, kind.expected);
    if (value >= least && value <= most) return value;
    const std::string from =
        least == 1 ? "more than " + kind.written(0) : "at least " + kind.written(least);
    item.refuse("expected " + from + " and at most " + kind.written(most));
}

std::int64_t span_us(const Item& item, std::int64_t least, std::int64_t most) {
    const std::int64_t ps = time_ps(item, least * sim::kMicrosecond, most * sim::kMicrosecond);
    if (ps % sim::kMicrosecond != 0) item.refuse("expected a whole number of us");
    return ps / sim::kMicrosecond;
}

double fraction(const Item& item) {
    static const std::string expected =
        "expected a fraction from 0 to 1, such as 0.005 or \"0.5%\"";
    double value = item.number();
    if (const auto* text = std::get_if<std::string>(&item.value()->is)) {
        std::string_view number = *text;
        if (!number.ends_with('%')) item.refuse(expected);
        number.remove_suffix(1);
        while (!number.empty() && is_space(number.back())) number.remove_suffix(1);
        const std::optional<Quantity> quantity = split(number);
        if (!quantity || !quantity->unit.empty()) item.refuse(expected);
        value = real(*quantity, true);
    }
    if (!(value >= 0 && value <= 1)) item.refuse(expected);  // also NaN
    return value + 0.0;                                      // -0.0 becomes 0.0
}

Amount amount(const Item& item, bool finite, const char* expected) {
    const auto* text = std::get_if<std::string>(&item.value()->is);
    if (!finite && text != nullptr && *text == kUnlimited) return {};
    const std::int64_t count = read(item, kAmounts, expected);
    if (count < 1 || count > kMostAmount)
        item.refuse("expected at least one packet or byte and at most 2^30");
    return {count, text->back() == 'p'};
}

Amount amount(const Item& item, bool finite) {
    return amount(item, finite,
                  finite ? "packets or bytes such as \"100p\" or \"64KiB\""
                         : "packets or bytes such as \"100p\" or \"64KiB\", or \"unlimited\"");
}

Limit limit(const Item& item) {
    const std::optional<Quantity> quantity = quantity_of(item);
    if (quantity && quantity->unit == kProducts) {
        const double products = real(*quantity, false);
        if (!(products > 0 && products <= kMostProducts))
            item.refuse("expected up to 1000 bandwidth-delay products, such as \"0.5bdp\"");
        return {{}, quantity->number, {}};
    }
    if (quantity && unit_of(*quantity, kTimes)) return {{}, {}, time_ps(item, 1, sim::kHour)};
    return {amount(item, false, kLimitExpected), {}, {}};
}

Measure measure(const std::string& text) {
    const std::optional<Quantity> quantity = split(text);
    if (!quantity) return {"", 0};
    const auto in = [&](std::span<const Unit> units) { return unit_of(*quantity, units); };
    const auto base = [&](const Unit* unit) {
        return static_cast<double>(whole(*quantity, unit->scale).value_or(0));
    };
    if (const Unit* unit = in(kRates)) return {"rate", base(unit)};
    if (const Unit* unit = in(kTimes)) return {"time", base(unit)};
    if (const Unit* unit = in(kSizes)) return {"size", base(unit)};
    if (const Unit* unit = in(kAmounts)) return {"packets", base(unit)};
    if (quantity->unit == "%") return {"fraction", real(*quantity, true)};
    return {quantity->unit == kProducts ? "bdp" : "", real(*quantity, false)};
}

std::string written_rate(std::int64_t bps) { return written(bps, kRates); }

std::string written_time(std::int64_t ps) {
    return ps == 0 ? "0s" : written(ps, std::span(kTimes).first(5));  // up to seconds
}

std::string written_size(std::int64_t bytes) {
    for (const char* name : {"GiB", "MiB", "KiB"})
        for (const Unit& unit : kSizes)
            if (unit.name == std::string_view(name) && bytes != 0 && bytes % unit.scale == 0)
                return std::to_string(bytes / unit.scale) + name;
    return std::to_string(bytes) + "B";
}

}  // namespace ww::plan
