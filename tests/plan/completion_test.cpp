// SPDX-License-Identifier: BSD-3-Clause
//
// A scenario is completed from its profile. What it sets stays, and a setting follows from the protocol and its recovery.
#include "plan/completion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ww::plan::test {
namespace {

const Profile kProfile(
    {{"link", {Table{{"queue", {std::string("usual")}}}}},
     {"loss", {Table{{"on", {std::string("forward")}}}}},
     {"flow", {Table{{"header", {std::string("40B")}}, {"undo", {false}}}}},
     {"sack",
      {Table{
          {"recovery", {std::string("prr")}}, {"header", {std::string("52B")}}, {"undo", {true}}}}},
     {"cubic",
      {Table{{"slow_start", {std::string("hystart")}}, {"filter", {std::string("tustin")}}}}},
     {"westwood", {Table{{"recovery", {std::string("newreno")}}}}}});

const Value* value(const Table& table, const std::string& key) {
    const auto entry = std::find_if(table.begin(), table.end(),
                                    [&](const Entry& candidate) { return candidate.key == key; });
    return entry == table.end() ? nullptr : &entry->value;
}

std::string word(const Table& table, const std::string& key) {
    const Value* item = value(table, key);
    return item ? std::get<std::string>(item->is) : "missing";
}

Table flow(const Table& given) {
    Table scenario = {{"flow", {List{{given}}}}};
    kProfile.complete(scenario);
    return std::get<Table>(std::get<List>(value(scenario, "flow")->is)[0].is);
}

TEST(Completion, TheRecoveryFollowsFromTheProtocolAndItsSettingsFromTheRecovery) {
    EXPECT_EQ(word(kProfile.flow("cubic", std::nullopt), "recovery"), "prr");
    EXPECT_EQ(word(kProfile.flow("cubic", std::nullopt), "header"), "52B") << "it has SACK";
    EXPECT_EQ(word(kProfile.flow("tahoe", std::nullopt), "recovery"), "tahoe") << "its own";
    EXPECT_EQ(word(kProfile.flow("tahoe", std::nullopt), "header"), "40B");
    EXPECT_EQ(word(kProfile.flow("westwood+", std::nullopt), "recovery"), "newreno");
    EXPECT_EQ(word(kProfile.flow("tahoe", "prr"), "header"), "52B") << "the chosen one decides";
}

TEST(Completion, AProtocolHasTheSettingsThatItUses) {
    EXPECT_EQ(word(kProfile.cc("cubic"), "slow_start"), "hystart");
    EXPECT_EQ(kProfile.cc("cubic").size(), 1u) << "CUBIC has no filter of an estimate";
    EXPECT_TRUE(kProfile.cc("reno").empty());
    EXPECT_TRUE(kProfile.cc("nobody").empty());
}

TEST(Completion, WhatAScenarioSetsStays) {
    const Table completed =
        flow({{"cc", {Table{{"name", {std::string("cubic")}}, {"slow_start", {std::string("x")}}}}},
              {"header", {std::string("60B")}}});
    EXPECT_EQ(word(completed, "header"), "60B");
    EXPECT_EQ(word(completed, "recovery"), "prr");
    EXPECT_EQ(word(std::get<Table>(value(completed, "cc")->is), "slow_start"), "x");
}

TEST(Completion, AWordForAControlOrAnApplicationBecomesATable) {
    const Table completed = flow({{"cc", {std::string("reno")}}, {"app", {std::string("bulk")}}});
    EXPECT_EQ(word(std::get<Table>(value(completed, "cc")->is), "name"), "reno");
    EXPECT_EQ(word(std::get<Table>(value(completed, "app")->is), "kind"), "bulk");
}

TEST(Completion, DatagramsRefuseWhatHasNoEffectOnThem) {
    const Table app = {{"kind", {std::string("udp")}}};
    EXPECT_EQ(word(std::get<Table>(value(flow({{"app", {app}}}), "cc")->is), "name"), "udp");
    try {
        flow({{"name", {std::string("noise")}}, {"app", {app}}, {"ecn", {true}}});
        FAIL() << "it took a setting of TCP";
    } catch (const Problem& wrong) {
        EXPECT_STREQ(wrong.what(), "noise.ecn = true: has no effect on datagrams, or is no key");
    }
}

TEST(Completion, WhatIsNoTableStaysForTheReaderToRefuse) {
    Table scenario = {{"flow", {List{{true}}}}, {"link", {std::string("none")}}};
    kProfile.complete(scenario);
    EXPECT_EQ(word(scenario, "link"), "none");
}

}  // namespace
}  // namespace ww::plan::test
