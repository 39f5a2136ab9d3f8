/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-settings.h"

#include "ww-catalogue.h"
#include "ww-setting-attributes.h"

#include "ns3/abort.h"

#include <sstream>
#include <string_view>

namespace ns3
{

namespace
{

using namespace ww;

/// Spells min_interval as MinInterval, in ns-3's style for attributes.
std::string
CamelCase(const std::string& declared)
{
    std::string name;
    bool startsWord = true;
    for (const char letter : declared)
    {
        if (letter != '_')
        {
            const bool isSmall = letter >= 'a' && letter <= 'z';
            name += startsWord && isSmall ? static_cast<char>(letter - 'a' + 'A') : letter;
        }
        startsWord = letter == '_';
    }
    return name;
}

// core/settings.h explains the kinds. Each has a form; a choice has words.
using FormOf_SWITCH = Flag;
using FormOf_COUNT = Whole;
using FormOf_COUNT_OR_NONE = Whole;
using FormOf_SPAN = Microseconds;
using FormOf_SHARE = Thousandths;
using FormOf_FACTOR_OR_NONE = Thousandths;
using FormOf_CHOICE = Word;

constexpr bool
EndsWith(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

#define WW_WORD(id, word) word,
#define WW_WORDS_SWITCH(name)
#define WW_WORDS_COUNT(name)
#define WW_WORDS_COUNT_OR_NONE(name)
#define WW_WORDS_SPAN(name)
#define WW_WORDS_SHARE(name)
#define WW_WORDS_FACTOR_OR_NONE(name)
#define WW_WORDS_CHOICE(name) WW_CHOICES_##name(WW_WORD)

/// Lists every setting of core/settings.h.
const std::vector<Setting>&
Settings()
{
#define WW_SETTING(kind, name, fallback, least, most, controls, what, why)                         \
    {CamelCase(#name),                                                                             \
     what,                                                                                         \
     controls,                                                                                     \
     least,                                                                                        \
     most,                                                                                         \
     EndsWith(#kind, "_OR_NONE"),                                                                  \
     true,                                                                                         \
     {WW_WORDS_##kind(name)},                                                                      \
     [](const ww_config& c) -> uint32_t { return c.WW_FIELD(kind, name); },                        \
     [](ww_config& c, uint32_t n) { c.WW_FIELD(kind, name) = static_cast<WW_TYPE_##kind>(n); },    \
     AddAttribute<FormOf_##kind>,                                                                  \
     MakeValue<FormOf_##kind>},
    static const std::vector<Setting> settings{WW_SETTINGS(WW_SETTING)};
#undef WW_SETTING
    return settings;
}

/// Returns whether some control of WwTcpWestwood uses a setting.
bool
IsAttribute(const Setting& setting)
{
#define WW_CONTROL(ID, name, ALGORITHM, RECOVERY, settings, label, look, ns3Class, ...)            \
    (std::string_view(ns3Class) == "WwTcpWestwood" ? WW_ONLY(ALGORITHM) : 0) |
    constexpr uint32_t controls = WW_PROTOCOLS(WW_CONTROL) WW_ONLY(LOADED);
#undef WW_CONTROL
    return (setting.controls & controls) != 0;
}

ww_protocol
ProtocolNamed(const std::string& name)
{
    const WwProtocol* const row = WwFindProtocol(name);
    return row ? static_cast<ww_protocol>(row - WwProtocols().data()) : WW_PROTOCOL_COUNT;
}

/// Makes the configuration of a user's control.
ww_config
ConfigurationOf(const ww_control_ops& ops, const std::string& parameters)
{
    ww_config config = ww_configure(static_cast<ww_protocol>(ops.like));
    config.algorithm = WW_ALG_LOADED;
    config.control = &ops;
    std::istringstream words(parameters);
    for (uint32_t i = 0; i < ops.parameter_count; i++)
    {
        const ww_parameter& one = ops.parameters[i];
        uint32_t value = one.fallback;
        const bool isGiven = parameters.empty() || words >> value;
        NS_ABORT_MSG_IF(!isGiven || value < one.least || value > one.most,
                        "parameter " << one.name << " of \"" << parameters << "\": expected "
                                     << one.least << " to " << one.most);
        config.own[i] = value;
    }
    return config;
}

/// Describes the attribute Protocol as a choice among the family.
const Setting&
ProtocolSetting()
{
    static const auto last = static_cast<uint32_t>(WwFamily().size() - 1);
    static const Setting
        setting{"Protocol", "", 0, 0, last, false, false, WwFamily(), {}, {}, {}, {}};
    return setting;
}

} // namespace

TypeId
WwSettings::AddAttributes(TypeId tid, Of of)
{
    for (const Setting& setting : Settings())
    {
        if (IsAttribute(setting))
        {
            tid = setting.add(tid, setting, of);
        }
    }
    return tid;
}

std::string
WwSettings::ProtocolNames()
{
    return Expected<Word>(ProtocolSetting());
}

Ptr<const AttributeChecker>
WwSettings::ProtocolChecker()
{
    return Create<SettingChecker<Word>>(ProtocolSetting(), Word::TYPE);
}

std::map<std::string, Ptr<AttributeValue>>
WwSettings::Values(const ww_config& config)
{
    std::map<std::string, Ptr<AttributeValue>> values;
    for (const Setting& setting : Settings())
    {
        if (IsAttribute(setting))
        {
            values[setting.name] = setting.value(setting, setting.read(config));
        }
    }
    return values;
}

std::map<std::string, const ww_control_ops*>&
WwSettings::Controls()
{
    static std::map<std::string, const ww_control_ops*> controls;
    return controls;
}

ww_config
WwSettings::Configuration(const std::string& parameters) const
{
    ww_config config = control.empty() ? ww_configure(ProtocolNamed(protocol))
                                       : ConfigurationOf(*Controls().at(control), parameters);
    config.byte_counting = false; // ns-3 counts ACKs,
    config.validate_cwnd = false; // and grows the window even if it is not full
    return Over(config);
}

ww_config
WwSettings::Over(ww_config own) const
{
    for (const Setting& setting : Settings())
    {
        const auto found = given.find(setting.name);
        if (found != given.end())
        {
            setting.write(own, found->second);
        }
    }
    return own;
}

} // namespace ns3
