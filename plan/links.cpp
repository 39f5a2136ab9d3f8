// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string_view>

#include "parts.hpp"
#include "routes.hpp"
#include "settings.hpp"

namespace ww::plan {
namespace {

constexpr double kSlowest = 1000;                            // bit/s
constexpr sim::Time kRecordedInterval = sim::kSecond / 100;  // LeoReplayer's

void set_declared(const Section& section, sim::Direction& o) {
    using namespace sim;
    // The settings of reordering are in a table of their own.
    const auto is_here = [](std::string_view name) { return !name.starts_with("reorder_"); };
#define WW_ROW(kind, setting, ...) \
    if (is_here(#setting)) WW_SET_SETTING(kind, setting, __VA_ARGS__)
    WW_DIRECTION_SETTINGS(WW_ROW)
#undef WW_ROW
}

void set_declared(const Section& section, sim::Link& o) {
    using namespace sim;
    WW_LINK_SETTINGS(WW_SET_SETTING)
}

// Sets a setting of a kind; one without a default is needed.
#define WW_SET_KIND_SETTING(kind, setting, fallback, least, most, what, why) \
    if (std::string_view(why).empty()) section.need(#setting);               \
    WW_SET_SETTING(kind, setting, fallback, least, most)

#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)              \
    void set_declared(const Section& section, sim::Settings& o) { \
        using namespace sim;                                      \
        WW_##PREFIX##_SETTINGS(WW_SET_KIND_SETTING)               \
    }
WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE

void set_discipline(const Section& section, sim::Direction& direction) {
    switch (direction.queue_kind) {
#define WW_QUEUE(name, ...)    \
    case sim::QueueKind::name: \
        direction.name = {};   \
        return set_declared(section, direction.name);
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case sim::QueueKind::droptail:
        break;
    }
}

// The directions that a loss or an impairment is on.
enum Sides : unsigned { kForward = 1, kBackward = 2, kBoth = 3 };

Sides sides_of(const Section& section) {
    const Item on = section["on"];
    if (!on) return kForward;
    return on.choice<Sides>({{"forward", kForward}, {"backward", kBackward}, {"both", kBoth}});
}

#define WW_LOSS(name, Settings, Model, PREFIX, ...)               \
    void set_declared(const Section& section, sim::Settings& o) { \
        using namespace sim;                                      \
        WW_##PREFIX##_SETTINGS(WW_SET_KIND_SETTING)               \
    }
WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS

void set_declared(const Section&, std::monostate) {}

void set_declared(const Section& section, sim::LossList& o) {
    const Numbers& packets = section.need("packets").numbers();
    o.packets.assign(packets.begin(), packets.end());
}

// Returns a loss of the section's kind with its defaults.
sim::Loss usual_loss(const Section& section) {
    const Item kind = section["kind"];
    if (!kind) return section["packets"] ? sim::Loss(sim::LossList()) : sim::Uniform();
#define WW_LOSS(name, Settings, ...) {#name, sim::Settings()},
    return kind.choice<sim::Loss>(
        {{"none", {}}, WW_LOSS_KINDS(WW_LOSS){"script", sim::LossList()}});
#undef WW_LOSS
}

void read_loss(const Section& section, sim::Link& link) {
    sim::Loss loss = usual_loss(section);
    const Sides sides = sides_of(section);
    std::visit([&](auto& settings) { set_declared(section, settings); }, loss);
    section.done();
    if (sides & kForward) link.forward.loss = loss;
    if (sides & kBackward) link.backward.loss = loss;
}

#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, ...)         \
    void set_declared(const Section& section, sim::Settings& o) { \
        using namespace sim;                                      \
        WW_##PREFIX##_SETTINGS(WW_SET_KIND_SETTING)               \
    }
WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT

template <class Settings>
void read_impairment(const Section& section, std::optional<Settings> sim::Direction::*member,
                     sim::Link& link) {
    const Sides sides = sides_of(section);
    Settings settings;
    set_declared(section, settings);
    section.done();
    if (sides & kForward) link.forward.*member = settings;
    if (sides & kBackward) link.backward.*member = settings;
}

void read_reordering(const Section& section, sim::Link& link) {
    const double rate = fraction(section.need("rate"));
    const sim::Time delay = time_ps(section.need("delay"), sim::kMicrosecond, sim::kLongest);
    const Sides sides = sides_of(section);
    section.done();
    for (sim::Direction* side : {&link.forward, &link.backward}) {
        if (!(sides & (side == &link.forward ? kForward : kBackward))) continue;
        side->reorder_rate = rate;
        side->reorder_delay = delay;
    }
}

// Reads a schedule of delays, each of which holds from its time on.
void read_reroute(const Section& section, sim::Link& link) {
    const auto times_of = [&](const char* key, sim::Time most) {
        std::vector<sim::Time> times;
        for (const Value& time : section.need(key).list("a list of times"))
            times.push_back(time_ps(Item(section, key, &time), 0, most));
        return times;
    };
    const sim::DelayChanges changes = {times_of("at", sim::kLongest), times_of("delay", sim::kHour),
                                       0};
    if (changes.at.empty() || changes.at.size() != changes.delays.size())
        section["delay"].refuse("expected as many delays as times in `at`, at least one");
    for (std::size_t i = 1; i < changes.at.size(); i++)
        if (changes.at[i] <= changes.at[i - 1]) section["at"].refuse("expected ascending times");
    const Sides sides = section["on"] ? sides_of(section) : kBoth;
    section.done();
    if (sides & kForward) link.forward.delay_changes = changes;
    if (sides & kBackward) link.backward.delay_changes = changes;
}

// Reads recorded delays, each of which holds for an interval. They begin again after the last one.
void read_delays(const Section& section, sim::Link& link) {
    constexpr sim::Time kMs = sim::kSecond / 1000;
    const Item interval = section["interval"];
    const sim::Time step =
        interval ? time_ps(interval, sim::kMicrosecond, sim::kHour) : kRecordedInterval;
    for (const auto& [key, side] :
         {std::pair("forward", &link.forward), std::pair("backward", &link.backward)}) {
        const Item recorded = section[key];
        if (!recorded || recorded.numbers().empty()) continue;
        if (!side->delay_changes.at.empty())
            recorded.refuse("expected none, since the link has a reroute there");
        for (const std::int64_t ms : recorded.numbers()) {
            recorded.within(ms, 0, sim::kHour / kMs);
            side->delay_changes.at.push_back(side->delay_changes.period);
            side->delay_changes.delays.push_back(ms * kMs);
            side->delay_changes.period += step;
        }
        recorded.within(side->delay_changes.period, 1, sim::kLongest);
    }
    section.done();
}

// Checks that the link has either a delay or recordings for both directions, whose least delay then counts.
void read_delay(const Section& section, sim::Link& link) {
    sim::Time least = sim::kNever;
    for (const sim::Direction* side : {&link.forward, &link.backward}) {
        if (side->delay_changes.period == 0) {
            section.need("delay");
            return;
        }
        for (const sim::Time delay : side->delay_changes.delays) least = std::min(least, delay);
    }
    if (const Item delay = section["delay"]; delay && link.forward.delay != least)
        delay.refuse("has no effect with recorded delays of both directions");
    link.forward.delay = link.backward.delay = least;
}

void read_trace(const Section& section, sim::Link& link) {
    for (const auto& [key, side] :
         {std::pair("forward", &link.forward), std::pair("backward", &link.backward)})
        if (const Item times = section[key]) {
            const Numbers& times_ms = times.numbers();
            if (!times_ms.empty() && (times_ms.front() < 0 || times_ms.back() < 1))
                times.refuse("expected ascending times in ms, the last at least 1");
            side->opportunities_ms.assign(times_ms.begin(), times_ms.end());
        }
    section.done();
}

// Reads the rate of the direction that has another one than the link.
void read_backward_rate(const Section& section, sim::Direction& backward) {
    const Item rate = section["backward_rate"];
    if (!rate) return;
    if (!backward.opportunities_ms.empty())
        rate.refuse("has no effect with a trace of this direction");
    backward.rate_bps = rate_bps(rate, static_cast<std::int64_t>(kSlowest), sim::kFastest);
}

// Checks that the link has either a rate, or that of each direction by a trace or backward_rate.
void read_rate(const Section& section, sim::Link& link) {
    const bool is_traced = !link.backward.opportunities_ms.empty();
    if (link.forward.opportunities_ms.empty() || !(is_traced || section["backward_rate"])) {
        section.need("rate");
        return;
    }
    if (const Item rate = section["rate"])
        rate.refuse(is_traced ? "has no effect with a trace of both directions"
                              : "has no effect with a trace and backward_rate");
    for (sim::Direction* side : {&link.forward, &link.backward})
        side->rate_bps = std::llrint(std::max(kSlowest, mean_rate_bps(*side)));
}

// Sets a direction's queue.
Limit read_queue(const Section& section, sim::Direction& direction) {
    using sim::QueueKind;
    direction.queue_kind = QueueKind::droptail;
#define WW_QUEUE(name, ...) {#name, QueueKind::name},
    if (const Item kind = section["kind"])
        direction.queue_kind =
            kind.choice<QueueKind>({{"droptail", QueueKind::droptail}, WW_QUEUE_KINDS(WW_QUEUE)});
#undef WW_QUEUE
    set_discipline(section, direction);
    const Limit queue_limit = limit(section.need("limit"));
    section.done();
    const std::int64_t count = queue_limit.amount.count.value_or(sim::kUnlimited);
    direction.queue_packets = queue_limit.amount.in_packets ? count : sim::kUnlimited;
    direction.queue_bytes = queue_limit.amount.in_packets ? sim::kUnlimited : count;
    return queue_limit;
}

}  // namespace

Limit read_link(const Section& section, sim::Link& link) {
    set_declared(section, link);
    set_declared(section, link.forward);
    const Item queue = section.need("queue");
    const Limit queue_limit =
        read_queue({queue.table("a table such as { kind = \"droptail\", limit = \"100p\" }"),
                    "queue", &section},
                   link.forward);
    link.backward = link.forward;
    if (const Item trace = section["trace"])
        read_trace({trace.table("a table with lists of times"), "trace", &section}, link);
    read_rate(section, link);
    read_backward_rate(section, link.backward);
    if (const Item reroute = section["reroute"])
        read_reroute({reroute.table("a table with at and delay"), "reroute", &section}, link);
    if (const Item delays = section["delays"])
        read_delays({delays.table("a table with lists of ms"), "delays", &section}, link);
    read_delay(section, link);
    if (const Item loss = section["loss"])
        read_loss(
            {loss.table("a table such as { kind = \"uniform\", rate = 0.005 }"), "loss", &section},
            link);
    if (const Item reorder = section["reorder"])
        read_reordering({reorder.table("a table with rate and delay"), "reorder", &section}, link);
#define WW_IMPAIRMENT(name, ...)                                                  \
    if (const Item item = section[#name])                                         \
        read_impairment({item.table("a table of its settings"), #name, &section}, \
                        &sim::Direction::name, link);
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
    section.done();
    return queue_limit;
}

}  // namespace ww::plan
