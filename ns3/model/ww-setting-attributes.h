/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Turns a setting of the core into an attribute: defines how ns-3 writes each form of setting, its
 * checker and its accessor. Only ww-settings.cc needs this header.
 */
#ifndef WW_SETTING_ATTRIBUTES_H
#define WW_SETTING_ATTRIBUTES_H

#include "ww-settings.h"

#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <vector>

namespace ns3::ww
{

inline constexpr const char* DEFAULT = "Default"; //!< keeps the protocol's own value

/// A row of WW_SETTINGS. In this file a setting is a whole number in the unit of its field.
struct Setting
{
    std::string name; // name of the attribute
    std::string what;
    uint32_t controls;              // controls that use it
    uint32_t least, most;           // inclusive bounds
    bool hasNone;                   // 0 is also allowed
    bool hasDefault;                // DEFAULT is also allowed
    std::vector<std::string> words; // names of its numbers, if it is a choice
    uint32_t (*read)(const ww_config& config);
    void (*write)(ww_config& config, uint32_t number);
    TypeId (*add)(TypeId tid, const Setting& setting, WwSettings::Of of);  // adds the attribute
    Ptr<AttributeValue> (*value)(const Setting& setting, uint32_t number); // as an ns-3 value
};

// Each class below defines how ns-3 writes a setting of one form, and parses the number from the
// user's text. The parser returns nothing if the text is not a whole number of the field's unit.

struct Flag
{
    using Value = BooleanValue;
    static constexpr const char* TYPE = "ns3::BooleanValue";

    static Value Write(const Setting&, uint32_t number)
    {
        return Value(number != 0);
    }

    static std::optional<uint32_t> Read(const Setting&, const Value& value)
    {
        return value.Get();
    }
};

struct Whole
{
    using Value = UintegerValue;
    static constexpr const char* TYPE = "ns3::UintegerValue";

    static Value Write(const Setting&, uint32_t number)
    {
        return Value(number);
    }

    static std::optional<uint32_t> Read(const Setting&, const Value& value)
    {
        return static_cast<uint32_t>(std::min<uint64_t>(value.Get(), UINT32_MAX));
    }
};

struct Microseconds
{
    using Value = TimeValue;
    static constexpr const char* TYPE = "ns3::TimeValue";

    static Value Write(const Setting&, uint32_t number)
    {
        return Value(MicroSeconds(number));
    }

    static std::optional<uint32_t> Read(const Setting&, const Value& value)
    {
        const int64_t us = value.Get().GetMicroSeconds();
        if (us < 0 || us > UINT32_MAX || MicroSeconds(us) != value.Get())
        {
            return std::nullopt;
        }
        return static_cast<uint32_t>(us);
    }
};

struct Thousandths
{
    using Value = DoubleValue;
    static constexpr const char* TYPE = "ns3::DoubleValue";

    static Value Write(const Setting&, uint32_t number)
    {
        return Value(number / 1000.0);
    }

    static std::optional<uint32_t> Read(const Setting&, const Value& value)
    {
        const double permille = std::round(1000.0 * value.Get());
        const bool isWhole = std::abs(1000.0 * value.Get() - permille) < 1e-6;
        if (!isWhole || permille < 0 || permille > UINT32_MAX)
        {
            return std::nullopt;
        }
        return static_cast<uint32_t>(permille);
    }
};

/// A word, which must be one of a setting's. It is a separate class because ns-3 tries a user's
/// StringValue before it makes a value of the checker's class: otherwise it would refuse it twice.
class WordValue : public StringValue
{
  public:
    using StringValue::StringValue;

    Ptr<AttributeValue> Copy() const override
    {
        return Create<WordValue>(*this);
    }
};

struct Word
{
    using Value = WordValue;
    static constexpr const char* TYPE = "ns3::StringValue";

    static Value Write(const Setting& setting, uint32_t number)
    {
        return Value(setting.words.at(number));
    }

    static std::optional<uint32_t> Read(const Setting& setting, const Value& value)
    {
        const auto& words = setting.words;
        const auto found = std::find(words.begin(), words.end(), value.Get());
        if (found == words.end())
        {
            return std::nullopt;
        }
        return static_cast<uint32_t>(found - words.begin());
    }
};

inline std::string
Join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
    {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

/// Describes the values that a setting accepts: "0, 2 to 16 or Default".
template <class Form>
std::string
Expected(const Setting& setting)
{
    const auto text = [&](uint32_t number) {
        return Form::Write(setting, number).SerializeToString(nullptr);
    };
    const std::string between = setting.most - setting.least > 1 ? " to " : ", ";
    const std::string range = setting.words.empty()
                                  ? text(setting.least) + between + text(setting.most)
                                  : Join(setting.words);
    return (setting.hasNone ? "0, " : "") + range +
           (setting.hasDefault ? std::string(" or ") + DEFAULT : "");
}

inline bool
IsDefault(const AttributeValue& value)
{
    const auto* word = dynamic_cast<const StringValue*>(&value);
    return word && word->Get() == DEFAULT;
}

/// Returns whether a setting accepts a value; otherwise logs what it accepts.
template <class Form>
bool
Accepts(const Setting& setting, const typename Form::Value& value)
{
    const auto number = Form::Read(setting, value);
    const bool isNone = setting.hasNone && number == 0u;
    if (number && (isNone || (setting.least <= *number && *number <= setting.most)))
    {
        return true;
    }
    std::cerr << "ns3::WwTcpWestwood::" << setting.name << " = " << value.SerializeToString(nullptr)
              << ": expected " << Expected<Form>(setting) << "\n";
    return false;
}

/// Rejects invalid values of a setting.
template <class Form>
class SettingChecker : public AttributeChecker
{
  public:
    using Value = typename Form::Value;

    SettingChecker(const Setting& setting, const char* type)
        : m_setting(setting),
          m_type(type)
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        // ns-3 checks a text first, and then the Value that it makes from the text.
        const auto* typed = dynamic_cast<const Value*>(&value);
        return (m_setting.hasDefault && IsDefault(value)) ||
               (typed && Accepts<Form>(m_setting, *typed));
    }

    std::string GetValueTypeName() const override
    {
        return m_type;
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return Expected<Form>(m_setting);
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<Value>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto* from = dynamic_cast<const Value*>(&source);
        auto* const to = dynamic_cast<Value*>(&destination);
        if (from && to)
        {
            *to = *from;
        }
        return from && to;
    }

  private:
    const Setting& m_setting;
    const char* m_type;
};

/// Stores the user's value, and returns the value in force.
template <class Form>
class SettingAccessor : public AttributeAccessor
{
  public:
    using Value = typename Form::Value;

    SettingAccessor(const Setting& setting, WwSettings::Of of)
        : m_setting(setting),
          m_of(of)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto& given = m_of(*object).given;
        const auto* typed = dynamic_cast<const Value*>(&value);
        if (IsDefault(value))
        {
            given.erase(m_setting.name);
        }
        else if (const auto number = typed ? Form::Read(m_setting, *typed) : std::nullopt)
        {
            given[m_setting.name] = *number;
        }
        else
        {
            return false;
        }
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        auto* const typed = dynamic_cast<Value*>(&value);
        if (typed)
        {
            *typed = Form::Write(m_setting, m_setting.read(m_of(*object).Configuration()));
        }
        return typed;
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    const Setting& m_setting;
    WwSettings::Of m_of;
};

template <class Form>
Ptr<AttributeValue>
MakeValue(const Setting& setting, uint32_t number)
{
    return Form::Write(setting, number).Copy();
}

template <class Form>
TypeId
AddAttribute(TypeId tid, const Setting& setting, WwSettings::Of of)
{
    return tid.AddAttribute(setting.name,
                            setting.what + ": " + Expected<Form>(setting),
                            StringValue(DEFAULT),
                            Create<SettingAccessor<Form>>(setting, of),
                            Create<SettingChecker<Form>>(setting, Form::TYPE));
}

} // namespace ns3::ww

#endif /* WW_SETTING_ATTRIBUTES_H */
