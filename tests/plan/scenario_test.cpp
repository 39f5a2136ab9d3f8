// SPDX-License-Identifier: BSD-3-Clause
//
// plan/ turns a scenario into the engine's network, and names the key that is wrong.
#include "plan/scenario.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "engine/validate.hpp"
#include "plan/routes.hpp"
#include "tables.hpp"
#include "wire/write.hpp"

namespace ww::plan::test {
namespace {

std::int64_t limit(const char* text_of_limit, const Table& link = kLink) {
    return read(with(link, "queue", {with(kQueue, "limit", text(text_of_limit))}))
        .network.links[0]
        .forward.queue_packets;
}

TEST(Plan, IsInTheEnginesUnits) {
    const wire::Plan plan = read(kLink, with(kFlow, "count", {std::int64_t{3}}));
    EXPECT_EQ(plan.network.nodes, 2u);
    EXPECT_EQ(plan.network.duration, 20 * sim::kSecond);
    EXPECT_EQ(plan.network.links[0].backward.rate_bps, 2'000'000);
    EXPECT_EQ(plan.network.links[0].backward.delay, 45'000 * sim::kMicrosecond);
    EXPECT_EQ(plan.protocols, std::vector(3, WW_PROTOCOL_WESTWOOD_PLUS));
    EXPECT_EQ(plan.network.flows[2].recovery, sim::Recovery::sack);
}

TEST(Plan, HoldsTheEqualFlowsOfAGroupOnceUntilAnyChanges) {
    const sim::Network network = read(kLink, with(kFlow, "count", {std::int64_t{3}})).network;
    EXPECT_EQ(&network.flows[0], &network.flows[2]);
    sim::Network changed = network;
    EXPECT_EQ(&std::as_const(changed).flows[0], &network.flows[0]);
    changed.flows[1].start = 7;
    EXPECT_EQ(network.flows[1].start, 0);
    EXPECT_EQ(std::as_const(changed).flows[0].start, 0);
    EXPECT_EQ(std::as_const(changed).flows[1].start, 7);
}

TEST(Plan, HasTheDeclaredDefaults) {
    const sim::Flow flow = read(kLink).network.flows[0], usual;
#define WW_ROW(kind, name, ...) \
    EXPECT_EQ(flow.WW_ENGINE_FIELD(kind, name), usual.WW_ENGINE_FIELD(kind, name)) << #name;
    WW_FLOW_SETTINGS(WW_ROW)
#undef WW_ROW
}

TEST(Plan, AWindowInBytesIsRoundedDownToSegments) {
    const auto window = [](const char* amount) {
        return read(kLink, with(kFlow, "initial_cwnd", text(amount))).network.flows[0].initial_cwnd;
    };
    EXPECT_EQ(window("4p"), 4u);
    EXPECT_EQ(window("2919B"), 1u);
    EXPECT_EQ(window("2920B"), 2u);
    EXPECT_EQ(window("1B"), 1u);
}

TEST(Plan, ALossIsOnItsSides) {
    const auto link = [](const char* on) {
        const Table loss = {{"kind", text("uniform")}, {"rate", text("0.5%")}, {"on", text(on)}};
        return read(with(kLink, "loss", {loss})).network.links[0];
    };
    EXPECT_EQ(std::get<sim::Uniform>(link("forward").forward.loss).rate, 0.005);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(link("forward").backward.loss));
    EXPECT_EQ(std::get<sim::Uniform>(link("both").backward.loss).rate, 0.005);
}

TEST(Plan, ABlackoutMayHaveNoLength) {
    const Table loss = {{"kind", text("blackout")}, {"good", text("2s")}, {"bad", text("0s")}};
    const auto plan = read(with(kLink, "loss", {loss}));
    EXPECT_EQ(std::get<sim::Blackout>(plan.network.links[0].forward.loss).bad, 0);
}

TEST(Plan, AQueueLimitFollowsTheRateOrTheRoundTrip) {
    EXPECT_EQ(limit("1bdp"), 15);    // 2 Mb/s x 90 ms / 12 000 bit
    EXPECT_EQ(limit("0.5bdp"), 8);   // 7.5 is rounded to even
    EXPECT_EQ(limit("1e-9bdp"), 1);  // at least one packet
    EXPECT_EQ(limit("39ms"), 6);     // 6.5 is rounded to even
    EXPECT_EQ(limit("39.000001ms"), 7);
    EXPECT_EQ(limit("0.433333333333333333333333333333bdp"), 6);  // 6.4999...
    EXPECT_EQ(limit("90ms", with(kLink, "overhead", text("500B"))), 11);
    for (const char* side :
         {"forward", "backward"}) {  // 1504 bytes every 2 ms: the faster one counts
        const Table trace = {{side, {Numbers{2}}}};
        EXPECT_EQ(limit("1bdp", with(kLink, "trace", {trace})), 45) << side;
    }
}

TEST(Plan, ATraceReplacesTheRate) {
    Table link = with(kLink, "trace", {Table{{"backward", {Numbers{1, 2, 4}}}}});
    EXPECT_EQ(mean_rate_bps(read(link).network.links[0].backward), 8 * 1504 * 3 / 0.004);
    EXPECT_EQ(read(link).network.links[0].forward.rate_bps, 2'000'000);
    link =
        with(link, "trace", {Table{{"forward", {Numbers{3}}}, {"backward", {Numbers{1, 2, 4}}}}});
    EXPECT_EQ(problem(link),
              "wire.rate = \"2Mbps\": has no effect with a trace of both directions");
}

TEST(Plan, ARouteHasTheFewestLinksAndAmongEqualsTheFirst) {
    const std::vector<Ends> links = {{0, 1}, {1, 2}, {0, 3}, {3, 2}, {4, 5}};
    const std::vector<Route> all_routes = routes(links, {{0, 2}, {2, 3}, {2, 0}, {0, 5}});
    EXPECT_EQ(all_routes, (std::vector<Route>{{0, 2}, {7}, {3, 1}, {}}));
}

TEST(Plan, AnErrorNamesItsKey) {
    EXPECT_EQ(problem(kLink), "none");
    EXPECT_EQ(problem(with(kLink, "rtae", text("1Mbps"))),
              "wire.rtae: no such key, did you mean \"rate\"?");
    EXPECT_EQ(problem(with(without(kLink, "rate"), "rtae", text("1Mbps"))),
              "wire.rtae: no such key, did you mean \"rate\"?");
    EXPECT_EQ(problem(without(kLink, "rate")), "wire.rate: is missing");
    for (const auto& [delay, wrong] :
         {std::pair("45", "a unit is missing, expected a time such as \"45ms\""),
          {"-1ms", "must not be negative, expected a time such as \"45ms\""},
          {"0.1ps", "is not a whole number of ps, expected a time such as \"45ms\""},
          {"2h", "expected at least 0s and at most 3600s"},
          {"1e30s", "expected at least 0s and at most 3600s"}})
        EXPECT_EQ(problem(with(kLink, "delay", text(delay))),
                  "wire.delay = \"" + std::string(delay) + "\": " + wrong);
    EXPECT_EQ(problem(with(kLink, "rate", text("1e60Mbps"))),
              "wire.rate = \"1e60Mbps\": expected at least 1kbps and at most 1Tbps");
    EXPECT_EQ(problem(with(kLink, "between", {List{text("a"), text("a")}})),
              "wire.between = [\"a\",\"a\"]: expected two different nodes");
    EXPECT_EQ(problem(kLink, with(kFlow, "to", text("c"))),
              "tcp.to = \"c\": no link has this node, did you mean \"a\"?");
    EXPECT_EQ(problem(kLink, with(kFlow, "start", text("20s"))),
              "tcp.start = \"20s\": expected less than the duration");
    EXPECT_EQ(
        problem(kLink, with(kFlow, "cc", {Table{{"name", text("reno")}, {"min_cwd", {2.0}}}})),
        "tcp.cc.min_cwd: no such key, did you mean \"min_cwnd\"?");
}

TEST(Plan, ItsTextIsReadBack) {  // A separate host gets the same network as the simulator
    const Table red = {
        {"kind", text("red")}, {"limit", text("64KiB")}, {"min", {5.5}}, {"max", {15.0}}};
    const Table loss = {{"kind", text("script")}, {"packets", {Numbers{3, 5}}}};
    const wire::Plan plan =
        read(with(with(kLink, "queue", {red}), "loss", {loss}), with(kFlow, "stop", text("7s")));
    std::istringstream stream(wire::write_plan(plan) + "end\n");
    const wire::Plan again = wire::read_plan(stream);
    EXPECT_EQ(wire::write_plan(again), wire::write_plan(plan));
    EXPECT_EQ(again.network.links[0].forward.queue_bytes, 65536);
    EXPECT_EQ(again.network.links[0].forward.red.min_packets, 5.5);
    EXPECT_EQ(std::get<sim::LossList>(again.network.links[0].forward.loss).packets,
              (std::vector<std::uint64_t>{3, 5}));
    EXPECT_EQ(again.network.flows[0].stop, 7 * sim::kSecond);
}

// Collects all values in a table or list.
void collect(Value& value, std::vector<Value*>& all) {
    all.push_back(&value);
    if (auto* table = std::get_if<Table>(&value.is))
        for (auto& [key, inner] : *table) collect(inner, all);
    if (auto* list = std::get_if<List>(&value.is))
        for (Value& inner : *list) collect(inner, all);
}

std::vector<Value> anything() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<Value> all = {{true}, {List{}}, {List{text("a"), text("a")}}, {Table{}}};
    for (const char* words : {"",          "-1ms",   "1e99s",       "1e-99bdp",
                              "1000bdp",   "0.3bdp", "9ms",         "9223372036854775808bps",
                              "1Tbps",     "1p",     "1073741824p", "1GiB",
                              "unlimited", "0s",     "1us",         "100%",
                              "1e-9%",     "a",      "b",           "udp",
                              "both",      "red",    "script",      "markov",
                              "blackout"})
        all.push_back(text(words));
    for (const double number : {0.5, -0.0, 1e300, kInfinity, std::nan("")}) all.push_back({number});
    for (const std::int64_t number :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}, INT64_MIN, INT64_MAX})
        all.push_back({number});
    for (const Numbers& numbers : {Numbers{0}, Numbers{-5, INT64_MAX}, Numbers{1, 2, 9}})
        all.push_back({numbers});
    return all;
}

TEST(Plan, ReadsApplications) {
    const auto application = [](const Table& app) {
        return read(kLink, with(kFlow, "app", {app})).network.flows[0].application;
    };
    const auto refused = [](const Table& app) { return problem(kLink, with(kFlow, "app", {app})); };
    EXPECT_EQ(application({{"kind", text("rate")}, {"rate", text("2Mbps")}}).rate_bps, 2'000'000);
    const Table on_off = {{"kind", text("on-off")}, {"on", text("1s")}, {"off", text("2s")}};
    EXPECT_EQ(application(on_off).kind, sim::ApplicationKind::on_off);
    EXPECT_EQ(application(on_off).off_mean, 2 * sim::kSecond);
    const Table request = {{"kind", text("request")}, {"size", text("9kB")}};
    EXPECT_EQ(application(request).size_bytes, 9000);
    EXPECT_EQ(application(request).think_mean, 0);
    const Table video = {{"kind", text("video")}, {"ladder", {List{text("1Mbps"), text("2Mbps")}}}};
    EXPECT_EQ(application(video).ladder_bps, (std::vector<std::int64_t>{1'000'000, 2'000'000}));
    EXPECT_EQ(application(video).chunk, 4 * sim::kSecond);
    EXPECT_EQ(application(video).buffer, 20 * sim::kSecond);
    EXPECT_EQ(refused({{"kind", text("video")}}).find("tcp.app.ladder"), 0u);
    EXPECT_NE(
        refused(with(video, "ladder", {List{text("2Mbps"), text("1Mbps")}})).find("ascending"),
        std::string::npos);
    EXPECT_NE(refused(with(video, "ladder", {List{}})).find("ascending"), std::string::npos);
    EXPECT_EQ(refused(with(video, "buffer", text("1s"))).find("tcp.app.buffer"), 0u);
    EXPECT_EQ(refused(with(request, "rate", text("1Mbps"))).find("tcp.app.rate"), 0u);
    EXPECT_EQ(refused({{"kind", text("on-off")}, {"on", text("1s")}}).find("tcp.app.off"), 0u);
    const Table arriving = {{"every", text("1s")}, {"size", text("1kB")}};
    EXPECT_EQ(
        problem(kLink, with(with(kFlow, "app", {request}), "arrivals", {arriving})).find("tcp.app"),
        0u);
}

TEST(Plan, AnyScenarioIsRefusedOrReadBack) {
    const Table traced = {{"forward", {Numbers{1, 5}}}};
    const Table loss = {{"kind", text("markov")},
                        {"good", text("1s")},
                        {"bad", text("2s")},
                        {"bad_rate", {0.5}},
                        {"good_rate", {0.0}}};
    const Table red = {
        {"kind", text("red")}, {"limit", text("2bdp")}, {"min", {5.5}}, {"max", {15.0}}};
    const Table link = with(with(kLink, "trace", {traced}), "queue", {red});
    const Table noise = {{"name", text("noise")},
                         {"from", text("b")},
                         {"to", text("a")},
                         {"cc", {Table{{"name", text("udp")}}}},
                         {"app", {Table{{"kind", text("udp")}, {"rate", text("1Mbps")}}}}};
    const Table apps[] = {
        {{"kind", text("rate")}, {"rate", text("1Mbps")}, {"on", text("1s")}, {"off", text("2s")}},
        {{"kind", text("on-off")}, {"on", text("1s")}, {"off", text("2s")}},
        {{"kind", text("request")}, {"size", text("9kB")}, {"think", text("1s")}},
        {{"kind", text("video")}, {"ladder", {List{text("1Mbps"), text("2Mbps")}}}}};
    const std::vector<Value> any = anything();
    std::mt19937 draw;
    int accepted = 0;
    for (int round = 0; round < 3000; round++) {
        Value scenario = {
            Table{{"name", text("mine")},
                  {"duration", text("20s")},
                  {"link", {List{{round % 2 ? with(link, "loss", {loss}) : link}}}},
                  {"flow",
                   {List{{with(kFlow, "initial_cwnd", text("9kB"))},
                         {noise},
                         {with(with(kFlow, "name", text("asked")), "app", {apps[draw() % 4]})}}}}}};
        std::vector<Value*> all;
        collect(scenario, all);
        *all[draw() % all.size()] = any[draw() % any.size()];
        const Table* table = std::get_if<Table>(&scenario.is);
        wire::Plan plan;
        try {
            plan = read_scenario(table ? *table : Table());
        } catch (const Problem&) {
            continue;
        }
        if (!sim::validate(plan.network).empty()) continue;
        accepted++;
        std::istringstream stream(wire::write_plan(plan) + "end\n");
        EXPECT_EQ(wire::write_plan(wire::read_plan(stream)), wire::write_plan(plan));
    }
    EXPECT_GT(accepted, 100);
}

std::uint32_t window_over(const char* rate, const char* delay, const char* queue,
                          const Table& flow = kFlow) {
    const Table link = with(with(kLink, "rate", text(rate)), "delay", text(delay));
    return read(with(link, "queue", {with(kQueue, "limit", text(queue))}), flow)
        .network.flows[0]
        .receive_window_bytes;
}

// 200 Mb/s over 160 ms are 4 MB, and as much waits in the queue: twice 8 MB is less than 16 MiB.
TEST(Scenario, AReceiveWindowThatIsNotGivenSufficesForPathAndQueue) {
    EXPECT_EQ(window_over("200Mbps", "80ms", "1bdp"), 16u << 20);
    EXPECT_EQ(window_over("200Mbps", "80ms", "1p"), 8u << 20);
    EXPECT_EQ(window_over("200Mbps", "80ms", "unlimited"), 8u << 20);
    EXPECT_EQ(window_over("2Mbps", "45ms", "100p"), 1u << 20) << "the declared default";
    EXPECT_EQ(window_over("1Tbps", "1h", "1p"), 1u << 30) << "the largest";
    EXPECT_EQ(window_over("200Mbps", "80ms", "1bdp", with(kFlow, "receive_window", text("1MiB"))),
              1u << 20)
        << "given";
}

TEST(Quantities, AreWrittenInTheLargestUnitAndReadBack) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; i++) {
        const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 62));
        const Table table = {{"rate", {written_rate(value)}},
                             {"time", {written_time(value)}},
                             {"size", {written_size(value)}}};
        const Section section(table, "");
        EXPECT_EQ(read(section["rate"], kRate, 0, value), value);
        EXPECT_EQ(read(section["time"], kTime, 0, value), value);
        EXPECT_EQ(read(section["size"], kSize, 0, value), value);
    }
}

TEST(Scenario, TellsWhatFollowsFromItsPath) {
    const auto flow = [](const char* name, Table more) {
        Table flow = with(kFlow, "name", text(name));
        for (Entry& entry : more) flow = with(flow, entry.key, std::move(entry.value));
        return Value{flow};
    };
    const Table product = {{"kind", text("droptail")}, {"limit", text("2bdp")}};
    const Scenario scenario =
        read_whole({{"name", text("mine")},
                    {"duration", text("20s")},
                    {"link", {List{{with(kLink, "queue", {product})}}}},
                    {"flow",
                     {List{flow("given", {{"receive_window", text("64KiB")}}),
                           flow("group", {{"count", {std::int64_t{3}}}}), flow("alone", {})}}}});
    EXPECT_EQ(scenario.flows,
              (std::vector<std::string>{"given", "group-1", "group-2", "group-3", "alone"}));
    EXPECT_EQ(scenario.limits,
              (std::map<std::size_t, std::int64_t>{{0, 30}}));  // 2 x 2 Mb/s x 90 ms
    EXPECT_EQ(scenario.windows, (std::map<std::size_t, std::uint32_t>{{1, 1 << 20}, {2, 1 << 20}}));
    EXPECT_EQ(scenario.plan.network.flows[0].receive_window_bytes, 65'536u);
}

}  // namespace
}  // namespace ww::plan::test
