/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests the settings of core/settings.h as attributes: their names, valid and invalid values, and
 * that a setting keeps the protocol's own value until it is set.
 */
#include "../model/ww-settings.h"

#include "ns3/core-module.h"
#include "ns3/ww-catalogue.h"
#include "ns3/ww-tcp-westwood.h"

#include <tuple>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

Ptr<WwTcpWestwood>
Make(const std::string& protocol)
{
    return CreateObjectWithAttributes<WwTcpWestwood>("Protocol", StringValue(protocol));
}

template <class Value>
auto
Get(Ptr<WwTcpWestwood> westwood, const std::string& name)
{
    Value value;
    westwood->GetAttribute(name, value);
    return value.Get();
}

/// Makes a configuration with every setting at a bound, unlike any protocol or default.
ww_config
UncommonConfiguration()
{
    ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_PLUS);
#define WW_CHANGE(kind, name, fallback, least, most, ...)                                          \
    config.WW_FIELD(kind, name) =                                                                  \
        static_cast<WW_TYPE_##kind>(config.WW_FIELD(kind, name) == (most) ? (least) : (most));
    WW_SETTINGS(WW_CHANGE)
#undef WW_CHANGE
    return config;
}

/// Lists the settings in which two configurations differ.
std::vector<std::string>
Differences(const ww_config& a, const ww_config& b)
{
    std::vector<std::string> names;
#define WW_COMPARE(kind, name, ...)                                                                \
    if (a.WW_FIELD(kind, name) != b.WW_FIELD(kind, name))                                          \
    {                                                                                              \
        names.emplace_back(#name);                                                                 \
    }
    WW_SETTINGS(WW_COMPARE)
#undef WW_COMPARE
    return names;
}

} // namespace

/** \brief Exactly the settings that the family uses are attributes. */
class WwSettingNamesTestCase : public TestCase
{
  public:
    WwSettingNamesTestCase()
        : TestCase("An attribute has its setting's name in ns-3's spelling")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [name, isThere] : {std::pair("Tau", true),
                                            std::pair("M", true),
                                            std::pair("MinInterval", true),
                                            std::pair("SetCwndOnLoss", true),
                                            std::pair("ByteCounting", true), // all but BBRv1 use it
                                            std::pair("VegasAlpha", false),  // only Vegas uses it
                                            std::pair("BatchedAcks", false)}) // set by the host
        {
            TypeId::AttributeInformation info;
            const bool isFound = WwTcpWestwood::GetTypeId().LookupAttributeByName(name, &info);
            NS_TEST_EXPECT_MSG_EQ(isFound, isThere, name);
        }
    }
};

/** \brief Unless it is set, a setting has the protocol's own value, whatever its default. */
class WwOwnSettingsTestCase : public TestCase
{
  public:
    WwOwnSettingsTestCase()
        : TestCase("A protocol's own values hold unless the user sets others")
    {
    }

  private:
    void DoRun() override
    {
        const ww_config own = UncommonConfiguration();
        WwSettings settings;
        NS_TEST_EXPECT_MSG_EQ(Differences(settings.Over(own), own).size(), 0, "nothing was set");
        settings.given["Tau"] = 250000;
        NS_TEST_EXPECT_MSG_EQ(
            (Differences(settings.Over(own), own) == std::vector<std::string>{"tau"}),
            true,
            "only Tau was set");
        NS_TEST_EXPECT_MSG_EQ(settings.Over(own).tau_us, 250000, "Tau");
        for (const std::string& protocol : WwFamily())
        {
            Own(protocol);
        }
    }

    /// Checks the attributes of a protocol with no attribute set.
    void Own(const std::string& protocol)
    {
        WwSettings settings;
        settings.protocol = protocol;
        const ww_config config = settings.Configuration();
        const auto westwood = Make(protocol);
        const double cte = Get<DoubleValue>(westwood, "Cte");
        NS_TEST_EXPECT_MSG_EQ_TOL(1000 * cte, config.cte_permille, 1e-6, protocol);
        const double alpha = Get<DoubleValue>(westwood, "Alpha");
        NS_TEST_EXPECT_MSG_EQ_TOL(1000 * alpha, config.alpha_permille, 1e-6, protocol);
        NS_TEST_EXPECT_MSG_EQ(Get<UintegerValue>(westwood, "M"), config.m, protocol);
        NS_TEST_EXPECT_MSG_EQ(Get<TimeValue>(westwood, "Tau"),
                              MicroSeconds(config.tau_us),
                              protocol);
        NS_TEST_EXPECT_MSG_EQ(Get<BooleanValue>(westwood, "LiteralCount"),
                              config.literal_count,
                              protocol);
        NS_TEST_EXPECT_MSG_EQ(Get<BooleanValue>(westwood, "ByteCounting"),
                              false,
                              "ns-3 counts ACKs");
        NS_TEST_EXPECT_MSG_EQ(Get<BooleanValue>(westwood, "ValidateCwnd"),
                              false,
                              "ns-3 grows the window even if it is not full");
    }
};

/** \brief Sets a protocol and a setting in either order, and resets the setting. */
class WwSettingOrderTestCase : public TestCase
{
  public:
    WwSettingOrderTestCase()
        : TestCase("A setting stays when the protocol changes, until it is set to Default")
    {
    }

  private:
    void DoRun() override
    {
        const auto westwood = Make("westwoodnr+");
        NS_TEST_EXPECT_MSG_EQ(Get<DoubleValue>(westwood, "Cte"), 2.0, "its own cte");
        NS_TEST_EXPECT_MSG_EQ(Get<StringValue>(westwood, "Filter"), "tustin", "and filter");
        westwood->SetAttribute("Cte", DoubleValue(3.6));
        westwood->SetAttribute("Filter", StringValue("none"));
        westwood->SetAttribute("Protocol", StringValue("westwood+"));
        NS_TEST_EXPECT_MSG_EQ(Get<DoubleValue>(westwood, "Cte"), 3.6, "the value that was set");
        westwood->SetAttribute("Cte", StringValue("Default"));
        westwood->SetAttribute("Filter", StringValue("Default"));
        NS_TEST_EXPECT_MSG_EQ(Get<DoubleValue>(westwood, "Cte"), 0.0, "westwood+ has none");
        NS_TEST_EXPECT_MSG_EQ(Get<StringValue>(westwood, "Filter"), "ewma", "westwood+'s own");
        westwood->SetAttribute("Cte", DoubleValue(0)); // no plateau, with any protocol
        westwood->SetAttribute("Protocol", StringValue("westwoodnr+"));
        NS_TEST_EXPECT_MSG_EQ(Get<DoubleValue>(westwood, "Cte"), 0.0, "0 is a valid setting");
    }
};

/** \brief Values out of bounds, or finer than the core's units, are rejected. */
class WwRefusedSettingsTestCase : public TestCase
{
  public:
    WwRefusedSettingsTestCase()
        : TestCase("An invalid value is rejected and changes nothing")
    {
    }

  private:
    void DoRun() override
    {
        const auto westwood = Make("westwood");
        const UintegerValue one(1);
        NS_TEST_EXPECT_MSG_EQ(westwood->SetAttributeFailSafe("M", one), false, "m = 1");
        NS_TEST_EXPECT_MSG_EQ(Get<UintegerValue>(westwood, "M"), 10, "unchanged");
        NS_TEST_EXPECT_MSG_EQ(Config::SetDefaultFailSafe("ns3::WwTcpWestwood::M", one),
                              false,
                              "m = 1 for all");
        for (const auto& [name, text, isTaken] :
             std::vector<std::tuple<std::string, std::string, bool>>{
                 {"M", "0", true},
                 {"M", "2", true},
                 {"M", "16", true},
                 {"M", "17", false},
                 {"MinCwnd", "0", false},
                 {"MinCwnd", "4294967298", false},
                 {"Tau", "2us", true},
                 {"Tau", "1.9us", false},
                 {"Tau", "0s", false},
                 {"Tau", "61s", false},
                 {"Alpha", "0.9", true},
                 {"Alpha", "0.9004", false},
                 {"Alpha", "1.001", false},
                 {"Alpha", "-0.1", false},
                 {"Cte", "0", true},
                 {"Cte", "0.5", false},
                 {"Filter", "ewma-twice", true},
                 {"Filter", "Tustin", false},
                 {"Protocol", "westwoodnr", true},
                 {"Protocol", "cubic", false},
                 {"Protocol", "Default", false}})
        {
            NS_TEST_EXPECT_MSG_EQ(westwood->SetAttributeFailSafe(name, StringValue(text)),
                                  isTaken,
                                  name << " = " << text);
        }
    }
};

/** \brief The suite. */
class WwSettingsTestSuite : public TestSuite
{
  public:
    WwSettingsTestSuite()
        : TestSuite("ww-settings", Type::UNIT)
    {
        AddTestCase(new WwSettingNamesTestCase);
        AddTestCase(new WwOwnSettingsTestCase);
        AddTestCase(new WwSettingOrderTestCase);
        AddTestCase(new WwRefusedSettingsTestCase);
    }
};

static WwSettingsTestSuite g_wwSettingsTestSuite; //!< registers itself
