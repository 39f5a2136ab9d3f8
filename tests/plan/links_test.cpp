// SPDX-License-Identifier: BSD-3-Clause
//
// plan/links, plan/routes: the links of a scenario, and the limits and windows that follow from paths.
#include <variant>

#include "plan/routes.hpp"
#include "tables.hpp"

namespace ww::plan::test {
namespace {

sim::Link link_with(const char* key, const Table& value) {
    return read(with(kLink, key, {value})).network.links[0];
}

template <class Kind>
Kind loss_of(const Table& loss) {
    return std::get<Kind>(link_with("loss", loss).forward.loss);
}

TEST(Losses, OfAKindAreThoseOfTheEngine) {
    EXPECT_EQ(loss_of<sim::Bits>({{"kind", text("bits")}, {"rate", {1e-6}}}).rate, 1e-6);
    EXPECT_EQ(loss_of<sim::Uniform>({{"rate", {0.5}}}).rate, 0.5) << "the usual kind";
    EXPECT_EQ(loss_of<sim::LossList>({{"packets", {Numbers{1, 4}}}}).packets.size(), 2u);
    loss_of<std::monostate>({{"kind", text("none")}});
}

TEST(Losses, InStatesHaveTheirTimesAndRates) {
    const Table states = {{"kind", text("markov")},
                          {"good", text("1s")},
                          {"bad", text("200ms")},
                          {"bad_rate", {0.75}}};
    const auto usual = loss_of<sim::Markov>(states);
    EXPECT_EQ(usual.good, sim::kSecond);
    EXPECT_EQ(usual.bad, sim::kSecond / 5);
    EXPECT_EQ(usual.good_rate, 0) << "nothing is lost in the good state";
    EXPECT_EQ(usual.bad_rate, 0.75);
    EXPECT_EQ(usual.durations, sim::kExponential);
    const auto other =
        loss_of<sim::Markov>(with(with(states, "good_rate", {0.25}), "durations", text("fixed")));
    EXPECT_EQ(other.good_rate, 0.25);
    EXPECT_EQ(other.durations, sim::kFixed);
    const auto blackout = loss_of<sim::Blackout>(
        {{"kind", text("blackout")}, {"good", text("1s")}, {"bad", text("1us")}});
    EXPECT_EQ(blackout.bad, sim::kMicrosecond);
    EXPECT_EQ(blackout.durations, sim::kFixed);
    EXPECT_EQ(problem(with(kLink, "loss", {with(states, "bad", text("0s"))})),
              "wire.loss.bad = \"0s\": expected at least 1us and at most 2246400s");
}

TEST(Reroutes, ReplaceTheDelayOfTheirDirections) {
    const List times = {text("1s"), text("3s")}, delay = {text("50ms"), text("20ms")};
    const Table reroute = {{"at", {times}}, {"delay", {delay}}};
    for (const bool is_both : {true, false}) {
        const sim::Link link =
            link_with("reroute", is_both ? reroute : with(reroute, "on", text("forward")));
        EXPECT_EQ(link.forward.delay_changes.at,
                  std::vector<sim::Time>({sim::kSecond, 3 * sim::kSecond}));
        EXPECT_EQ(link.forward.delay_changes.delays,
                  std::vector<sim::Time>({sim::kSecond / 20, sim::kSecond / 50}));
        EXPECT_EQ(link.forward.delay_changes.period, 0);
        EXPECT_EQ(link.backward.delay_changes.at.empty(), !is_both);
    }
    const auto refused = [](const Table& table) {
        return problem(with(kLink, "reroute", {table}));
    };
    EXPECT_EQ(
        refused(with(reroute, "delay", {List{text("1s")}})),
        "wire.reroute.delay = [\"1s\"]: expected as many delays as times in `at`, at least one");
    EXPECT_EQ(refused(with(reroute, "at", {List{text("3s"), text("3s")}})),
              "wire.reroute.at = [\"3s\",\"3s\"]: expected ascending times");
}

TEST(RecordedDelays, ReplaceTheDelayOfALink) {
    const Table recorded = {{"forward", {Numbers{12, 10}}}, {"backward", {Numbers{9}}}};
    const Table link = with(kLink, "delays", {recorded});
    EXPECT_EQ(problem(link),
              "wire.delay = \"45ms\": has no effect with recorded delays of both directions");
    const sim::Link built = read(without(link, "delay")).network.links[0];
    constexpr sim::Time kMs = sim::kSecond / 1000;
    EXPECT_EQ(built.forward.delay, 9 * kMs);
    EXPECT_EQ(built.forward.delay_changes.delays, std::vector<sim::Time>({12 * kMs, 10 * kMs}));
    EXPECT_EQ(built.forward.delay_changes.at, std::vector<sim::Time>({0, 10 * kMs}));
    EXPECT_EQ(built.forward.delay_changes.period, 20 * kMs);
    EXPECT_EQ(built.backward.delay_changes.period, 10 * kMs);
    const Table one_side = {{"forward", {Numbers{12}}}, {"interval", text("1s")}};
    EXPECT_EQ(link_with("delays", one_side).forward.delay_changes.period, sim::kSecond);
    EXPECT_EQ(problem(with(kLink, "delays", {Table{{"forward", {Numbers{-1}}}}}))
                  .find("wire.delays.forward"),
              0u);
}

TEST(Reordering, IsOnItsSides) {
    const auto rates = [](const char* on) {
        const Table reorder = {{"rate", {0.25}}, {"delay", text("5ms")}, {"on", text(on)}};
        const sim::Link link = link_with("reorder", reorder);
        EXPECT_EQ(link.forward.reorder_delay,
                  link.forward.reorder_rate > 0 ? sim::kSecond / 200 : 0);
        return std::pair(link.forward.reorder_rate, link.backward.reorder_rate);
    };
    EXPECT_EQ(rates("forward"), std::pair(0.25, 0.0));
    EXPECT_EQ(rates("backward"), std::pair(0.0, 0.25));
    EXPECT_EQ(rates("both"), std::pair(0.25, 0.25));
}

TEST(Traces, AscendAndLastAMillisecond) {
    const auto problem_of = [](const Numbers& times) {
        return problem(with(kLink, "trace", {Table{{"backward", {times}}}}));
    };
    EXPECT_EQ(problem_of({0, 1}), "none");
    EXPECT_EQ(problem_of({}), "none");
    const std::string wanted = "expected ascending times in ms, the last at least 1";
    EXPECT_EQ(problem_of({0}), "wire.trace.backward = [0]: " + wanted);
    EXPECT_EQ(problem_of({-1, 5}), "wire.trace.backward = [-1,5]: " + wanted);
    EXPECT_EQ(problem(with(kLink, "trace", {Table{{"forward", {List{}}}}})), "none");
    EXPECT_EQ(problem(with(kLink, "trace", {Table{{"forward", {List{text("1")}}}}})),
              "wire.trace.forward = [\"1\"]: expected a list of whole numbers");
}

TEST(Traces, OfBothDirectionsGiveTheRate) {
    const Table link = with(without(kLink, "rate"), "trace",
                            {Table{{"forward", {Numbers{3}}}, {"backward", {Numbers{6}}}}});
    const sim::Link built = read(link).network.links[0];
    EXPECT_EQ(built.forward.rate_bps, 4'010'667);  // 1504 bytes in 3 ms
    EXPECT_EQ(built.backward.rate_bps, 2'005'333);
    const Table slow = {{"forward", {Numbers{3'600'000}}}, {"backward", {Numbers{6}}}};
    EXPECT_EQ(read(with(link, "trace", {slow})).network.links[0].forward.rate_bps, 1000)
        << "at least the slowest rate of a link";
}

TEST(BackwardRates, ReplaceTheRateOfTheirDirection) {
    const Table link = with(kLink, "backward_rate", text("384kbps"));
    const sim::Link built = read(link).network.links[0];
    EXPECT_EQ(built.backward.rate_bps, 384'000);
    EXPECT_GT(built.forward.rate_bps, 384'000);
    EXPECT_EQ(built.backward.queue_packets, built.forward.queue_packets);
    EXPECT_NE(problem(with(kLink, "backward_rate", text("1bps"))), "none");
    const Table backward = {{"backward", {Numbers{3}}}}, forward = {{"forward", {Numbers{3}}}};
    EXPECT_EQ(problem(with(link, "trace", {backward})),
              "wire.backward_rate = \"384kbps\": has no effect with a trace of this direction");
    EXPECT_NE(problem(with(link, "trace", {forward})).find("no effect with a trace and backward"),
              std::string::npos);
    const Table unrated = without(with(link, "trace", {forward}), "rate");
    EXPECT_EQ(read(unrated).network.links[0].forward.rate_bps, 4'010'667) << "needs no rate";
}

TEST(Queues, AreLimitedInPacketsOrBytes) {
    const auto limits = [](const char* words) {
        const sim::Direction forward =
            link_with("queue", with(kQueue, "limit", text(words))).forward;
        return std::pair(forward.queue_packets, forward.queue_bytes);
    };
    EXPECT_EQ(limits("9p"), std::pair(std::int64_t{9}, sim::kUnlimited));
    EXPECT_EQ(limits("9B"), std::pair(sim::kUnlimited, std::int64_t{9}));
    EXPECT_EQ(limits("unlimited"), std::pair(sim::kUnlimited, sim::kUnlimited));
}

// Three nodes in a row; the second link is ten times as fast and as long.
wire::Plan row_of_links(const Table& queue, const std::vector<Table>& flows,
                        const Table& far_trace = {}) {
    const Table near = with(kLink, "queue", {queue});
    Table far = with(with(near, "name", text("far")), "rate", text("20Mbps"));
    far = with(with(far, "between", {List{text("b"), text("c")}}), "delay", text("450ms"));
    far = with(far, "trace", {far_trace});
    List all;
    for (const Table& flow : flows) {
        const std::string name = "flow" + std::to_string(all.size());
        all.push_back({with(flow, "name", text(name.c_str()))});
    }
    return read_scenario({{"name", text("row")},
                          {"duration", text("20s")},
                          {"link", {List{{near}, {far}}}},
                          {"flow", {all}}});
}

TEST(Queues, OfProductsFollowTheLongestRoundTripOverTheLink) {
    const Table queue = with(kQueue, "limit", text("1bdp")), across = with(kFlow, "to", text("c"));
    for (const auto& flows : {std::vector{kFlow, across}, std::vector{across, kFlow}}) {
        const sim::Network network = row_of_links(queue, flows).network;
        EXPECT_EQ(network.links[0].forward.queue_packets, 165);    // 2 Mb/s x 990 ms / 12 000 bit
        EXPECT_EQ(network.links[1].backward.queue_packets, 1650);  // 20 Mb/s x 990 ms
    }
    const sim::Network alone = row_of_links(queue, {kFlow}).network;
    EXPECT_EQ(alone.links[0].forward.queue_packets, 15);    // 90 ms
    EXPECT_EQ(alone.links[1].forward.queue_packets, 1500);  // 900 ms, its own round trip
}

TEST(Queues, OfTimesCountTheLargestPackets) {
    const Table queue = with(kQueue, "limit", text("60ms"));
    const Table small = with(kFlow, "packet", text("500B"));
    const auto packets = [&](const std::vector<Table>& flows) {
        return row_of_links(queue, flows).network.links[0].forward.queue_packets;
    };
    EXPECT_EQ(packets({small, kFlow}), 10);  // 120 000 bit
    EXPECT_EQ(packets({small}), 30);
}

TEST(Queues, ASlowLinkHoldsAWholePacket) {
    const Table link = with(kLink, "rate", text("1kbps"));
    const Table queue = with(kQueue, "limit", text("1ms"));
    EXPECT_EQ(read(with(link, "queue", {queue})).network.links[0].forward.queue_packets, 1);
}

// 2 Mb/s over 990 ms are 247 500 bytes; the queues of both links count.
TEST(ReceiveWindows, SufficeForTheWholePath) {
    const Table across = with(kFlow, "to", text("c"));
    const auto window = [&](const char* limit) {
        return row_of_links(with(kQueue, "limit", text(limit)), {kFlow, across})
            .network.flows[1]
            .receive_window_bytes;
    };
    EXPECT_EQ(window("1p"), 1u << 20);       // 2 x 250 500
    EXPECT_EQ(window("92p"), 1u << 20);      // 2 x (247 500 + 276 000) = 1 047 000
    EXPECT_EQ(window("93p"), 1u << 21);      // 1 053 000: more than 2^20
    EXPECT_EQ(window("138394B"), 1u << 20);  // 2 x (247 500 + 276 788) = 2^20
    EXPECT_EQ(window("138395B"), 1u << 21);
}

// 1504 bytes in 10 s lead back over the second link, which no flow needs for its data.
TEST(ReceiveWindows, FollowTheDirectionOfTheData) {
    const Table slow = {{"backward", {Numbers{10'000}}}}, across = with(kFlow, "to", text("c"));
    const Table queue = with(kQueue, "limit", text("93p"));
    const sim::Network network = row_of_links(queue, {across}, slow).network;
    EXPECT_EQ(network.flows[0].receive_window_bytes, 1u << 21);
}

TEST(ReceiveWindows, AreNeededByConnectionsWithoutOneOnly) {
    Table datagrams = with(with(kFlow, "cc", {Table{{"name", text("udp")}}}), "app",
                           {Table{{"kind", text("udp")}, {"rate", text("1Mbps")}}});
    const Table group = with(with(kFlow, "to", text("c")), "count", {std::int64_t{2}});
    const Table given = with(group, "receive_window", text("1kB"));
    const sim::Network network =
        row_of_links(with(kQueue, "limit", text("1000p")), {datagrams, group, given}).network;
    std::vector<std::uint32_t> windows;
    for (const sim::Flow& flow : network.flows) windows.push_back(flow.receive_window_bytes);
    EXPECT_EQ(windows, (std::vector<std::uint32_t>{1u << 20, 1u << 23, 1u << 23, 1000, 1000}));
}

}  // namespace
}  // namespace ww::plan::test
