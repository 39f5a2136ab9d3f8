// SPDX-License-Identifier: BSD-3-Clause
//
// Statistics against tables and against sums that no double holds.
#include "metrics/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace ww::metrics::test {
namespace {

TEST(Statistics, StudentsQuantilesAreThoseOfTheTables) {
    struct Row {
        std::size_t dof;
        double at_50, at_95, at_99;  // per cent; from SciPy's scipy.stats.t.ppf
    };
    const Row kRows[] = {
        {1, 1.0, 12.706204736174694, 63.656741162871526},
        {2, 0.8164965809277261, 4.302652729749462, 9.924843200918287},
        {3, 0.7648923284043444, 3.1824463052837078, 5.840909309733355},
        {10, 0.6998120613124317, 2.228138851986274, 3.16927267261695},
        {29, 0.6830438608216131, 2.045229642132703, 2.756385903670605},
        {1000, 0.6747351646070093, 1.9623390808264083, 2.580754698065951},
        {1001, 0.6747349193584472, 1.9623367052808798, 2.5807497687505245},
        {5000, 0.6745388203608743, 1.9604385517065073, 2.5768129665562802},
    };
    for (const Row& row : kRows) {
        EXPECT_NEAR(t_quantile(row.dof, 0.5), row.at_50, 1e-10) << row.dof;
        EXPECT_NEAR(t_quantile(row.dof, 0.95), row.at_95, 1e-10) << row.dof;
        EXPECT_NEAR(t_quantile(row.dof, 0.99), row.at_99, 1e-10) << row.dof;
        EXPECT_NEAR(t_probability(row.at_95, row.dof), 0.95, 1e-10) << row.dof;
    }
}

TEST(Statistics, AMeansIntervalIsStudents) {
    EXPECT_NEAR(half_width(3, 4), 3.1824463052837078 * 3 / 2, 1e-10);
    EXPECT_NEAR(half_width(1, 11, 0.99), 3.16927267261695 / std::sqrt(11.0), 1e-10);
    EXPECT_NEAR(half_width(1, 2), 12.706204736174694 / std::sqrt(2.0), 1e-9);
    EXPECT_TRUE(std::isnan(half_width(1, 1)));
}

TEST(Statistics, ASumIsExactAndRoundedOnceHalfToEven) {
    const double kUlp = 0x1p-52, kHalf = 0x1p-53, kLittle = 0x1p-110;
    const std::pair<std::vector<double>, double> kSums[] = {
        {{}, 0},
        {{1e100, 1, -1e100}, 1},
        {{1, 1e100, 1, -1e100}, 2},
        {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 1},
        {{1, kHalf}, 1},
        {{1, kHalf, kLittle}, 1 + kUlp},
        {{1, kHalf, -kLittle}, 1},
        {{1 + kUlp, kHalf}, 1 + 2 * kUlp},
        {{1 + kUlp, kHalf, -kLittle}, 1 + kUlp},
        {{1 + kUlp, -kHalf, -kLittle}, 1},
        {{-1, -kHalf, -kLittle}, -1 - kUlp},
        {{-1, -kHalf, kLittle}, -1},
        {{1, kHalf / 2, kLittle}, 1},
    };
    for (const auto& [values, sum] : kSums) EXPECT_EQ(exact_sum(values), sum) << values.size();
}

TEST(Statistics, SpreadAndComparisonLeaveOutWhatIsUnknown) {
    const double kNone = std::nan("");
    const Spread four = spread({1, kNone, 2, 3, 4});
    EXPECT_EQ(four.mean, 2.5);
    EXPECT_DOUBLE_EQ(four.deviation, std::sqrt(5.0 / 3));
    EXPECT_EQ(four.runs, 4u);
    EXPECT_EQ(spread({1, kNone, 3}).deviation, std::sqrt(2.0));
    EXPECT_TRUE(std::isnan(spread({7}).deviation));
    EXPECT_TRUE(std::isnan(spread({kNone}).mean));
    const Comparison compared = compare({{2, 1}, {6, 3}, {kNone, 9}, {9, kNone}, {7, 2}});
    EXPECT_EQ(compared.second, 2);
    EXPECT_EQ(compared.ratio, 2.5);
    EXPECT_EQ(compared.difference.mean, 3);
    EXPECT_DOUBLE_EQ(compared.difference.deviation, 2);
    EXPECT_DOUBLE_EQ(compared.residual, std::sqrt((0.5 * 0.5 + 1.5 * 1.5 + 2 * 2) / 2));
    EXPECT_TRUE(std::isnan(compare({{1, 0}, {2, 0}}).ratio));
    EXPECT_EQ(compare({}).difference.runs, 0u);
    const Comparison twice = compare({{2, 1}, {10, 5}, {4, 2}});
    EXPECT_EQ(twice.ratio, 2);
    EXPECT_EQ(twice.residual, 0) << "each first is twice its second";
}

TEST(Statistics, JainsIndexAndPercentilesInterpolate) {
    EXPECT_EQ(jain({5, 5, 5}), 1);
    EXPECT_EQ(jain({1, 0, 0, 0}), 0.25);
    EXPECT_TRUE(std::isnan(jain({0, 0})));
    EXPECT_EQ(percentile({4, 1, 3, 2}, 0.25), 1.75);
    EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
    EXPECT_EQ(percentile({4, 1, 3, 2}, 1), 4);
    EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

}  // namespace
}  // namespace ww::metrics::test
