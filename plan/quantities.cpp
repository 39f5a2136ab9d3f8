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

struct Unit {
    const char* name;
    std::int64_t scale;
};
using Units = std::vector<Unit>;

const Units kRates = {{"bps", 1},
                      {"kbps", 1'000},
                      {"Mbps", 1'000'000},
                      {"Gbps", 1'000'000'000},
                      {"Tbps", 1'000'000'000'000}};
const Units kTimes = {{"ps", 1},
                      {"ns", 1'000},
                      {"us", sim::kMicrosecond},
                      {"ms", 1'000 * sim::kMicrosecond},
                      {"s", sim::kSecond},
                      {"min", 60 * sim::kSecond},
                      {"h", sim::kHour}};
const Units kSizes = {{"B", 1},         {"kB", 1'000},         {"KiB", 1 << 10}, {"MB", 1'000'000},
                      {"MiB", 1 << 20}, {"GB", 1'000'000'000}, {"GiB", 1 << 30}};
constexpr Unit kSpellings[] = {{"b/s", 0}, {"bit/s", 0}, {"µs", 1}, {"μs", 1}};
constexpr const char* kStandard[] = {"bps", "us"};
constexpr auto kMostDigits = std::uint64_t{100'000'000'000'000'000};  // then follows the 18th
constexpr std::size_t kLongest = 40;                                  // characters of a quantity
constexpr std::int64_t kMostAmount = std::int64_t{1} << 30;           // packets or bytes
constexpr double kMostProducts = 1000;
const std::string kUnlimited = "unlimited";

bool is_digit(char one) { return one >= '0' && one <= '9'; }

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
    for (const Unit& one : kSpellings) {
        const std::string_view spelling = one.name;
        if (unit.size() < spelling.size() || !unit.ends_with(spelling)) continue;
        unit.replace(unit.size() - spelling.size(), spelling.size(), kStandard[one.scale]);
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

// Splits a number, an optional space and a unit; none if the text has another form.
std::optional<Quantity> split(std::string_view text) {
    if (text.size() > kLongest) return std::nullopt;
    Quantity made;
    std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    made.is_negative = at == 1 && text[0] == '-';
    const std::size_t begin = at;
    bool has_point = false;
    for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !has_point)); at++) {
        if (text[at] == '.')
            has_point = true;
        else
            made.add(text[at], has_point);
    }
    if (at == begin + (has_point ? 1 : 0)) return std::nullopt;
    if (const std::size_t length = exponent_length(text.substr(at)); length > 0) {
        const std::size_t sign = text[at + 1] == '+' ? 2 : 1;
        int exponent = 0;
        std::from_chars(text.data() + at + sign, text.data() + at + length, exponent);
        made.number.power += exponent;
        at += length;
    }
    if (at < text.size() && text[at] == ' ') at++;
    const std::string_view unit = text.substr(at);
    if (unit.find_first_of(" \t\n\r\f\v") != std::string_view::npos) return std::nullopt;
    made.unit = standard(std::string(unit));
    return made;
}

// Returns the quantity in base units if it is a whole number that fits.
std::optional<std::int64_t> whole(const Quantity& quantity, std::int64_t scale) {
    constexpr Wide kMost = INT64_MAX;
    Wide value = Wide{quantity.number.digits} * static_cast<Wide>(scale);
    for (int power = quantity.number.power; power > 0 && value > 0 && value <= kMost; power--)
        value *= 10;
    for (int power = quantity.number.power; power < 0 && value > 0; power++) {
        if (value % 10 != 0) return std::nullopt;
        value /= 10;
    }
    if (!quantity.is_exact || value > kMost) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

std::int64_t read(const Item& item, const Units& units, const std::string& expected) {
    const auto* text = std::get_if<std::string>(&item.value()->is);
    const std::optional<Quantity> quantity = text ? split(*text) : std::nullopt;
    if (!quantity) item.refuse("expected " + expected);
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [&](const Unit& one) { return quantity->unit == one.name; });
    if (unit == units.end())
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

}  // namespace

std::int64_t rate_bps(const Item& item, std::int64_t least, std::int64_t most) {
    return item.within(read(item, kRates, "a rate such as \"2Mbps\""), least, most);
}

std::int64_t time_ps(const Item& item, std::int64_t least, std::int64_t most) {
    return item.within(read(item, kTimes, "a time such as \"45ms\""), least, most);
}

std::int64_t span_us(const Item& item, std::int64_t least, std::int64_t most) {
    const std::int64_t ps = time_ps(item, least * sim::kMicrosecond, most * sim::kMicrosecond);
    if (ps % sim::kMicrosecond != 0) item.refuse("expected a whole number of us");
    return ps / sim::kMicrosecond;
}

std::int64_t size_bytes(const Item& item, std::int64_t least, std::int64_t most) {
    return item.within(read(item, kSizes, "a size such as \"64KiB\""), least, most);
}

double fraction(const Item& item) {
    static const std::string expected =
        "expected a fraction from 0 to 1, such as 0.005 or \"0.5%\"";
    const auto* text = std::get_if<std::string>(&item.value()->is);
    if (text == nullptr) return item.number(0, 1) + 0.0;  // -0.0 becomes 0.0
    if (text->empty() || text->back() != '%') item.refuse(expected);
    std::string_view number = std::string_view(*text).substr(0, text->size() - 1);
    while (!number.empty() && number.back() == ' ') number.remove_suffix(1);
    const std::optional<Quantity> quantity = split(number);
    if (!quantity || !quantity->unit.empty()) item.refuse(expected);
    const double value = real(*quantity, true);
    if (!(value >= 0 && value <= 1)) item.refuse(expected);
    return value + 0.0;
}

Amount amount(const Item& item, bool finite) {
    const auto* text = std::get_if<std::string>(&item.value()->is);
    if (!finite && text != nullptr && *text == kUnlimited) return {};
    Units units = {{"p", 1}};
    units.insert(units.end(), kSizes.begin(), kSizes.end());
    const std::int64_t count = read(item, units,
                                    std::string("packets or bytes such as \"100p\" or \"64KiB\"") +
                                        (finite ? "" : ", or \"unlimited\""));
    if (count < 1 || count > kMostAmount)
        item.refuse("expected at least one packet or byte and at most 2^30");
    return {count, text->back() == 'p'};
}

Limit limit(const Item& item) {
    const auto* text = std::get_if<std::string>(&item.value()->is);
    const std::optional<Quantity> quantity = text ? split(*text) : std::nullopt;
    if (!quantity) return {amount(item, false), {}, {}};
    if (quantity->unit == "bdp") {
        const double products = real(*quantity, false);
        if (!(products > 0 && products <= kMostProducts))
            item.refuse("expected up to 1000 bandwidth-delay products, such as \"0.5bdp\"");
        return {{}, quantity->number, {}};
    }
    const bool is_time = std::any_of(kTimes.begin(), kTimes.end(),
                                     [&](const Unit& one) { return quantity->unit == one.name; });
    if (!is_time) return {amount(item, false), {}, {}};
    return {{}, {}, time_ps(item, 1, sim::kHour)};
}

}  // namespace ww::plan
