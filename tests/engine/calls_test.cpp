// SPDX-License-Identifier: BSD-3-Clause
//
// tests/golden/calls/*.txt are the calls by which the simulator's sender asked a control of the core, and the windows
// after each. A host with its own build of the core must get the same windows: the Rust crate in quic/westwood replays
// them. WW_UPDATE_GOLDEN=1 records them again.
//
//   CALL ARGUMENT...|CWND SSTHRESH PACING       the arguments of ack, sent and lost in the order of contract.h
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/westwood.h"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// The control that is called, and what was called. The table of functions has room for one.
struct Recorded {
    ww_config config;
    ww_state state;
    std::ostringstream text;
    ww_window last = {0, 0, 0};  // after the last call

    // The host leaves the windows alone between two calls, so the calls are all that decides them.
    void begin(const char* call, const ww_window& window) {
        if (last.cwnd > 0) {
            EXPECT_EQ(window.cwnd, last.cwnd);
            EXPECT_EQ(window.ssthresh, last.ssthresh);
        }
        text << call;
    }
    void end(const ww_window& window) {
        last = window;
        text << "|" << window.cwnd << " " << window.ssthresh << " " << window.pacing << "\n";
    }
};
Recorded* recorded;

#define WW_SAY(name, ...) recorded->text << " " << +from->name;

void on_init(const ww_config*, void*) { ww_init(&recorded->config, &recorded->state); }

void on_ack(const ww_config*, void*, ww_window* window, const ww_sample* from) {
    recorded->begin("ack", *window);
    WW_SAMPLE_RANGES(WW_SAY)
    ww_on_ack(&recorded->config, &recorded->state, window, from);
    recorded->end(*window);
}

void on_packet_sent(const ww_config*, void*, ww_window* window, const ww_sent* from) {
    recorded->begin("sent", *window);
    WW_SENT_RANGES(WW_SAY)
    ww_on_packet_sent(&recorded->config, &recorded->state, window, from);
    recorded->end(*window);
}

void on_packet_lost(const ww_config*, void*, ww_window* window, const ww_lost* from) {
    recorded->begin("lost", *window);
    WW_LOST_RANGES(WW_SAY)
    ww_on_packet_lost(&recorded->config, &recorded->state, window, from);
    recorded->end(*window);
}

void on_loss(const ww_config*, void*, ww_window* window, std::uint64_t now_us,
             std::uint32_t in_flight, std::uint32_t mss) {
    recorded->begin("loss", *window);
    recorded->text << " " << now_us << " " << in_flight << " " << mss;
    ww_on_loss(&recorded->config, &recorded->state, window, now_us, in_flight, mss);
    recorded->end(*window);
}

void on_recovery_exit(const ww_config*, void*, ww_window* window, std::uint64_t now_us,
                      std::uint32_t mss) {
    recorded->begin("exit", *window);
    recorded->text << " " << now_us << " " << mss;
    ww_on_recovery_exit(&recorded->config, &recorded->state, window, now_us, mss);
    recorded->end(*window);
}

void on_rto(const ww_config*, void*, ww_window* window, std::uint64_t now_us,
            std::uint32_t in_flight, std::uint32_t mss, bool repeated) {
    recorded->begin("rto", *window);
    recorded->text << " " << now_us << " " << in_flight << " " << mss << " " << repeated;
    ww_on_rto(&recorded->config, &recorded->state, window, now_us, in_flight, mss, repeated);
    recorded->end(*window);
}

std::uint32_t ssthresh(const ww_config*, const void*, std::uint64_t now_us, std::uint32_t in_flight,
                       std::uint32_t mss) {
    return ww_ssthresh(&recorded->config, &recorded->state, now_us, in_flight, mss);
}

std::string record(ww_protocol protocol) {
    Recorded calls{ww_configure(protocol), {}, {}};
    calls.config.batched_acks = true;
    recorded = &calls;
    ww_control_ops ops = {};
    ops.version = WW_CONTROL_VERSION;
    ops.state_bytes = sizeof(ww_common);
    ops.traits = ww_traits(&calls.config);
    ops.init = on_init;
    ops.on_ack = on_ack;
    ops.on_loss = on_loss;
    ops.on_recovery_exit = on_recovery_exit;
    ops.on_rto = on_rto;
    ops.on_packet_sent = on_packet_sent;
    ops.on_packet_lost = on_packet_lost;
    ops.ssthresh = ssthresh;

    Network network = one_link(4'000'000, 20 * kMs, 2 * kSecond);
    Flow flow = tcp(protocol);
    flow.cc = calls.config;
    flow.cc.algorithm = WW_ALG_LOADED;
    flow.cc.control = &ops;
    flow.initial_cwnd = 10;
    flow.size_bytes = 150 * flow.mss();
    network.flows = {flow};
    network.links[0].forward.loss = LossList{{40, 60, 61, 149}};
    const Result result = simulate(network, 1);
    EXPECT_EQ(result.error, "");
    EXPECT_GE(result.flows[0].fast_recoveries, 1u);
    return calls.text.str();
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
