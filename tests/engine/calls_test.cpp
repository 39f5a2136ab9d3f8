// SPDX-License-Identifier: BSD-3-Clause
//
// tests/golden/calls/*.txt are the calls by which the simulator's sender asked a control of the core, and the windows
// after each, in the text of core/calls.h. A host with its own build of the core must get the same windows: the Rust
// crate in quic/westwood replays them, and so does `westwood control replay`. WW_UPDATE_GOLDEN=1 records them again.

#include "engine/learn/calls.hpp"

#include "golden.hpp"
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
    EXPECT_GE(result_of(network).flows[0].fast_recoveries, 1u);
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
    expect_golden(std::string("tests/golden/calls/") + name + ".txt", record(protocol));
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
                         [](const auto& tested) { return title_of(tested.param.first); });

}  // namespace
}  // namespace ww::sim::test
