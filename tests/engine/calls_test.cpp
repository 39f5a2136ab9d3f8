// SPDX-License-Identifier: BSD-3-Clause
//
// tests/golden/calls/*.txt are the calls by which the simulator's sender asked a control of the core, and the windows
// after each, in the text of core/calls.h. A host with its own build of the core must get the same windows: the Rust
// crate in quic/westwood replays them, and so does `westwood control replay`. WW_UPDATE_GOLDEN=1 records them again.

#include "engine/learn/calls.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

std::string record(ww_protocol protocol) {
    ww_config control = ww_configure(protocol);
    control.batched_acks = true;
    const CallRecorder recorder(control);
    Network network = one_link(4'000'000, 20 * kMs, 2 * kSecond);
    Flow flow = tcp(protocol);
    flow.cc = recorder.config();
    flow.initial_cwnd = 10;
    flow.size_bytes = 150 * flow.mss();
    network.flows = {flow};
    network.links[0].forward.loss = LossList{{40, 60, 61, 149}};
    const Result result = simulate(network, 1);
    EXPECT_EQ(result.error, "");
    EXPECT_GE(result.flows[0].fast_recoveries, 1u);
    return recorder.text();
}

// Returns the windows after each call of a recording, a line each.
std::string windows_of(const std::string& recording) {
    std::istringstream lines(recording);
    std::string windows;
    for (std::string line; std::getline(lines, line);)
        windows += line.substr(line.find('|') + 1) + "\n";
    return windows;
}

class Calls : public testing::TestWithParam<std::pair<const char*, ww_protocol>> {};

TEST_P(Calls, TheSimulatorsCallsAreThoseThatOtherBuildsReplay) {
    const auto& [name, protocol] = GetParam();
    const std::string path = std::string("tests/golden/calls/") + name + ".txt";
    if (const char* update = std::getenv("WW_UPDATE_GOLDEN"); update != nullptr && *update == '1') {
        std::ofstream(path) << record(protocol);
        return;
    }
    std::ifstream file(path);
    ASSERT_TRUE(file) << path << " is missing: make golden";
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(record(protocol), expected.str())
        << "if this is meant: make golden, and review the difference";
}

TEST_P(Calls, TheSameCallsGiveTheSameWindows) {
    ww_config config = ww_configure(GetParam().second);
    config.batched_acks = true;
    const std::string recording = record(GetParam().second);
    EXPECT_EQ(repeat_calls(config, recording), windows_of(recording));
}

INSTANTIATE_TEST_SUITE_P(, Calls,
                         testing::Values(std::pair{"westwood+", WW_PROTOCOL_WESTWOOD_PLUS},
                                         std::pair{"westwood-cubic", WW_PROTOCOL_WESTWOOD_CUBIC},
                                         std::pair{"cubic", WW_PROTOCOL_CUBIC},
                                         std::pair{"bbr3", WW_PROTOCOL_BBR3}),
                         [](const auto& tested) {
                             std::string name = tested.param.first;
                             for (char& letter : name)
                                 if (letter == '+' || letter == '-') letter = '_';
                             return name;
                         });

}  // namespace
}  // namespace ww::sim::test
