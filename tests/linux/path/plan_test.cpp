// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/plan.hpp turns a plan into the network that it describes, and names the line that is wrong.
#include "linux/path/plan.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace ww::path::test {
namespace {

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

const std::string kLink =
    "duration_ps 1000000000000\nnodes 2\nlink 0 1 18\n"
    "forward\nrate_bps 10000000\ndelay_ps 5\nqueue 100 -1\nloss uniform 0.25\n"
    "backward\nrate_bps 20000000\ndelay_ps 7\nqueue -1 64000\nloss none\n";
const std::string kFlow = "flow 0 1 cubic\nmss 1448\nheader_bytes 52\n";

TEST(PathPlan, SaysWhatTheNetworkIs) {
    const Plan plan =
        read(kLink + kFlow + "size_bytes 1000\nsack 0\nreceive_window 99999\n" +
             "flow 1 0 none\ndatagrams 1000000 -1 0 fixed\nmss 72\nheader_bytes 28\n" +
             "seed 18446744073709551615\nsample_us 500\nhold\nend\n");
    ASSERT_EQ(plan.network.links.size(), 1u);
    const sim::Link& link = plan.network.links[0];
    EXPECT_EQ(link.overhead_bytes, 18u);
    EXPECT_EQ(link.forward.rate_bps, 10'000'000);
    EXPECT_EQ(link.forward.queue_packets, 100);
    EXPECT_EQ(link.forward.queue_bytes, sim::kUnlimited);
    EXPECT_EQ(link.forward.loss.kind, sim::LossKind::uniform);
    EXPECT_EQ(link.forward.loss.rate, 0.25);
    EXPECT_EQ(link.backward.delay, 7);
    EXPECT_EQ(link.backward.queue_packets, sim::kUnlimited);
    EXPECT_EQ(link.backward.queue_bytes, 64'000);
    ASSERT_EQ(plan.network.flows.size(), 2u);
    EXPECT_EQ(plan.control, (std::vector<std::string>{"cubic", "none"}));
    EXPECT_EQ(plan.sack, (std::vector<char>{0, 1}));
    EXPECT_EQ(plan.network.flows[0].size_bytes, 1000);
    EXPECT_EQ(plan.network.flows[0].stop, sim::kNever);
    EXPECT_TRUE(plan.network.flows[1].datagrams.on);
    EXPECT_EQ(plan.network.flows[1].datagrams.on_mean, sim::kNever);
    EXPECT_EQ(plan.seed, UINT64_MAX);
    EXPECT_EQ(plan.sample, 500 * sim::kMicrosecond);
    EXPECT_TRUE(plan.hold);
}

TEST(PathPlan, HasEveryLossModelOfTheEngine) {
    const auto loss = [](const std::string& words) {
        return read(kLink + "forward\nloss " + words + "\n" + kFlow + "end\n")
            .network.links[0]
            .forward.loss;
    };
    EXPECT_EQ(loss("bits 1e-6").kind, sim::LossKind::bits);
    EXPECT_EQ(loss("script 3 5 8").packets, (std::vector<std::uint64_t>{3, 5, 8}));
    const sim::Loss states = loss("states 1000000000 2000000000 0 1 1");
    EXPECT_EQ(states.kind, sim::LossKind::states);
    EXPECT_EQ(states.state_mean[1], 2'000'000'000);
    EXPECT_EQ(states.state_rate[1], 1);
    EXPECT_TRUE(states.state_fixed);
}

TEST(PathPlan, RefusesByLineWhatItCannotRead) {
    EXPECT_EQ(problem(""), "no line `end`");
    EXPECT_EQ(problem("nodes 2\nhop 3\nend\n"), "line 2: hop: unknown statement hop");
    EXPECT_EQ(problem("nodes\nend\n"), "line 1: nodes: too few words");
    EXPECT_EQ(problem("nodes 2 3\nend\n"), "line 1: nodes: too many words");
    EXPECT_EQ(problem("nodes two\nend\n"), "line 1: nodes: expected a number, not two");
    EXPECT_EQ(problem("nodes 99999999999\nend\n"),
              "line 1: nodes: expected a number, not 99999999999");
    EXPECT_EQ(problem("forward\nend\n"), "line 1: forward: no link before it");
    EXPECT_EQ(problem("rate_bps 5\nend\n"), "line 1: rate_bps: no direction of a link before it");
    EXPECT_EQ(problem("mss 5\nend\n"), "line 1: mss: no flow before it");
    EXPECT_EQ(problem("sack 1\nend\n"), "line 1: sack: no flow before it");
    EXPECT_EQ(problem("sample_us 0\nend\n"), "line 1: sample_us: expected more than 0");
    EXPECT_EQ(problem(kLink + "loss fire\nend\n"), "line 14: loss: unknown loss fire");
    EXPECT_EQ(problem(kLink + kFlow + "ecn 2\nend\n"), "line 17: ecn: expected 0 or 1, not 2");
}

TEST(PathPlan, WhatTheEngineRefusesIsRefused) {
    EXPECT_NE(problem("nodes 2\nduration_ps 1\nlink 0 5 0\nend\n"), "none");
    EXPECT_NE(problem(kLink + "forward\nloss uniform nan\n" + kFlow + "end\n"), "none");
    EXPECT_NE(problem(kLink + "flow 0 0 reno\nend\n"), "none");
}

}  // namespace
}  // namespace ww::path::test
