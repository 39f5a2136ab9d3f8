// SPDX-License-Identifier: BSD-3-Clause
//
// plan/flows, plan/section: what flows send, names, and the messages about wrong keys and values.
#include "tables.hpp"

namespace ww::plan::test {
namespace {

sim::Flow flow_with(const char* key, Value value) {
    return read(kLink, with(kFlow, key, std::move(value))).network.flows[0];
}

std::string problem_with(const char* key, Value value) {
    return problem(kLink, with(kFlow, key, std::move(value)));
}

Table control(const char* name, const char* setting, Value value) {
    return {{"name", text(name)}, {setting, std::move(value)}};
}

TEST(Settings, OfSharesAreWholeThousandths) {
    const auto alpha = [](Value value) {
        return flow_with("cc", {control("westwood", "alpha", std::move(value))}).cc.alpha_permille;
    };
    EXPECT_EQ(alpha({0.875}), 875);
    EXPECT_EQ(alpha(text("87.5%")), 875);
    EXPECT_EQ(alpha({std::int64_t{1}}), 1000);
    EXPECT_EQ(problem_with("cc", {control("westwood", "alpha", {0.8755})}),
              "tcp.cc.alpha = 0.8755: expected at most three decimals");
    EXPECT_EQ(problem_with("cc", {control("westwood", "alpha", {1.001})}),
              "tcp.cc.alpha = 1.001: is out of bounds, expected 0 to 1000");
    EXPECT_EQ(problem_with("cc", {control("westwood-cubic", "wc_gain", {0.0})}),
              "tcp.cc.wc_gain = 0: is out of bounds, expected 1 to 999");
}

TEST(Settings, OfFactorsMayBeZero) {
    const auto cte = [](double value) {
        return flow_with("cc", {control("westwoodnr+", "cte", {value})}).cc.cte_permille;
    };
    EXPECT_EQ(cte(0), 0);
    EXPECT_EQ(cte(1), 1000);
    EXPECT_EQ(cte(2.125), 2125);
    EXPECT_EQ(problem_with("cc", {control("westwoodnr+", "cte", {0.5})}),
              "tcp.cc.cte = 0.5: is out of bounds, expected 1000 to 65000");
}

TEST(Settings, OfCountsMayBeZeroWhereThatSwitchesThemOff) {
    const auto with_m = [](std::int64_t m) { return Value{control("westwood", "m", {m})}; };
    EXPECT_EQ(flow_with("cc", with_m(0)).cc.m, 0);
    EXPECT_EQ(flow_with("cc", with_m(5)).cc.m, 5);
    EXPECT_NE(problem_with("cc", with_m(1)).find("is out of bounds, expected 2 to "),
              std::string::npos);
    EXPECT_EQ(problem_with("cc", {control("westwood", "m", {0.0})}),
              "tcp.cc.m = 0: expected a whole number");
}

TEST(Settings, OfSpansAreInMicroseconds) {
    EXPECT_EQ(flow_with("cc", {control("westwood", "tau", text("250ms"))}).cc.tau_us, 250'000u);
    EXPECT_EQ(problem_with("cc", {control("westwood", "tau", text("1.5us"))}),
              "tcp.cc.tau = \"1.5us\": expected a whole number of us");
}

TEST(Settings, ThatAControlDoesNotObeyAreNoKeys) {
    EXPECT_NE(problem_with("cc", {control("reno", "tau", text("1s"))}).find("no such key"),
              std::string::npos);
}

TEST(Settings, ThatNeedAnotherAreRefusedWithoutIt) {
    Table resumed = control("cubic", "resume_cwnd", {std::int64_t{50}});
    EXPECT_EQ(problem_with("cc", {resumed}),
              "tcp.cc.resume_cwnd = 50: has no effect without slow_start = \"careful-resume\"");
    resumed.push_back({"slow_start", text("careful-resume")});
    EXPECT_EQ(flow_with("cc", {resumed}).cc.resume_cwnd, 50u);
}

TEST(Controls, OfAFileMustBeLoadedInThisProcess) {
    const Table unknown = {{"name", text("./mine.c")}, {"source", text("0123")}};
    EXPECT_EQ(problem_with("cc", {unknown}),
              "tcp.cc.source = \"0123\": no such control is loaded in this process");
}

TEST(Packets, AreLargerThanTheirHeaders) {
    EXPECT_EQ(flow_with("packet", text("41B")).mss(), 1u);
    EXPECT_EQ(problem_with("packet", text("40B")),
              "tcp.packet = \"40B\": expected more than the header");
    EXPECT_EQ(problem(kLink, with(with(kFlow, "packet", text("52B")), "header", text("52B"))),
              "tcp.packet = \"52B\": expected more than the header");
}

TEST(Flows, StopAfterTheyStart) {
    const auto problem_of = [](const char* stop) {
        return problem(kLink, with(with(kFlow, "start", text("5s")), "stop", text(stop)));
    };
    EXPECT_EQ(problem_of("5.000000000001s"), "none");
    EXPECT_EQ(problem_of("5s"), "tcp.stop = \"5s\": expected a time after start");
    EXPECT_EQ(problem_with("start", text("19999999999999ps")), "none");
}

TEST(Flows, OfAGroupAreAlike) {
    EXPECT_EQ(read(kLink, kFlow).network.flows.size(), 1u);
    EXPECT_EQ(read(kLink, with(kFlow, "count", {std::int64_t{10'000}})).protocols.size(), 10'000u);
    for (const std::int64_t wrong : {0, 10'001})
        EXPECT_EQ(problem_with("count", {wrong}), "tcp.count = " + std::to_string(wrong) +
                                                      ": is out of bounds, expected 1 to 10000");
}

const Table kDatagrams = {{"kind", text("udp")}, {"rate", text("3Mbps")}};
const Table kSource = with(with(kFlow, "cc", {Table{{"name", text("udp")}}}), "app", {kDatagrams});

TEST(Datagrams, AreOnAndOffOrAlwaysOn) {
    const auto source = [](const Table& app) {
        return read(kLink, with(kSource, "app", {app})).network.flows[0].datagrams;
    };
    EXPECT_TRUE(source(kDatagrams).on);
    EXPECT_EQ(source(kDatagrams).rate_bps, 3'000'000);
    EXPECT_EQ(source(kDatagrams).off_mean, 0);
    const Table pauses = with(with(kDatagrams, "on", text("1s")), "off", text("2s"));
    EXPECT_EQ(source(pauses).on_mean, sim::kSecond);
    EXPECT_EQ(source(pauses).off_mean, 2 * sim::kSecond);
    EXPECT_EQ(source(pauses).spread, sim::Spread::fixed);
    EXPECT_EQ(source(with(pauses, "durations", text("exponential"))).spread,
              sim::Spread::exponential);
    EXPECT_EQ(source(with(pauses, "spacing", text("exponential"))).spacing,
              sim::Spread::exponential);
    for (const auto& [given, missing] : {std::pair("on", "off"), std::pair("off", "on")})
        EXPECT_EQ(problem(kLink, with(kSource, "app", {with(kDatagrams, given, text("1s"))})),
                  std::string("tcp.app.") + missing +
                      ": is missing: a source has both on and off, or neither");
}

TEST(Datagrams, BelongToTheProtocolUdp) {
    EXPECT_FALSE(flow_with("app", {Table{{"kind", text("bulk")}}}).datagrams.on);
    EXPECT_FALSE(flow_with("app", {Table{}}).datagrams.on);
    EXPECT_EQ(problem_with("app", {kDatagrams}),
              "tcp.cc = {\"name\":\"westwood+\"}: expected \"udp\", as its app is");
    EXPECT_EQ(problem(kLink, with(kSource, "app", {Table{{"kind", text("bulk")}}})),
              "tcp.cc = {\"name\":\"udp\"}: expected a protocol, since its app is not \"udp\"");
}

TEST(Datagrams, HaveNoRecovery) {
    const sim::Flow usual;
    EXPECT_EQ(read(kLink, kSource).network.flows[0].recovery, usual.recovery);
    EXPECT_EQ(read(kLink, without(kFlow, "recovery")).network.flows[0].recovery, usual.recovery);
}

TEST(Arrivals, HaveAGapAndASize) {
    const Table arrivals = {{"every", text("1us")}, {"size", text("1B")}};
    const sim::Flow flow = flow_with("arrivals", {arrivals});
    EXPECT_EQ(flow.arrivals_mean, sim::kMicrosecond);
    EXPECT_EQ(flow.size_bytes, 1);
    EXPECT_EQ(flow.size_spread, sim::Spread::fixed);
    EXPECT_EQ(flow_with("arrivals", {with(arrivals, "sizes", text("exponential"))}).size_spread,
              sim::Spread::exponential);
    EXPECT_EQ(problem_with("arrivals", {with(arrivals, "size", text("0B"))}),
              "tcp.arrivals.size = \"0B\": expected more than 0B and at most 1048576GiB");
    EXPECT_EQ(problem(kLink, with(with(kFlow, "arrivals", {arrivals}), "size", text("9B"))),
              "tcp.size = \"9B\": expected none, since arrivals has a size");
}

TEST(Names, AreLettersDigitsAndThreeSigns) {
    const std::string longest(40, 'n');
    for (const std::string& right :
         {std::string("azAZ09_-+"), std::string("_"), std::string("+"), std::string("-9"), longest})
        EXPECT_EQ(problem_with("name", text(right.c_str())), "none") << right;
    for (const std::string& wrong :
         {std::string(""), std::string("9a"), std::string("a b"), std::string("a.b"),
          std::string("a/b"), std::string("a:"), std::string("a@"), std::string("a["),
          std::string("a`"), std::string("a{"), std::string("\xc3\xa4"), longest + "n"})
        EXPECT_NE(problem_with("name", text(wrong.c_str())).find("expected a name: letters"),
                  std::string::npos)
            << wrong;
}

TEST(Names, AreUnique) {
    EXPECT_EQ(problem_with("name", text("wire")),
              "wire.name = \"wire\": expected a name that no other link or flow has");
}

TEST(Messages, NumberTablesWithoutAName) {
    EXPECT_EQ(problem(kLink, without(kFlow, "name")), "flow 1.name: is missing");
}

TEST(Messages, ShowTheFirstSixtyCharactersOfAValue) {
    const std::string most = std::string(58, 'x'), more = most + "y";
    const auto problem_of = [](const std::string& words) {
        const std::string all = problem_with("to", text(words.c_str()));
        return all.substr(0, all.find(": "));
    };
    EXPECT_EQ(problem_of(most), "tcp.to = \"" + most + "\"");
    EXPECT_EQ(problem_of(more), "tcp.to = \"" + more + "...");
    EXPECT_EQ(problem_with("to", text("a\nb")).find("tcp.to = \"a b\": "), 0u);
}

TEST(Messages, ListWhatIsKnown) {
    const auto problem_of = [](const char* on) {
        const Table loss = {{"rate", {0.5}}, {"on", text(on)}};
        return problem(with(kLink, "loss", {loss}));
    };
    EXPECT_EQ(problem_of("sideways"),
              "wire.loss.on = \"sideways\": expected one of: forward, backward, both");
    EXPECT_NE(problem_with("nothing-like-it", {true}).find(" more"), std::string::npos)
        << "a flow has more keys than a message lists";
}

TEST(Messages, SuggestWhatIsTwoEditsAway) {
    const auto problem_of = [](const char* kind) {
        return problem(with(kLink, "queue", {with(kQueue, "kind", text(kind))}));
    };
    for (const char* kind : {"droptial", "drptal", "droptailxx"})
        EXPECT_EQ(problem_of(kind),
                  "wire.queue.kind = \"" + std::string(kind) + "\": did you mean \"droptail\"?");
    EXPECT_EQ(problem_of("drpta").find("wire.queue.kind = \"drpta\": expected one of: droptail, "),
              0u);
    Table misspelt = without(kLink, "delay");
    misspelt.insert(misspelt.begin(), {"delya", text("45ms")});
    EXPECT_EQ(problem(misspelt), "wire.delya: no such key, did you mean \"delay\"?");
}

TEST(Messages, GiveTheBoundsOfANumber) {
    const Table red = {
        {"kind", text("red")}, {"limit", text("64KiB")}, {"min", {-1.0}}, {"max", {15.0}}};
    for (const auto& [least, shown] : {std::pair(-1.0, "-1"), std::pair(1e300, "1e+300")})
        EXPECT_EQ(problem(with(kLink, "queue", {with(red, "min", {least})}))
                      .find("wire.queue.min = " + std::string(shown) + ": expected a number from "),
                  0u);
}

}  // namespace
}  // namespace ww::plan::test
