// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a plan as the text that `read_plan` (plan.hpp) reads.
#pragma once

#include <charconv>
#include <string>
#include <type_traits>

#include "plan.hpp"

namespace ww::wire {

// The text, statement by statement.
class PlanText {
  public:
    template <class... Values>
    void say(const char* name, const Values&... values) {
        text_ += name;
        (add(values), ...);
        text_ += '\n';
    }

    // Says a setting; a value that stands for "no limit" is -1.
    template <class Number>
    void say_or_none(const char* name, Number value, Number none) {
        if (value == none)
            say(name, -1);
        else
            say(name, value);
    }

    template <class Number>
    void say_all(const char* name, const std::vector<Number>& values) {
        text_ += name;
        for (const Number value : values) add(value);
        text_ += '\n';
    }

    const std::string& text() const { return text_; }

  private:
    void add(const char* word) { (text_ += ' ') += word; }
    void add(bool flag) { add(flag ? "1" : "0"); }

    template <class Number>
    std::enable_if_t<std::is_arithmetic_v<Number>> add(Number value) {
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        (text_ += ' ').append(digits, end);
    }

    std::string text_;
};

// Each macro says one kind of setting of object `o`.
#define WW_SAY_NUMBER(name, setting, value) plan.say(name, value);
#define WW_SAY_SWITCH WW_SAY_NUMBER
#define WW_SAY_COUNT WW_SAY_NUMBER
#define WW_SAY_COUNT_OR_NONE WW_SAY_NUMBER
#define WW_SAY_SPAN WW_SAY_NUMBER
#define WW_SAY_SHARE WW_SAY_NUMBER
#define WW_SAY_FACTOR_OR_NONE WW_SAY_NUMBER
#define WW_SAY_PACKETS WW_SAY_NUMBER
#define WW_SAY_RATE WW_SAY_NUMBER
#define WW_SAY_TIME WW_SAY_NUMBER
#define WW_SAY_TIME_OR_NEVER(name, setting, value) plan.say_or_none(name, value, sim::kNever);
#define WW_SAY_BYTES WW_SAY_NUMBER
#define WW_SAY_SIZE_OR_ALL(name, setting, value) plan.say_or_none(name, value, sim::kUnlimited);
#define WW_SAY_SEGMENTS WW_SAY_NUMBER
#define WW_SAY_SSTHRESH(name, setting, value) \
    plan.say_or_none(name, value, std::uint32_t{WW_SSTHRESH_INFINITE});
#define WW_SAY_CHOICE(name, setting, value) \
    plan.say(name, word_of(value, {WW_CHOICES_##setting(WW_READ_WORD)}));

inline const char* word_of(int value, std::initializer_list<Choice<int>> choices) {
    for (const Choice<int>& choice : choices)
        if (choice.value == value) return choice.word;
    throw PlanError("no word for the choice " + std::to_string(value));
}

#define WW_SAY_SETTING(kind, setting, ...)                               \
    WW_SAY_##kind(WW_READ_TEXT(WW_ENGINE_FIELD(kind, setting)), setting, \
                  o.WW_ENGINE_FIELD(kind, setting))
#define WW_SAY_KIND_SETTING(kind, setting, ...)                                             \
    WW_SAY_##kind((prefix + WW_READ_TEXT(WW_ENGINE_FIELD(kind, setting))).c_str(), setting, \
                  o.WW_ENGINE_FIELD(kind, setting))
// The host sets what no control obeys.
#define WW_SAY_CC_SETTING(kind, setting, fallback, least, most, controls, ...) \
    if ((controls) != WW_BY_HOST) {                                            \
        WW_SAY_##kind("cc." WW_READ_TEXT(WW_FIELD(kind, setting)), setting,    \
                      o.WW_FIELD(kind, setting))                               \
    }

#define WW_LOSS(name, Settings, Model, PREFIX, ...)                  \
    inline void write_loss(PlanText& plan, const sim::Settings& o) { \
        using namespace sim;                                         \
        const std::string prefix = #name ".";                        \
        plan.say("loss " #name);                                     \
        WW_##PREFIX##_SETTINGS(WW_SAY_KIND_SETTING)                  \
    }
WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
inline void write_loss(PlanText& plan, std::monostate) { plan.say("loss none"); }
inline void write_loss(PlanText& plan, const sim::LossList& o) {
    plan.say_all("loss script", o.packets);
}

inline void write_discipline(PlanText& plan, const sim::Direction& direction) {
    switch (direction.queue_kind) {
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)        \
    case sim::QueueKind::name: {                            \
        const sim::Settings& o = direction.name;            \
        const std::string prefix = #name ".";               \
        WW_##PREFIX##_SETTINGS(WW_SAY_KIND_SETTING) return; \
    }
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case sim::QueueKind::droptail:
        break;
    }
}

inline void write_impairments(PlanText& plan, const sim::Direction& direction) {
    using namespace sim;
#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, ...) \
    if (direction.name) {                                 \
        const Settings& o = *direction.name;              \
        const std::string prefix = #name ".";             \
        WW_##PREFIX##_SETTINGS(WW_SAY_KIND_SETTING)       \
    }
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
}

inline void write_direction(PlanText& plan, const sim::Direction& o) {
    WW_DIRECTION_SETTINGS(WW_SAY_SETTING)
    const auto limit = [](std::int64_t most) { return most == sim::kUnlimited ? -1 : most; };
    plan.say("queue", limit(o.queue_packets), limit(o.queue_bytes));
    std::visit([&plan](const auto& loss) { write_loss(plan, loss); }, o.loss);
    write_discipline(plan, o);
    write_impairments(plan, o);
    if (!o.delay_changes.at.empty()) {
        std::vector<sim::Time> numbers = {o.delay_changes.period};
        for (std::size_t i = 0; i < o.delay_changes.at.size(); i++)
            numbers.insert(numbers.end(), {o.delay_changes.at[i], o.delay_changes.delays[i]});
        plan.say_all("delays", numbers);
    }
    if (!o.opportunities_ms.empty()) plan.say_all("opportunities", o.opportunities_ms);
}

inline void write_links(PlanText& plan, const sim::Network& network, sim::Time duration) {
    plan.say("nodes", network.nodes);
    plan.say("duration", duration);
    for (const sim::Link& o : network.links) {
        plan.say("link", o.a, o.b);
        WW_LINK_SETTINGS(WW_SAY_SETTING)
        plan.say("forward");
        write_direction(plan, o.forward);
        plan.say("backward");
        write_direction(plan, o.backward);
    }
}

inline const char* spread_word(sim::Spread spread) {
#define WW_WORD(id) #id,
    static constexpr const char* kWords[] = {WW_SPREADS(WW_WORD)};
#undef WW_WORD
    return kWords[static_cast<std::size_t>(spread)];
}

inline void write_application(PlanText& plan, const sim::Application& o) {
    const sim::Time on = o.on_mean == sim::kNever ? -1 : o.on_mean;
    switch (o.kind) {
    case sim::ApplicationKind::bulk:
        return;
    case sim::ApplicationKind::rate:
        return plan.say("application rate", o.rate_bps, o.bulk, on, o.off_mean,
                        spread_word(o.spread));
    case sim::ApplicationKind::on_off:
        return plan.say("application on_off", on, o.off_mean, spread_word(o.spread));
    case sim::ApplicationKind::request:
        return plan.say("application request", o.size_bytes, spread_word(o.size_spread),
                        o.think_mean, spread_word(o.spread));
    case sim::ApplicationKind::video: {
        std::vector<std::int64_t> numbers = {o.chunk, o.buffer};
        numbers.insert(numbers.end(), o.ladder_bps.begin(), o.ladder_bps.end());
        return plan.say_all("application video", numbers);
    }
    case sim::ApplicationKind::media:
        return plan.say("application media", o.media.interval, o.media.frame_bytes,
                        o.media.key_bytes, o.media.group, o.media.upper_bytes,
                        o.media.upper_key_bytes,
                        o.media.patience == sim::kNever ? -1 : o.media.patience, o.media.warm_up);
    }
}

inline void write_traffic(PlanText& plan, const sim::Flow& flow) {
    if (const sim::Datagrams& source = flow.datagrams; source.on)
        return plan.say("datagrams", source.rate_bps,
                        source.on_mean == sim::kNever ? -1 : source.on_mean, source.off_mean,
                        spread_word(source.spread), spread_word(source.spacing));
#define WW_NAME(ID, id, name, ...) name,
    static constexpr const char* kRecoveries[] = {WW_RECOVERIES(WW_NAME)};
#undef WW_NAME
    plan.say("recovery", kRecoveries[static_cast<std::size_t>(flow.recovery)]);
    const ww_config& o = flow.cc;
    WW_SETTINGS(WW_SAY_CC_SETTING)
    write_application(plan, flow.application);
    if (flow.arrivals_mean > 0)
        plan.say("arrivals", flow.arrivals_mean, spread_word(flow.size_spread));
}

// control: what identifies a user's control; empty for the others.
inline void write_flow(PlanText& plan, const sim::Flow& o, ww_protocol protocol,
                       const std::string& control) {
#define WW_NAME(ID, name, ...) name,
    static constexpr const char* kProtocols[] = {WW_PROTOCOLS(WW_NAME) "udp"};
#undef WW_NAME
    plan.say("flow", o.from, o.to, kProtocols[protocol]);
    if (!control.empty())
        plan.say_all(("control " + control).c_str(), std::vector(o.cc.own, std::end(o.cc.own)));
    WW_FLOW_SETTINGS(WW_SAY_SETTING)
    write_traffic(plan, o);
}

// Returns the statements about the network and its flows; the caller adds the others, and `end`.
inline std::string write_plan(const Plan& plan) {
    PlanText text;
    write_links(text, plan.network, plan.network.duration);
    for (std::size_t i = 0; i < plan.network.flows.size(); i++)
        write_flow(text, plan.network.flows[i], plan.protocols[i],
                   i < plan.controls.size() ? plan.controls[i] : "");
    return text.text();
}

// The same for the packets of other programs: the links and the first flow's end nodes.
inline std::string write_passage(const Plan& plan) {
    PlanText text;
    write_links(text, plan.network, sim::kLongest);
    const sim::Flow& first = plan.network.flows.front();
    text.say("flow", first.from, first.to, "reno");
    return text.text();
}

}  // namespace ww::wire
