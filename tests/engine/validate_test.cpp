// SPDX-License-Identifier: BSD-3-Clause
//
// What simulate() rejects, and with which message. It returns the error; it never throws.
#include "engine/validate.hpp"

#include <functional>
#include <limits>

#include "one_link.hpp"

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

TEST(Validate, AcceptsAValidNetwork) {
    EXPECT_EQ(validate(sound()), "");
    EXPECT_EQ(error_of([](Network&) {}), "");
    EXPECT_EQ(error_of([](Network& n) { n.flows.clear(); }), "");
    EXPECT_EQ(error_of([](Network& n) { n.flows.clear(), n.links.clear(), n.nodes = 0; }), "");
}

void expect_all(const std::string& message, const std::vector<Change>& changes) {
    for (std::size_t i = 0; i < changes.size(); i++)
        EXPECT_EQ(error_of(changes[i]), message) << "change " << i;
}

constexpr Time kTooLong = kLongest + 1;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Validate, Run) {
    expect_all("duration must be 1 ps to 26 days",
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
}

TEST(Validate, BothDirectionsOfALink) {
    const auto each = [](const std::string& message,
                         const std::function<void(Direction&)>& change) {
        EXPECT_EQ(error_of([&](Network& n) { change(n.links[0].forward); }), "link 0: " + message);
        EXPECT_EQ(error_of([&](Network& n) { change(n.links[1].backward); }), "link 1: " + message);
    };
    each("rate must be 1000 to 1000000000000 bit/s", [](Direction& d) { d.rate_bps = 0; });
    each("delay must be 0 to 3600000000000000 ps", [](Direction& d) { d.delay = -1; });
    each("queue limit must not be negative", [](Direction& d) { d.queue_packets = -1; });
    each("queue limit must not be negative", [](Direction& d) { d.queue_bytes = -1; });
    for (const auto& script : {std::vector<std::uint64_t>{0}, {2, 2}, {3, 1}})
        each("scripted losses must be ascending packet numbers from 1",
             [=](Direction& d) { d.loss = LossList{script}; });
}

void expect_direction(const std::string& message,
                      const std::vector<std::function<void(Direction&)>>& changes) {
    for (std::size_t i = 0; i < changes.size(); i++) {
        const std::string error = error_of([&](Network& n) { changes[i](n.links[1].forward); });
        EXPECT_EQ(error, "link 1: " + message) << "change " << i;
    }
}

TEST(Validate, Red) {
    const auto red = [](double min, double max) {
        return [=](Direction& d) {
            d.queue_kind = QueueKind::red;
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
    expect_direction("the queue's max must be more than min", {red(5, 5), red(6, 5)});
    expect_direction("the queue's max_p must be more than 0", {with([](Red& r) { r.max_p = 0; })});
    expect_direction("the queue's weight must be more than 0",
                     {with([](Red& r) { r.weight = 0; })});
}

TEST(Validate, RecordedRates) {
    expect_direction("delivery opportunities must be ascending times", {[](Direction& d) {
                         d.opportunities_ms = {2, 1};
                     }});
    expect_direction("the last delivery opportunity must be 1 ms to 26 days from the start",
                     {[](Direction& d) { d.opportunities_ms = {0}; },
                      [](Direction& d) {
                          d.opportunities_ms = {1, UINT64_MAX};
                      }});
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

TEST(Validate, EveryLinkAndFlow) {
    for (const std::size_t i : {0u, 1u}) {
        EXPECT_EQ(error_of([&](Network& n) { n.links[i].a = 9; }),
                  "link " + std::to_string(i) + ": unknown node");
        EXPECT_EQ(error_of([&](Network& n) { n.flows[i].from = 9; }),
                  "flow " + std::to_string(i) + ": unknown node");
    }
}

TEST(Validate, EndsOfAFlow) {
    expect_flow("unknown node", {[](Flow& f) { f.from = 3; }, [](Flow& f) { f.to = UINT32_MAX; }});
    expect_flow("source and sink must differ", {[](Flow& f) { f.from = 2; }});
    EXPECT_EQ(error_of([](Network& n) { n.links.pop_back(); }),
              "flow 0: no path from node 0 to node 2");
}

// Sets a field to values just outside its declared bounds, if its type holds them, and expects the
// check to name the setting. Then sets it to the bounds and expects no complaint.
template <class T, class Field>
void expect_bounds(const std::string& named, Field T::*field, Field least, Field most,
                   const std::function<T&(Network&)>& part) {
    const std::string refused = named + " must be ";
    const auto error_with = [&](Field value) {
        return error_of([&](Network& n) { part(n).*field = value; });
    };
    if constexpr (std::is_same_v<Field, bool>) {
        EXPECT_EQ(error_with(false), "");
        EXPECT_EQ(error_with(true), "");
    } else {
        if (least > std::numeric_limits<Field>::lowest()) {
            EXPECT_EQ(error_with(static_cast<Field>(least - 1)).rfind(refused, 0), 0u) << named;
        }
        if (most < std::numeric_limits<Field>::max()) {
            EXPECT_EQ(error_with(static_cast<Field>(most + 1)).rfind(refused, 0), 0u) << named;
        }
        EXPECT_NE(error_with(least).rfind(refused, 0), 0u) << named;
        EXPECT_NE(error_with(most).rfind(refused, 0), 0u) << named;
        if constexpr (std::is_floating_point_v<Field>) {
            EXPECT_EQ(error_with(kNan).rfind(refused, 0), 0u) << named;
        }
    }
}

TEST(Validate, EverySettingOfAFlowHasItsBounds) {
    const std::function<Flow&(Network&)> part = [](Network& n) -> Flow& {
        n.flows[1].recovery = Recovery::sack;
        n.flows[1].header_bytes = kStampedHeader;
        return n.flows[1];
    };
#define WW_ROW(kind, name, fallback, least, most, ...)                                    \
    expect_bounds<Flow, WW_ENGINE_TYPE_##kind>("flow 1: " #name,                          \
                                               &Flow::WW_ENGINE_FIELD(kind, name),        \
                                               static_cast<WW_ENGINE_TYPE_##kind>(least), \
                                               static_cast<WW_ENGINE_TYPE_##kind>(most), part);
    WW_FLOW_SETTINGS(WW_ROW)
#undef WW_ROW
}

TEST(Validate, SettingsThatNeedSackOrRoomInTheHeader) {
#define WW_ROW(name) \
    expect_flow(#name " needs a recovery with SACK", {[](Flow& f) { f.name = true; }});
    WW_FLOW_SETTINGS_OF_SACK(WW_ROW)
#undef WW_ROW
    expect_flow("timestamps need a header of 52 bytes", {[](Flow& f) {
                    f.recovery = Recovery::sack;
                    f.timestamps = true;
                }});
}

TEST(Validate, EverySettingOfALinkHasItsBounds) {
    const std::function<Direction&(Network&)> way = [](Network& n) -> Direction& {
        return n.links[0].forward;
    };
    const std::function<Link&(Network&)> link = [](Network& n) -> Link& { return n.links[0]; };
#define WW_ROW_OF(T, part, kind, name, fallback, least, most, ...)                             \
    expect_bounds<T, WW_ENGINE_TYPE_##kind>("link 0: " #name, &T::WW_ENGINE_FIELD(kind, name), \
                                            static_cast<WW_ENGINE_TYPE_##kind>(least),         \
                                            static_cast<WW_ENGINE_TYPE_##kind>(most), part);
#define WW_ROW(...) WW_ROW_OF(Direction, way, __VA_ARGS__)
    WW_DIRECTION_SETTINGS(WW_ROW)
#undef WW_ROW
#define WW_ROW(...) WW_ROW_OF(Link, link, __VA_ARGS__)
    WW_LINK_SETTINGS(WW_ROW)
#undef WW_ROW
}

#define WW_ROW(...) WW_ROW_OF(Settings, part, __VA_ARGS__)

TEST(Validate, EverySettingOfALossHasItsBounds){
#define WW_LOSS(name, Type, Model, PREFIX, ...)                                    \
    {                                                                              \
        using Settings = Type;                                                     \
        const std::function<Settings&(Network&)> part = [](Network & n) -> auto& { \
            Loss& loss = n.links[0].forward.loss;                                  \
            if (!std::holds_alternative<Settings>(loss)) loss = Settings();        \
            return std::get<Settings>(loss);                                       \
        };                                                                         \
        WW_##PREFIX##_SETTINGS(WW_ROW)                                             \
    }
    WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
}

TEST(Validate, EverySettingOfAnImpairmentHasItsBounds){
#define WW_IMPAIRMENT(name, Type, Class, PREFIX, ...)                              \
    {                                                                              \
        using Settings = Type;                                                     \
        const std::function<Settings&(Network&)> part = [](Network & n) -> auto& { \
            std::optional<Settings>& there = n.links[0].forward.name;              \
            return there ? *there : there.emplace();                               \
        };                                                                         \
        WW_##PREFIX##_SETTINGS(WW_ROW)                                             \
    }
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
}

TEST(Validate, ChangesOfTheDelayAscendAndEndWithinTheirPeriod) {
    const auto changed = [](DelayChanges changes) {
        return error_of([&](Network& n) { n.links[0].forward.delay_changes = changes; });
    };
    EXPECT_EQ(changed({{0, 5, 5}, {1, 0, kHour}, 6}), "");
    EXPECT_NE(changed({{0, 5}, {1}, 0}).find("a time and a delay each"), std::string::npos);
    EXPECT_NE(changed({{5, 4}, {1, 1}, 0}).find("ascending"), std::string::npos);
    EXPECT_NE(changed({{-1, 4}, {1, 1}, 0}).find("from the start"), std::string::npos);
    EXPECT_NE(changed({{0, kLongest + 1}, {1, 1}, 0}).find("from the start"), std::string::npos);
    EXPECT_NE(changed({{0}, {-1}, 0}).find("0 to 1 hour"), std::string::npos);
    EXPECT_NE(changed({{0}, {kHour + 1}, 0}).find("0 to 1 hour"), std::string::npos);
    EXPECT_NE(changed({{0, 5}, {1, 1}, 5}).find("period"), std::string::npos);
}

TEST(Validate, AnAckFilterNeedsARate) {
    const auto error = error_of([](Network& n) {
        n.links[0].forward.ack_filter = AckFilter();
        n.links[0].forward.opportunities_ms = {1, 2};
    });
    EXPECT_NE(error.find("an ACK filter needs a rate"), std::string::npos) << error;
}

TEST(Validate, EverySettingOfAQueueHasItsBounds) {
#define WW_QUEUE(name, Type, Queue, PREFIX, ...)                                   \
    {                                                                              \
        using Settings = Type;                                                     \
        const std::function<Settings&(Network&)> part = [](Network & n) -> auto& { \
            n.links[0].forward.queue_kind = QueueKind::name;                       \
            return n.links[0].forward.name;                                        \
        };                                                                         \
        WW_##PREFIX##_SETTINGS(WW_ROW)                                             \
    }
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
#undef WW_ROW
#undef WW_ROW_OF
    expect_direction("unknown kind of queue",
                     {[](Direction& d) { d.queue_kind = static_cast<QueueKind>(99); }});
}

TEST(Validate, EverySettingOfACongestionControlHasItsBounds) {
    const std::function<ww_config&(Network&)> part = [](Network& n) -> ww_config& {
        return n.flows[1].cc;
    };
#define WW_ROW(kind, name, fallback, least, most, ...)            \
    expect_bounds<ww_config, WW_TYPE_##kind>("flow 1: cc." #name, \
                                             &ww_config::WW_FIELD(kind, name), least, most, part);
    WW_SETTINGS(WW_ROW)
#undef WW_ROW
    expect_flow("unknown congestion control",
                {[](Flow& f) { f.cc.algorithm = WW_ALGORITHM_COUNT; }});
    EXPECT_EQ(error_of([](Network& n) { n.flows[1].cc.cte_permille = 0; }), "") << "no plateau";
    EXPECT_EQ(error_of([](Network& n) { n.flows[1].cc.m = 0; }), "") << "no virtual samples";
}

TEST(Validate, SettingsOfAFlowThatBelongTogether) {
    expect_flow("header must leave room in packet",
                {[](Flow& f) { f.packet_bytes = 60, f.header_bytes = 60; }});
    expect_flow("receive_window must have room for a segment",
                {[](Flow& f) { f.receive_window_bytes = f.mss() - 1; }});
    expect_flow("stop must not be before start", {[](Flow& f) { f.start = 2, f.stop = 1; }});
    expect_flow("min_rto must not exceed max_rto", {[](Flow& f) { f.max_rto = f.min_rto - 1; }});
    expect_flow("vegas_alpha must not exceed vegas_beta", {[](Flow& f) { f.cc.vegas_beta = 1; }});
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

// The largest value of everything at once neither overflows nor hangs (the sanitizers watch).
TEST(Validate, AcceptsTheLargestValueOfEverything) {
    EXPECT_EQ(error_of([](Network& n) {
                  n.duration = kLongest;
                  n.trace.interval = kLongest;
                  n.trace.windows = true;
                  for (Link& link : n.links) {
                      link.overhead_bytes = 1000;
                      link.forward.rate_bps = link.backward.rate_bps = 1000;
                      link.forward.delay = link.backward.delay = kHour;
                  }
                  for (Flow& f : n.flows) {
                      f.packet_bytes = 65535;
                      f.receive_window_bytes = 1u << 30;
                      f.initial_cwnd = WW_CWND_MAX;
                      f.max_rto = f.initial_rto = f.delayed_ack_timeout = f.clock_granularity =
                          kHour;
                      f.dupack_threshold = f.delayed_ack = 1000;
                      f.size_bytes = kLargestSize;
                      f.arrivals_mean = kLongest;
                  }
              }),
              "");
}

}  // namespace
}  // namespace ww::sim::test
