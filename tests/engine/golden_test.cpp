// SPDX-License-Identifier: BSD-3-Clause
//
// tests/golden/engine/*.txt show what each recovery does about scripted losses, packet by packet.
// WW_UPDATE_GOLDEN=1 rewrites the files; review their difference like code: each names its clause.
// recovery_*_test.cpp has the clauses that need another script or setting.
#include "golden.hpp"

#include "scripted.hpp"

namespace ww::sim::test {
namespace {

constexpr Recovery kAll[] = {Recovery::tahoe, Recovery::reno,         Recovery::newreno,
                             Recovery::sack,  Recovery::rate_halving, Recovery::prr};

struct Golden {
    std::string name;      // name of the file
    std::string scenario;  // what is lost
    std::string shows;     // which clause, and what to look for
    Recovery recovery;
    Script script;
};

struct Case {
    std::string name, scenario;
    Script script;
    std::string shows[6];  // by recovery; "": as the one before
};

// Length: it is a table.
std::vector<Case> cases() {
    return {
        {"one-drop",
         "segment 4 is lost once",
         {{{4}}},
         {"Fall & Floyd 1996, 2.1: the third duplicate ACK starts slow start from the hole; RFC "
          "3042 sends a new segment for each of the first two",
          "RFC 5681, 3.2: ssthresh = FlightSize / 2 without what limited transmit sent, cwnd = "
          "ssthresh + 3, a segment more a duplicate ACK, cwnd = ssthresh on the ACK for new data",
          "RFC 6582, 3.2: as RFC 5681; the full ACK ends recovery with cwnd = min(ssthresh, "
          "max(FlightSize, 1) + 1)",
          "RFC 6675, 5: cwnd = ssthresh = FlightSize / 2 at once, sending by pipe < cwnd",
          "Dell'Aera et al. 2003, 2.2: one segment out for every two ACKs, cwnd falling to "
          "ssthresh",
          "RFC 9937, 6: the fast retransmit, then a segment for every second one delivered, so "
          "that cwnd ends at ssthresh"}},
        {"two-drops",
         "segments 4 and 7 are lost once",
         {{{4}, {7}}},
         {"Fall & Floyd 1996, 2.1: slow start from the hole sends what already arrived again",
          "RFC 5681, 3.2, and Fall & Floyd 1996, 2.2: the ACK of the first retransmission ends "
          "recovery; only three more duplicate ACKs start a second one",
          "RFC 6582, 3.2, step 3: the partial ACK retransmits the next hole and deflates the "
          "window",
          "RFC 6675, 5, step (C): the second hole is repaired in the same round trip",
          "Dell'Aera et al. 2003, 2.2: the second hole takes the place of a new segment; cwnd is "
          "held at in flight + 1",
          "RFC 9937, 6: the second hole is repaired by the same count of segments to send"}},
        {"three-drops",
         "segments 4, 6 and 8 are lost once",
         {{{4}, {6}, {8}}},
         {"Fall & Floyd 1996, 2.1: slow start repairs all holes on the way",
          "Fall & Floyd 1996, 2.2: with three losses in a window Reno must wait for a timeout",
          "RFC 6582, 3.2: a hole a round trip; the timer restarts on the first partial ACK only",
          "RFC 6675, 5: all holes in one round trip, by pipe",
          "Dell'Aera et al. 2003, 2.2: all holes in one round trip, a segment for every two ACKs, "
          "never below ssthresh",
          "RFC 9937, 6: three losses bring in flight below ssthresh; what was delivered limits "
          "what is sent"}},
        {"lost-retransmission",
         "segment 4 is lost twice",
         {{{4}, {4, 2}}},
         {"RFC 6298, 5.4 to 5.6: only the timer repairs a lost retransmission", "",
          "RFC 6582, 3.2, step 4: the timeout ends recovery and is remembered in recover",
          "RFC 6675, 5.1: the timeout ends recovery; what is SACKed is not sent again", "", ""}},
        {"lost-acks",
         "the ACKs of segments 12 to 19, the whole second half of a window, are lost",
         {{}, {14, 15, 16, 17, 18, 19, 20, 21}},
         {"RFC 9293, 3.4: a later ACK covers all that were lost; nothing is sent twice", "", "", "",
          "", ""}},
        {"timeout-in-recovery",
         "segment 4 is lost once, segment 7 twice",
         {{{4}, {7}, {7, 2}}},
         {"Fall & Floyd 1996, 2.1: slow start meets the second hole, whose repair is lost",
          "RFC 5681, 3.2: recovery ended by the ACK of segment 4; RFC 6298, 5.4 for what is left",
          "RFC 6582, 3.2: the impatient timer is not restarted after the first partial ACK, step 4",
          "RFC 6675, 5.1: a retransmission lost in recovery waits for the timer", "", ""}},
    };
}

// The losses come two windows later, after round trips have been measured.
std::vector<Golden> later(const Case& c) {
    Script script{c.script.lost, {}, {}};
    for (Transmission& lost : script.lost) lost.segment += 20;
    const std::string what =
        c.name == "one-drop" ? "segment 24 is lost once" : "segments 24, 26 and 28 are lost once";
    const auto with = [&](const char* title, const char* shows, ww_protocol protocol,
                          Recovery recovery) {
        script.change = [protocol](Network& network) {
            network.flows[0].cc = ww_configure(protocol);
            network.flows[0].cc.byte_counting = false;
        };
        return Golden{std::string(title) + "-" + c.name,
                      what + "; " + title + " on " + name_of(recovery), shows, recovery, script};
    };
    return {with("westwood+",
                 "Dell'Aera et al. 2003, 2.1: ssthresh = cwnd = BWE * RTTmin / MSS, "
                 "then RFC 6582",
                 WW_PROTOCOL_WESTWOOD_PLUS, Recovery::newreno),
            with("westwood+-linux24",
                 "Dell'Aera et al. 2003, 2.2: a segment for every two ACKs, "
                 "never below BWE * RTTmin, and cwnd = BWE * RTTmin as it is at the end",
                 WW_PROTOCOL_WESTWOOD_PLUS_LINUX24, Recovery::rate_halving),
            with("westwood+-linux",
                 "Linux, tcp_westwood.c: Reno's half during recovery, BWE * RTTmin "
                 "when it is complete",
                 WW_PROTOCOL_WESTWOOD_PLUS_LINUX, Recovery::prr)};
}

std::vector<Golden> goldens() {
    std::vector<Golden> all;
    for (const Case& c : cases()) {
        std::string shows;
        for (const Recovery r : kAll) {
            const std::string name = std::string(name_of(r)) + "-" + c.name;
            if (!c.shows[static_cast<int>(r)].empty()) shows = c.shows[static_cast<int>(r)];
            all.push_back({name, c.scenario, shows, r, c.script});
        }
        if (c.name != "one-drop" && c.name != "three-drops") continue;
        for (const Golden& golden : later(c)) all.push_back(golden);
    }
    return all;
}
std::string wrapped(const std::string& text) {
    std::istringstream words(text);
    std::string lines, line = "#";
    for (std::string word; words >> word;) {
        if (line.size() + 1 + word.size() > 100) {
            lines += line + "\n";
            line = "#";
        }
        line += " " + word;
    }
    return lines + line + "\n";
}

class GoldenTest : public testing::TestWithParam<Golden> {};

TEST_P(GoldenTest, MatchesItsFile) {
    const Golden& golden = GetParam();
    const ScriptedRun run(golden.recovery, golden.script);
    const std::string text = wrapped(golden.name + ": " + golden.scenario + ".") +
                             wrapped("Shows " + golden.shows + ".") + run.table();
    expect_golden("tests/golden/engine/" + golden.name + ".txt", text);
}

INSTANTIATE_TEST_SUITE_P(Engine, GoldenTest, testing::ValuesIn(goldens()),
                         [](const auto& tested) { return title_of(tested.param.name); });

}  // namespace
}  // namespace ww::sim::test
