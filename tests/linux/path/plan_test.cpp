// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/plan.hpp rejects plans that the engine or Linux cannot run, and knows the kernel's names.
#include "linux/path/plan.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace ww::path::test {
namespace {

const std::string kLink = "duration 1000000000000\nnodes 2\nlink 0 1\n";

Plan read(const std::string& text) {
    std::istringstream stream(text);
    return read_plan(stream);
}

std::string problem(const std::string& text) {
    try {
        read(text);
    } catch (const PlanError& error) {
        return error.what();
    }
    return "none";
}

TEST(PathPlan, KnowsTheKernelsNamesOfTheControls) {
    const Plan plan = read(kLink + "flow 0 1 sack\nflow 0 1 westwood+\nflow 0 1 westwood+-linux\n" +
                           "flow 0 1 udp\ndatagrams 1000000 -1 0 fixed fixed\nend\n");
    EXPECT_EQ(control_of(plan, 0), "reno");
    EXPECT_EQ(control_of(plan, 1), "ww_plus");
    EXPECT_EQ(control_of(plan, 2), "westwood");
    EXPECT_EQ(control_of(plan, 3), "");
}

TEST(PathPlan, OnlyNewRenosRecoveryGoesWithoutSack) {
    for (const auto& [recovery, expected] : {std::pair{"newreno", false},
                                             {"reno", true},
                                             {"sack", true},
                                             {"prr", true},
                                             {"rate-halving", true}}) {
        const Plan plan = read(kLink + "flow 0 1 westwood\nrecovery " + recovery + "\nend\n");
        EXPECT_EQ(has_sack(plan.network.flows[0]), expected) << recovery;
    }
}

TEST(PathPlan, RefusesWhatTheEngineRefuses) {
    EXPECT_EQ(problem(kLink + "flow 0 1 reno\nend\n"), "none");
    EXPECT_EQ(problem(kLink + "flow 0 1 reno\npacket_bytes 40\nend\n"),
              "flow 0: header must leave room in packet");
    EXPECT_EQ(problem(kLink + "flow 0 1 reno\nmin_rto 90000000000000\nend\n"),
              "flow 0: min_rto must not exceed max_rto");
    EXPECT_EQ(problem(kLink + "forward\nloss script 3 2\nend\n"),
              "link 0: scripted losses must be ascending packet numbers from 1");
}

TEST(PathPlan, RefusesWhatLinuxLacks) {
    EXPECT_EQ(problem(kLink + "flow 0 1 reno\nflow 0 1 tahoe\nend\n"),
              "flow 1: Linux has no such congestion control");
    std::string many = kLink;
    for (int i = 0; i < 65'537; i++) many += "flow 0 1 reno\n";
    EXPECT_EQ(problem(many + "end\n"), "more than 65536 flows");
}

}  // namespace
}  // namespace ww::path::test
