// SPDX-License-Identifier: BSD-3-Clause
//
// What simulate() refuses, and with which words. It returns the error; it never throws.
#include "engine/validate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace ww::sim::test {
namespace {

Network sound() {
    Network network;
    network.nodes = 3;
    network.duration = kSecond;
    Direction d;
    d.rate_bps = 1'000'000;
    network.links = {{0, 1, 0, d, d}, {1, 2, 0, d, d}};
    Flow flow;
    flow.to = 2;
    network.flows = {flow, flow};
    return network;
}

using Change = std::function<void(Network&)>;

std::string error_of(const Change& change) {
    Network network = sound();
    change(network);
    Result result;
    EXPECT_NO_THROW(result = simulate(network, 1));
    EXPECT_TRUE(result.error.empty() || result.flows.empty()) << "nothing was simulated";
    return result.error;
}

TEST(Validate, TakesWhatIsSound) {
    EXPECT_EQ(validate(sound()), "");
    EXPECT_EQ(error_of([](Network&) {}), "");
    EXPECT_EQ(error_of([](Network& n) { n.flows.clear(); }), "");
    EXPECT_EQ(error_of([](Network& n) { n.flows.clear(), n.links.clear(), n.nodes = 0; }), "");
}

void expect_all(const std::string& message, const std::vector<Change>& changes) {
    for (std::size_t i = 0; i < changes.size(); i++)
        EXPECT_EQ(error_of(changes[i]), message) << "change " << i;
}

constexpr Time kTooLong = INT64_MAX / 4 + 1;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Validate, Run) {
    expect_all("duration must be positive",
               {[](Network& n) { n.duration = 0; }, [](Network& n) { n.duration = -1; },
                [](Network& n) { n.duration = kTooLong; }});
    expect_all("more than 1048576 nodes", {[](Network& n) { n.nodes = UINT32_MAX; },
                                           [](Network& n) { n.nodes = (1u << 20) + 1; }});
    expect_all("trace interval must not be negative",
               {[](Network& n) { n.trace.interval = -1; },
                [](Network& n) { n.trace.interval = INT64_MAX; }});
}

TEST(Validate, Links) {
    expect_all("link 1: unknown node",
               {[](Network& n) { n.links[1].a = 3; }, [](Network& n) { n.links[1].b = 7; }});
    expect_all("link 1: its ends must differ", {[](Network& n) { n.links[1].a = 2; }});
    expect_all("link 0: overhead too large",
               {[](Network& n) { n.links[0].overhead_bytes = 65536; }});
}

TEST(Validate, BothDirectionsOfALink) {
    const auto each = [](const std::string& message,
                         const std::function<void(Direction&)>& change) {
        EXPECT_EQ(error_of([&](Network& n) { change(n.links[0].forward); }), "link 0: " + message);
        EXPECT_EQ(error_of([&](Network& n) { change(n.links[1].backward); }), "link 1: " + message);
    };
    for (const std::int64_t rate : {INT64_C(0), INT64_C(-5), INT64_C(1'000'000'000'001), INT64_MAX})
        each("rate must be 1 bit/s to 1 Tbit/s", [=](Direction& d) { d.rate_bps = rate; });
    for (const Time delay : {Time{-1}, kTooLong})
        each("delay must not be negative or longer than 26 days",
             [=](Direction& d) { d.delay = delay; });
    each("queue limit must not be negative", [](Direction& d) { d.queue_packets = -1; });
    each("queue limit must not be negative", [](Direction& d) { d.queue_bytes = -1; });
    for (const double rate : {-0.1, 1.1, kNan, HUGE_VAL})
        each("loss rate must be 0 to 1", [=](Direction& d) { d.loss.rate = rate; });
    for (const auto& script : {std::vector<std::uint64_t>{0}, {2, 2}, {3, 1}})
        each("scripted losses must be ascending packet numbers from 1", [=](Direction& d) {
            d.loss = {LossKind::script, 0, script};
        });
}

void expect_direction(const std::string& message,
                      const std::vector<std::function<void(Direction&)>>& changes) {
    for (std::size_t i = 0; i < changes.size(); i++) {
        const std::string error = error_of([&](Network& n) { changes[i](n.links[1].forward); });
        EXPECT_EQ(error, "link 1: " + message) << "change " << i;
    }
}

Loss states() {
    Loss loss;
    loss.kind = LossKind::states;
    loss.state_mean[0] = loss.state_mean[1] = kSecond;
    return loss;
}

TEST(Validate, StatesOfALoss) {
    EXPECT_EQ(error_of([](Network& n) { n.links[1].forward.loss = states(); }), "");
    expect_direction("unknown kind of loss",
                     {[](Direction& d) { d.loss.kind = static_cast<LossKind>(5); }});
    expect_direction("loss rate must be 0 to 1", {[](Direction& d) {
                                                      d.loss = states();
                                                      d.loss.state_rate[1] = 1.5;
                                                  },
                                                  [](Direction& d) {
                                                      d.loss = states();
                                                      d.loss.state_rate[0] = kNan;
                                                  }});
    for (const Time mean : {Time{0}, Time{-1}, kMicrosecond - 1, kTooLong})
        expect_direction("a state must last 1 us to 26 days", {[=](Direction& d) {
                             d.loss = states();
                             d.loss.state_mean[1] = mean;
                         }});
}

TEST(Validate, Red) {
    const auto red = [](double min, double max) {
        return [=](Direction& d) {
            d.red.on = true;
            d.red.min_packets = min;
            d.red.max_packets = max;
        };
    };
    const auto with = [red](const std::function<void(Red&)>& change) {
        return [=](Direction& d) {
            red(5, 15)(d);
            change(d.red);
        };
    };
    EXPECT_EQ(error_of([&](Network& n) { red(5, 15)(n.links[1].forward); }), "");
    expect_direction("RED's thresholds must be 0 <= min < max",
                     {red(-1, 5), red(5, 5), red(kNan, 5), red(1, HUGE_VAL)});
    expect_direction("RED's max_p must be above 0, to 1",
                     {with([](Red& r) { r.max_p = 0; }), with([](Red& r) { r.max_p = 1.01; })});
    expect_direction("RED's weight must be above 0, to 1",
                     {with([](Red& r) { r.weight = 0; }), with([](Red& r) { r.weight = kNan; })});
    expect_direction("RED's mean packet must be 1 to 65535 bytes",
                     {with([](Red& r) { r.mean_packet_bytes = 0; }),
                      with([](Red& r) { r.mean_packet_bytes = 65536; })});
}

TEST(Validate, RecordedRatesJitterAndReordering) {
    expect_direction("delivery opportunities must be ascending times", {[](Direction& d) {
                         d.opportunities_ms = {2, 1};
                     }});
    expect_direction("the last delivery opportunity must be 1 ms to 26 days from the start",
                     {[](Direction& d) { d.opportunities_ms = {0}; },
                      [](Direction& d) {
                          d.opportunities_ms = {1, UINT64_MAX};
                      }});
    expect_direction(
        "jitter and reordering delay must not be negative or longer than 26 days",
        {[](Direction& d) { d.jitter = -1; }, [](Direction& d) { d.jitter = kTooLong; },
         [](Direction& d) { d.reorder_delay = -1; }});
    expect_direction("reordering rate must be 0 to 1", {[](Direction& d) { d.reorder_rate = 2; }});
}

TEST(Validate, Capture) {
    for (const std::int64_t link : {INT64_C(-2), INT64_C(2)})
        EXPECT_EQ(error_of([=](Network& n) { n.trace.capture_link = link; }),
                  "no such link to capture at");
    EXPECT_EQ(error_of([](Network& n) { n.trace.capture_link = 1; }), "");
}

using FlowChange = std::function<void(Flow&)>;

void expect_flow(const std::string& message, const std::vector<FlowChange>& changes) {
    for (std::size_t i = 0; i < changes.size(); i++)
        EXPECT_EQ(error_of([&](Network& n) { changes[i](n.flows[1]); }), "flow 1: " + message)
            << "change " << i;
}

TEST(Validate, EndsOfAFlow) {
    expect_flow("unknown node", {[](Flow& f) { f.from = 3; }, [](Flow& f) { f.to = UINT32_MAX; }});
    expect_flow("source and sink must differ", {[](Flow& f) { f.from = 2; }});
    EXPECT_EQ(error_of([](Network& n) { n.links.pop_back(); }),
              "flow 0: no path from node 0 to node 2");
}

TEST(Validate, SizesOfAFlow) {
    expect_flow("a packet must have 2 to 65535 bytes, payload among them",
                {[](Flow& f) { f.mss = 0; }, [](Flow& f) { f.header_bytes = 0; },
                 [](Flow& f) { f.mss = 65496; }, [](Flow& f) { f.mss = UINT32_MAX; },
                 [](Flow& f) { f.header_bytes = UINT32_MAX - 100; }});
    expect_flow("size must be positive",
                {[](Flow& f) { f.size_bytes = 0; }, [](Flow& f) { f.size_bytes = -1; }});
    expect_flow("size must be below 4 EiB", {[](Flow& f) { f.size_bytes = INT64_MAX - 1; }});
    expect_flow("initial cwnd out of range", {[](Flow& f) { f.initial_cwnd = 0; },
                                              [](Flow& f) { f.initial_cwnd = WW_CWND_MAX + 1; }});
    expect_flow("initial ssthresh must be positive", {[](Flow& f) { f.initial_ssthresh = 0; }});
    expect_flow("receive window must be a segment to 1 GiB",
                {[](Flow& f) { f.receive_window = f.mss - 1; },
                 [](Flow& f) { f.receive_window = (1u << 30) + 1; }});
}

TEST(Validate, TimesOfAFlow) {
    expect_flow("start must not be negative or after stop",
                {[](Flow& f) { f.start = -1; }, [](Flow& f) { f.start = 2, f.stop = 1; }});
    expect_flow("timeouts must be positive, the least not above the largest",
                {[](Flow& f) { f.min_rto = 0; }, [](Flow& f) { f.max_rto = f.min_rto - 1; },
                 [](Flow& f) { f.max_rto = kTooLong; }, [](Flow& f) { f.initial_rto = 0; },
                 [](Flow& f) { f.initial_rto = INT64_MAX; }});
    expect_flow("clock granularity out of range",
                {[](Flow& f) { f.clock_granularity = -1; },
                 [](Flow& f) { f.clock_granularity = kTooLong; }});
    expect_flow("delayed ACK timeout must be positive",
                {[](Flow& f) { f.delayed_ack_timeout = 0; },
                 [](Flow& f) { f.delayed_ack_timeout = kTooLong; }});
}

TEST(Validate, CountsOfAFlow) {
    expect_flow("delayed ACK must be a segment or more", {[](Flow& f) { f.delayed_ack = 0; }});
    expect_flow("duplicate ACK threshold must be positive",
                {[](Flow& f) { f.dupack_threshold = 0; }});
}

TEST(Validate, CongestionControl) {
    expect_flow("unknown congestion control",
                {[](Flow& f) { f.cc.algorithm = WW_ALG_BBR + 1; },
                 [](Flow& f) { f.cc.sampler = 3; }, [](Flow& f) { f.cc.filter = 5; }});
    expect_flow("m must be 0 or 2 to 16",
                {[](Flow& f) { f.cc.virtual_m = 1; }, [](Flow& f) { f.cc.virtual_m = 17; }});
    expect_flow("tau must be 1 us to 60 s",
                {[](Flow& f) { f.cc.tau_us = 0; }, [](Flow& f) { f.cc.tau_us = 60'000'001; }});
    expect_flow("alpha must be 0 to 1", {[](Flow& f) { f.cc.alpha_permille = 1001; }});
    expect_flow("the least window must be a segment", {[](Flow& f) { f.cc.min_cwnd = 0; }});
    expect_flow("cte must be at least 1", {[](Flow& f) { f.cc.cte_permille = 999; }});
    expect_flow("Vegas needs alpha and gamma of at least 1 and beta not below alpha",
                {[](Flow& f) { f.cc.vegas_alpha = 0; }, [](Flow& f) { f.cc.vegas_gamma = 0; },
                 [](Flow& f) { f.cc.vegas_beta = 1; }});
}

TEST(Validate, SourcesOfTraffic) {
    const auto datagrams = [](const FlowChange& change) {
        return [change](Flow& f) {
            f.datagrams.on = true;
            f.datagrams.rate_bps = 1'000'000;
            change(f);
        };
    };
    expect_flow("rate must be 1 bit/s to 1 Tbit/s",
                {datagrams([](Flow& f) { f.datagrams.rate_bps = 0; }),
                 datagrams([](Flow& f) { f.datagrams.rate_bps = INT64_MAX; })});
    expect_flow("a source must be on 1 us or longer, and off at most 26 days",
                {datagrams([](Flow& f) { f.datagrams.on_mean = 0; }),
                 datagrams([](Flow& f) { f.datagrams.off_mean = -1; }),
                 datagrams([](Flow& f) { f.datagrams.off_mean = kNever; })});
    expect_flow("datagrams don't arrive as connections",
                {datagrams([](Flow& f) { f.arrivals_mean = kSecond; })});
    expect_flow("connections must arrive 0 to 26 days apart",
                {[](Flow& f) { f.arrivals_mean = -1; }, [](Flow& f) { f.arrivals_mean = kNever; }});
    expect_flow("connections that arrive must have a size", {[](Flow& f) {
                    f.size_bytes = kUnlimited;
                    f.arrivals_mean = kSecond;
                }});
    expect_flow("more than 1048576 connections arrive", {[](Flow& f) {
                    f.size_bytes = 1;
                    f.arrivals_mean = 1;
                }});
}

TEST(Validate, LengthOfARoute) {
    const auto chain = [](std::uint32_t links) {
        return [links](Network& n) {
            const Direction d = n.links[0].forward;
            n.links.clear();
            for (std::uint32_t i = 0; i < links; i++) n.links.push_back({i, i + 1, 0, d, d});
            n.nodes = links + 1;
            n.flows[0].to = n.flows[1].to = links;
        };
    };
    EXPECT_EQ(error_of(chain(255)), "");
    EXPECT_EQ(error_of(chain(256)), "flow 0: its path has more than 255 links");
}

// The largest of everything at once neither overflows nor hangs (the sanitizers watch).
TEST(Validate, TakesTheLargestOfEverything) {
    EXPECT_EQ(error_of([](Network& n) {
                  n.duration = INT64_MAX / 4;
                  n.trace.interval = INT64_MAX / 4;
                  n.trace.windows = true;
                  for (Link& link : n.links) {
                      link.overhead_bytes = 65535;
                      link.forward.rate_bps = link.backward.rate_bps = 1;
                      link.forward.delay = link.backward.delay = INT64_MAX / 4;
                  }
                  for (Flow& f : n.flows) {
                      f.mss = 65535 - 40;
                      f.receive_window = 1u << 30;
                      f.initial_cwnd = WW_CWND_MAX;
                      f.max_rto = f.initial_rto = f.delayed_ack_timeout = f.clock_granularity =
                          INT64_MAX / 4;
                      f.dupack_threshold = f.delayed_ack = UINT32_MAX;
                      f.size_bytes = INT64_MAX / 2;
                  }
              }),
              "");
}

}  // namespace
}  // namespace ww::sim::test
