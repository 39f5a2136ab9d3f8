// SPDX-License-Identifier: BSD-3-Clause
//
// plan/quantities: numbers with units, as a scenario writes them.
#include "plan/quantities.hpp"

#include "tables.hpp"

namespace ww::plan::test {
namespace {

// Returns what a function makes of a value at the key `x`, or the problem that it finds.
template <class Read>
std::string outcome(const Value& value, Read reading) {
    const Table table = {{"x", value}};
    try {
        return std::to_string(reading(Section(table, "")["x"]));
    } catch (const Problem& wrong) {
        return wrong.what();
    }
}

std::string bps(const char* words) {
    return outcome(text(words), [](const Item& item) { return read(item, kRate); });
}

std::string ps(const char* words) {
    return outcome(text(words), [](const Item& item) { return read(item, kTime); });
}

std::string bytes(const char* words) {
    return outcome(text(words), [](const Item& item) { return read(item, kSize); });
}

// Rows of what is written, and what `read` makes of it.
using Rows = std::vector<std::pair<const char*, const char*>>;

template <class Read>
void expect_rows(Read reading, const Rows& rows) {
    for (const auto& [words, expected] : rows) EXPECT_EQ(reading(words), expected) << words;
}

// Each unit is so many times the one before it.
template <class Read>
void expect_steps(Read reading, std::int64_t step, const std::vector<std::string>& units) {
    std::int64_t times = 3;
    for (const std::string& unit : units) {
        EXPECT_EQ(reading(("3" + unit).c_str()), std::to_string(times)) << unit;
        times *= step;
    }
}

TEST(Units, AreThousandfoldOrBinary) {
    expect_steps(bps, 1000, {"bps", "kbps", "Mbps", "Gbps", "Tbps"});
    expect_steps(bps, 1'000'000, {"b/s", " Mbit/s"});
    expect_steps(ps, 1000, {"ps", "ns", "us", "ms", "s"});
    expect_steps(ps, 1'000'000, {"ps", "µs"});
    expect_rows(ps, {{"3min", "180000000000000"}, {"3h", "10800000000000000"}});
    expect_steps(bytes, 1000, {"B", "kB", "MB", "GB"});
    expect_steps(bytes, 1024, {"B", "KiB", "MiB", "GiB"});
}

TEST(Numbers, HaveASignAPointAndAnExponent) {
    expect_rows(bps, {{"+1.5kbps", "1500"},
                      {".5kbps", "500"},
                      {"5.kbps", "5000"},
                      {"1.5e3bps", "1500"},
                      {"1.5E+3bps", "1500"},
                      {"1500e-2bps", "15"},
                      {"2e12 bps", "2000000000000"},
                      {"-0bps", "0"}});
    for (const char* wrong : {"", "-", ".", "bps", "e3bps", "--1bps", "1bps\n", "1  bps"})
        EXPECT_EQ(bps(wrong).find("x = \""), 0u) << wrong;
    for (const char* wrong : {"", "-", "+.", ".", "Mbps", "e3bps"})
        EXPECT_NE(bps(wrong).find("\": expected a rate such as \"2Mbps\""), std::string::npos)
            << wrong;
    for (const auto& [wrong, unit] :
         {std::pair("1ebps", "ebps"), {"1e123bps", "3bps"}, {"1.2.3bps", ".3bps"}})
        EXPECT_EQ(bps(wrong), "x = \"" + std::string(wrong) + "\": unknown unit \"" + unit +
                                  "\", expected a rate such as \"2Mbps\"");
}

TEST(Numbers, HaveNoControlCharacters) {
    for (const char control : {'\0', '\t', '\x7f'}) {
        const std::string words = std::string("1b") + control + "ps";
        const std::string problem =
            outcome({words}, [](const Item& item) { return read(item, kRate); });
        EXPECT_NE(problem.find("\": expected a rate"), std::string::npos) << int{control};
    }
}

TEST(Numbers, AreExactWhateverTheirDigits) {
    expect_rows(bps, {{"9223372036854775806bps", "9223372036854775806"},
                      {"1000000000000000000000e-6bps", "1000000000000000"},
                      {"0.0000000000000000000000001e28bps", "1000"},
                      {"1000.0000000000000000000000000bps", "1000"}});
    const char* const broken = "is not a whole number of bps";
    for (const auto& [wrong, why] : {std::pair("1234567890123456789.50e1bps", "is too large"),
                                     {"9223372036854775807bps", "is too large"},
                                     {"-1bps", "must not be negative"},
                                     {"0.5bps", broken},
                                     {"1000.00000000000000000000000001bps", broken},
                                     {"1.2345kbps", broken},
                                     {"15e-1bps", broken}})
        EXPECT_EQ(bps(wrong), "x = \"" + std::string(wrong) + "\": " + why +
                                  ", expected a rate such as \"2Mbps\"");
}

TEST(Numbers, HaveAtMostFortyCharacters) {
    const std::string zeros(37, '0');
    EXPECT_EQ(bps((zeros + "7bps").c_str()).find("x = "), 0u) << "41";
    EXPECT_EQ(bps((zeros.substr(1) + "7bps").c_str()), "7") << "40";
    EXPECT_EQ(ps((zeros.substr(1) + "7 µs").c_str()), "7000000") << "40, one of them of two bytes";
}

TEST(Quantities, HaveInclusiveBounds) {
    const auto within = [](const char* words) {
        return outcome(text(words), [](const Item& item) { return read(item, kSize, 2, 8); });
    };
    expect_rows(within, {{"2B", "2"},
                         {"8B", "8"},
                         {"1B", "x = \"1B\": expected at least 2B and at most 8B"},
                         {"9B", "x = \"9B\": expected at least 2B and at most 8B"}});
    const auto positive = [](const Item& item) { return read(item, kSize, 1, 8); };
    EXPECT_EQ(outcome(text("0B"), positive), "x = \"0B\": expected more than 0B and at most 8B");
}

TEST(Quantities, ASpanIsInWholeMicroseconds) {
    const auto span = [](const char* words) {
        return outcome(text(words), [](const Item& item) { return span_us(item, 2, 5000); });
    };
    expect_rows(span, {{"2us", "2"},
                       {"5ms", "5000"},
                       {"1us", "x = \"1us\": expected at least 2us and at most 5ms"},
                       {"2.000001us", "x = \"2.000001us\": expected a whole number of us"}});
}

TEST(Fractions, AreNumbersOrPercentages) {
    const auto share = [](const Value& value) { return outcome(value, fraction); };
    EXPECT_EQ(share({0.25}), "0.250000");
    EXPECT_EQ(share({std::int64_t{1}}), "1.000000");
    EXPECT_EQ(share({-0.0}), "0.000000");
    expect_rows(
        [&](const char* words) { return share(text(words)); },
        {{"25%", "0.250000"}, {"12.5 %", "0.125000"}, {"100%", "1.000000"}, {"-0%", "0.000000"}});
    const std::string wanted = "expected a fraction from 0 to 1, such as 0.005 or \"0.5%\"";
    EXPECT_EQ(share({1.5}), "x = 1.5: " + wanted);
    EXPECT_EQ(share({-0.5}), "x = -0.5: " + wanted);
    EXPECT_EQ(share({true}), "x = true: " + wanted);
    for (const char* wrong : {"101%", "-1%", "5", "%", " %", "5ms%", ""})
        EXPECT_EQ(share(text(wrong)), "x = \"" + std::string(wrong) + "\": " + wanted);
}

std::string shown(const Amount& amount) {
    if (!amount.count) return "unlimited";
    return std::to_string(*amount.count) + (amount.in_packets ? " packets" : " bytes");
}

// Returns what `reading` makes of a word, or the problem without its key.
template <class Read>
std::string shown_or_problem(const char* words, Read reading) {
    const Table table = {{"x", text(words)}};
    try {
        return reading(Section(table, "")["x"]);
    } catch (const Problem& wrong) {
        return wrong.problem;
    }
}

std::string amount_of(const char* words) {
    return shown_or_problem(words, [](const Item& item) { return shown(amount(item, false)); });
}

TEST(Amounts, ArePacketsOrBytesUpToAGigabyte) {
    expect_rows(amount_of, {{"1p", "1 packets"},
                            {"64KiB", "65536 bytes"},
                            {"unlimited", "unlimited"},
                            {"1073741824p", "1073741824 packets"},
                            {"1GiB", "1073741824 bytes"}});
    for (const char* wrong : {"0p", "0B", "1073741825p", "1073741825B"})
        EXPECT_EQ(amount_of(wrong), "expected at least one packet or byte and at most 2^30");
    const auto finite = [](const Item& item) { return shown(amount(item, true)); };
    EXPECT_EQ(shown_or_problem("unlimited", finite),
              "expected packets or bytes such as \"100p\" or \"64KiB\"");
    EXPECT_EQ(amount_of("5x"),
              "unknown unit \"x\", expected packets or bytes such as \"100p\" or \"64KiB\", or "
              "\"unlimited\"");
}

std::string limit_of(const char* words) {
    return shown_or_problem(words, [](const Item& item) {
        const Limit parsed = limit(item);
        if (parsed.products)
            return std::to_string(parsed.products->digits) + "e" +
                   std::to_string(parsed.products->power) + " bdp";
        return parsed.ps ? std::to_string(*parsed.ps) + " ps" : shown(parsed.amount);
    });
}

TEST(Limits, AreAmountsTimesOrProducts) {
    expect_rows(limit_of, {{"100p", "100 packets"},
                           {"64KiB", "65536 bytes"},
                           {"unlimited", "unlimited"},
                           {"5ms", "5000000000 ps"},
                           {"1ps", "1 ps"},
                           {"1h", "3600000000000000 ps"},
                           {"0.25bdp", "25e-2 bdp"},
                           {"1000bdp", "1000e0 bdp"},
                           {"0ms", "expected more than 0s and at most 3600s"},
                           {"61min", "expected more than 0s and at most 3600s"}});
    for (const char* wrong : {"0bdp", "-1bdp", "1000.1bdp"})
        EXPECT_EQ(limit_of(wrong),
                  "expected up to 1000 bandwidth-delay products, such as \"0.5bdp\"");
    EXPECT_EQ(limit_of("much"),
              "expected a queue limit such as \"100p\", \"64KiB\", \"5ms\" or \"1bdp\", or "
              "\"unlimited\"");
}

TEST(Measures, HaveTheKindOfTheirUnitAndAreInItsBaseUnit) {
    for (const auto& [words, kind, number] : {std::tuple("8 Mbit/s", "rate", 8e6),
                                              {"2ms", "time", 2e9},
                                              {"2h", "time", 7.2e15},
                                              {"2kB", "size", 2000},
                                              {"2p", "packets", 2},
                                              {"-2bdp", "bdp", -2},
                                              {"0.5bdp", "bdp", 0.5},
                                              {"12.5%", "fraction", 0.125}}) {
        EXPECT_STREQ(measure(words).kind, kind);
        EXPECT_EQ(measure(words).number, number) << words;
    }
    EXPECT_EQ(measure("0.1bps").number, 0) << "not a whole number";
    EXPECT_STREQ(measure("5 apples").kind, "");
    EXPECT_STREQ(measure("unlimited").kind, "");
}

TEST(Written, AreInTheLargestUnitThatDoesNotExceedThem) {
    using Numbers = std::vector<std::pair<std::int64_t, const char*>>;
    for (const auto& [bps, words] : Numbers{{0, "0bps"},
                                            {1, "1bps"},
                                            {999, "999bps"},
                                            {1'000, "1kbps"},
                                            {1'050'000, "1.05Mbps"},
                                            {3'000'000'000'000, "3Tbps"}})
        EXPECT_EQ(written_rate(bps), words);
    for (const auto& [ps, words] : Numbers{{0, "0s"},
                                           {1, "1ps"},
                                           {45'000'000'000, "45ms"},
                                           {3'600'000'000'000'001, "3600.000000000001s"}})
        EXPECT_EQ(written_time(ps), words) << "no minutes or hours";
    for (const auto& [bytes, words] : Numbers{{0, "0B"},
                                              {1, "1B"},
                                              {1'000, "1000B"},
                                              {65'536, "64KiB"},
                                              {1 << 20, "1MiB"},
                                              {INT64_C(3) << 30, "3GiB"},
                                              {(1 << 20) + 1024, "1025KiB"}})
        EXPECT_EQ(written_size(bytes), words);
}

}  // namespace
}  // namespace ww::plan::test
