// SPDX-License-Identifier: BSD-3-Clause
//
// plan/quantities: numbers with units, as a scenario writes them.
#include "plan/quantities.hpp"

#include <gtest/gtest.h>

#include <string>

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

TEST(Units, OfRatesAreThousandfold) {
    EXPECT_EQ(bps("3bps"), "3");
    EXPECT_EQ(bps("3kbps"), "3000");
    EXPECT_EQ(bps("3Mbps"), "3000000");
    EXPECT_EQ(bps("3Gbps"), "3000000000");
    EXPECT_EQ(bps("3Tbps"), "3000000000000");
    EXPECT_EQ(bps("3 Mbit/s"), "3000000");
    EXPECT_EQ(bps("3b/s"), "3");
}

TEST(Units, OfTimesArePicosecondsToHours) {
    EXPECT_EQ(ps("3ps"), "3");
    EXPECT_EQ(ps("3ns"), "3000");
    EXPECT_EQ(ps("3us"), "3000000");
    EXPECT_EQ(ps("3µs"), "3000000");
    EXPECT_EQ(ps("3ms"), "3000000000");
    EXPECT_EQ(ps("3s"), "3000000000000");
    EXPECT_EQ(ps("3min"), "180000000000000");
    EXPECT_EQ(ps("3h"), "10800000000000000");
}

TEST(Units, OfSizesAreDecimalOrBinary) {
    EXPECT_EQ(bytes("3B"), "3");
    EXPECT_EQ(bytes("3kB"), "3000");
    EXPECT_EQ(bytes("3KiB"), "3072");
    EXPECT_EQ(bytes("3MB"), "3000000");
    EXPECT_EQ(bytes("3MiB"), "3145728");
    EXPECT_EQ(bytes("3GB"), "3000000000");
    EXPECT_EQ(bytes("3GiB"), "3221225472");
}

TEST(Numbers, HaveASignAPointAndAnExponent) {
    EXPECT_EQ(bps("+1.5kbps"), "1500");
    EXPECT_EQ(bps(".5kbps"), "500");
    EXPECT_EQ(bps("5.kbps"), "5000");
    EXPECT_EQ(bps("1.5e3bps"), "1500");
    EXPECT_EQ(bps("1.5E+3bps"), "1500");
    EXPECT_EQ(bps("1500e-2bps"), "15");
    EXPECT_EQ(bps("2e12 bps"), "2000000000000");
    EXPECT_EQ(bps("-0bps"), "0");
    for (const char* wrong : {"", "-", ".", "bps", "e3bps", "--1bps", "1bps\n", "1  bps"})
        EXPECT_EQ(bps(wrong).find("x = \""), 0u) << wrong;
    for (const char* wrong : {"", "-", "+.", ".", "Mbps", "e3bps"})
        EXPECT_NE(bps(wrong).find("\": expected a rate such as \"2Mbps\""), std::string::npos)
            << wrong;
    EXPECT_EQ(bps("1ebps"),
              "x = \"1ebps\": unknown unit \"ebps\", expected a rate such as \"2Mbps\"");
    EXPECT_EQ(bps("1e123bps"),
              "x = \"1e123bps\": unknown unit \"3bps\", expected a rate such as \"2Mbps\"");
    EXPECT_EQ(bps("1.2.3bps"),
              "x = \"1.2.3bps\": unknown unit \".3bps\", expected a rate such as \"2Mbps\"");
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
    EXPECT_EQ(bps("9223372036854775806bps"), "9223372036854775806");
    EXPECT_EQ(bps("1000000000000000000000e-6bps"), "1000000000000000");
    EXPECT_EQ(bps("0.0000000000000000000000001e28bps"), "1000");
    EXPECT_EQ(bps("1000.0000000000000000000000000bps"), "1000");
    EXPECT_EQ(bps("1234567890123456789.50e1bps"),
              "x = \"1234567890123456789.50e1bps\": is too "
              "large, expected a rate such as \"2Mbps\"");
    for (const char* broken :
         {"0.5bps", "1000.00000000000000000000000001bps", "1.2345kbps", "15e-1bps"})
        EXPECT_EQ(bps(broken), "x = \"" + std::string(broken) +
                                   "\": is not a whole number of bps, expected a rate such as "
                                   "\"2Mbps\"");
    EXPECT_EQ(bps("9223372036854775807bps"),
              "x = \"9223372036854775807bps\": is too large, expected a rate such as \"2Mbps\"");
    EXPECT_EQ(bps("-1bps"),
              "x = \"-1bps\": must not be negative, expected a rate such as \"2Mbps\"");
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
    EXPECT_EQ(within("2B"), "2");
    EXPECT_EQ(within("8B"), "8");
    EXPECT_EQ(within("1B"), "x = \"1B\": expected at least 2B and at most 8B");
    EXPECT_EQ(within("9B"), "x = \"9B\": expected at least 2B and at most 8B");
    const auto positive = [](const Item& item) { return read(item, kSize, 1, 8); };
    EXPECT_EQ(outcome(text("0B"), positive), "x = \"0B\": expected more than 0B and at most 8B");
}

TEST(Quantities, ASpanIsInWholeMicroseconds) {
    const auto span = [](const char* words) {
        return outcome(text(words), [](const Item& item) { return span_us(item, 2, 5000); });
    };
    EXPECT_EQ(span("2us"), "2");
    EXPECT_EQ(span("5ms"), "5000");
    EXPECT_EQ(span("1us"), "x = \"1us\": expected at least 2us and at most 5ms");
    EXPECT_EQ(span("2.000001us"), "x = \"2.000001us\": expected a whole number of us");
}

TEST(Fractions, AreNumbersOrPercentages) {
    const auto share = [](const Value& value) { return outcome(value, fraction); };
    EXPECT_EQ(share({0.25}), "0.250000");
    EXPECT_EQ(share({std::int64_t{1}}), "1.000000");
    EXPECT_EQ(share(text("25%")), "0.250000");
    EXPECT_EQ(share(text("12.5 %")), "0.125000");
    EXPECT_EQ(share(text("100%")), "1.000000");
    EXPECT_EQ(share({-0.0}), "0.000000");
    EXPECT_EQ(share(text("-0%")), "0.000000");
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

std::string amount_of(const char* words, bool finite = false) {
    const Table table = {{"x", text(words)}};
    try {
        return shown(amount(Section(table, "")["x"], finite));
    } catch (const Problem& wrong) {
        return wrong.problem;
    }
}

TEST(Amounts, ArePacketsOrBytesUpToAGigabyte) {
    EXPECT_EQ(amount_of("1p"), "1 packets");
    EXPECT_EQ(amount_of("64KiB"), "65536 bytes");
    EXPECT_EQ(amount_of("unlimited"), "unlimited");
    EXPECT_EQ(amount_of("1073741824p"), "1073741824 packets");
    EXPECT_EQ(amount_of("1GiB"), "1073741824 bytes");
    for (const char* wrong : {"0p", "0B", "1073741825p", "1073741825B"})
        EXPECT_EQ(amount_of(wrong), "expected at least one packet or byte and at most 2^30");
    EXPECT_EQ(amount_of("unlimited", true),
              "expected packets or bytes such as \"100p\" or \"64KiB\"");
    EXPECT_EQ(amount_of("5x"),
              "unknown unit \"x\", expected packets or bytes such as \"100p\" or \"64KiB\", or "
              "\"unlimited\"");
}

std::string limit_of(const char* words) {
    const Table table = {{"x", text(words)}};
    try {
        const Limit parsed = limit(Section(table, "")["x"]);
        if (parsed.products)
            return std::to_string(parsed.products->digits) + "e" +
                   std::to_string(parsed.products->power) + " bdp";
        return parsed.ps ? std::to_string(*parsed.ps) + " ps" : shown(parsed.amount);
    } catch (const Problem& wrong) {
        return wrong.problem;
    }
}

TEST(Limits, AreAmountsTimesOrProducts) {
    EXPECT_EQ(limit_of("100p"), "100 packets");
    EXPECT_EQ(limit_of("64KiB"), "65536 bytes");
    EXPECT_EQ(limit_of("unlimited"), "unlimited");
    EXPECT_EQ(limit_of("5ms"), "5000000000 ps");
    EXPECT_EQ(limit_of("1ps"), "1 ps");
    EXPECT_EQ(limit_of("1h"), "3600000000000000 ps");
    EXPECT_EQ(limit_of("0.25bdp"), "25e-2 bdp");
    EXPECT_EQ(limit_of("1000bdp"), "1000e0 bdp");
    EXPECT_EQ(limit_of("0ms"), "expected more than 0s and at most 3600s");
    EXPECT_EQ(limit_of("61min"), "expected more than 0s and at most 3600s");
    for (const char* wrong : {"0bdp", "-1bdp", "1000.1bdp"})
        EXPECT_EQ(limit_of(wrong),
                  "expected up to 1000 bandwidth-delay products, such as \"0.5bdp\"");
    EXPECT_EQ(limit_of("much"),
              "expected a queue limit such as \"100p\", \"64KiB\", \"5ms\" or \"1bdp\", or "
              "\"unlimited\"");
}

TEST(Measures, AreInTheBaseUnitOfTheirKind) {
    const auto number = [](const char* words) { return measure(words).number; };
    EXPECT_EQ(number("2ms"), 2e9);
    EXPECT_EQ(number("2kB"), 2000);
    EXPECT_EQ(number("2p"), 2);
    EXPECT_EQ(number("-2bdp"), -2);
    EXPECT_EQ(number("0.1bps"), 0) << "not a whole number";
    EXPECT_STREQ(measure("5 apples").kind, "");
}

TEST(Written, AreInTheLargestUnitThatDoesNotExceedThem) {
    EXPECT_EQ(written_rate(1), "1bps");
    EXPECT_EQ(written_rate(999), "999bps");
    EXPECT_EQ(written_rate(1'000), "1kbps");
    EXPECT_EQ(written_rate(1'050'000), "1.05Mbps");
    EXPECT_EQ(written_rate(3'000'000'000'000), "3Tbps");
    EXPECT_EQ(written_time(1), "1ps");
    EXPECT_EQ(written_time(3'600'000'000'000'000), "3600s") << "no minutes or hours";
    EXPECT_EQ(written_size(0), "0B");
    EXPECT_EQ(written_size(1), "1B");
    EXPECT_EQ(written_size(1 << 20), "1MiB");
    EXPECT_EQ(written_size(INT64_C(3) << 30), "3GiB");
    EXPECT_EQ(written_size((1 << 20) + 1024), "1025KiB");
}

}  // namespace
}  // namespace ww::plan::test
