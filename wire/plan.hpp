// SPDX-License-Identifier: BSD-3-Clause
//
// A plan tells a separate host program (ns-3's runner or the emulated path) what to run: the engine's network as
// text, which write.hpp writes. Each line is a statement of words separated by spaces. A statement that sets
// something has the name of its field in the declarations (engine/settings.hpp, core/settings.h), with the
// units, defaults and bounds from there: times in ps, sizes in bytes, rates in bit/s, -1 for no limit. If
// something is set twice, the last value counts.
//
//   seed N | nodes N | duration PS
//   trace WINDOWS QUEUES DROPS   the files for the tables of what happened over time: report.hpp
//   sample_us N | hold           Linux: time between samples of the sockets; print where the hosts are and wait
//   object SOURCE FILE           a compiled control of a user: the rest of the line is its path
//   stack ...                    QUIC: stack.hpp
//   link A B                     between two nodes
//     SETTING N                  one of WW_LINK_SETTINGS
//   forward | backward           chooses a direction of the last link
//     SETTING N                  one of WW_DIRECTION_SETTINGS
//     queue PACKETS BYTES
//     loss none|script N...|KIND   one of WW_LOSS_KINDS
//     KIND.SETTING N             one of the settings of a kind of WW_QUEUE_KINDS, which the queue then has, or of the
//                                loss's kind
//     opportunities MS...
//     delays PERIOD AT DELAY...  changes of the delay, and when they begin again; 0: never
//     KIND.SETTING N             one of the settings of a kind of WW_IMPAIRMENT_KINDS, which the direction then has
//   flow FROM TO PROTOCOL        starts with the protocol's settings in the catalogue; udp: no TCP
//     SETTING N                  one of WW_FLOW_SETTINGS
//     control SOURCE N...        a user's control, known by SOURCE, and its parameters
//     cc.SETTING N               one of WW_SETTINGS
//     recovery NAME              one of WW_RECOVERIES
//     arrivals MEAN fixed|exponential
//     datagrams RATE ON OFF fixed|exponential fixed|exponential      the periods, the spacing
//     application rate RATE ON OFF SPREAD|on_off ON OFF SPREAD|request SIZE SPREAD THINK SPREAD|
//                 video CHUNK BUFFER RATE...                         a spread: fixed or exponential
//   end
#pragma once

#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../engine/network.hpp"
#include "application.hpp"
#include "report.hpp"
#include "stack.hpp"
#include "words.hpp"

namespace ww::wire {

struct Plan {
    sim::Network network;
    std::vector<ww_protocol> protocols;  // one per flow; WW_PROTOCOL_COUNT: it sends datagrams
    std::vector<std::string> controls;   // per flow, what identifies a user's control; or empty
    std::map<std::string, std::string> objects;  // the files of users' controls
    std::uint64_t seed = 1;
    TraceFiles trace;                               // empty: not traced
    sim::Time sample = 10'000 * sim::kMicrosecond;  // between two samples of the sockets
    std::vector<Stack> stacks;
    bool hold = false;  // print where the hosts are, and go on after the flows have ended
};

// How to read a value into a member of object `o`, for each kind of setting.
#define WW_READ_NUMBER(setting, member, least, most) words.into(o.member, least, most)
#define WW_READ_OR_NONE(setting, member, least, most) words.into(o.member, least, most, 0, 0)
#define WW_READ_SWITCH(setting, member, least, most) words.into(o.member)
#define WW_READ_COUNT WW_READ_NUMBER
#define WW_READ_COUNT_OR_NONE WW_READ_OR_NONE
#define WW_READ_SPAN WW_READ_NUMBER
#define WW_READ_SHARE WW_READ_NUMBER
#define WW_READ_FACTOR_OR_NONE WW_READ_OR_NONE
#define WW_READ_PACKETS WW_READ_NUMBER
#define WW_READ_RATE WW_READ_NUMBER
#define WW_READ_TIME WW_READ_NUMBER
#define WW_READ_TIME_OR_NEVER(setting, member, least, most) \
    words.into(o.member, least, most, -1, sim::kNever)
#define WW_READ_BYTES WW_READ_NUMBER
#define WW_READ_SIZE_OR_ALL(setting, member, least, most) \
    words.into(o.member, least, most, -1, sim::kUnlimited)
#define WW_READ_SEGMENTS WW_READ_NUMBER
#define WW_READ_SSTHRESH(setting, member, least, most) \
    words.into(o.member, least, most, -1, WW_SSTHRESH_INFINITE)
#define WW_READ_CHOICE(setting, member, least, most) \
    words.into(o.member, {WW_CHOICES_##setting(WW_READ_WORD)})
#define WW_READ_WORD(id, word) {word, id},

// Reads the statement if it sets this row's setting.
#define WW_READ_ROW(prefix, kind, setting, member, least, most) \
    if (words.is(prefix, WW_READ_TEXT(member))) {               \
        WW_READ_##kind(setting, member, least, most);           \
        return true;                                            \
    }
#define WW_READ_TEXT(member) WW_READ_QUOTED(member)
#define WW_READ_QUOTED(member) #member
#define WW_READ_SETTING(kind, setting, fallback, least, most, ...) \
    WW_READ_ROW("", kind, setting, WW_ENGINE_FIELD(kind, setting), least, most)
#define WW_READ_KIND_SETTING(kind, setting, fallback, least, most, ...) \
    WW_READ_ROW(prefix, kind, setting, WW_ENGINE_FIELD(kind, setting), least, most)
#define WW_READ_CC_SETTING(kind, setting, fallback, least, most, ...) \
    WW_READ_ROW("cc.", kind, setting, WW_FIELD(kind, setting), least, most)

// Read the statement if it sets something of such an object, and return whether it does.
inline bool read_setting(Words& words, ww_config& o) {
    WW_SETTINGS(WW_READ_CC_SETTING)
    return false;
}

inline bool read_setting(Words& words, sim::Link& o) {
    WW_LINK_SETTINGS(WW_READ_SETTING)
    return false;
}

inline void read_loss(Words& words, sim::Loss& loss) {
#define WW_LOSS(name, Settings, ...) {#name, sim::Settings()},
    words.into(loss, {{"none", {}}, WW_LOSS_KINDS(WW_LOSS){"script", sim::LossList()}});
#undef WW_LOSS
    if (sim::LossList* const script = std::get_if<sim::LossList>(&loss))
        while (words.is_more()) script->packets.push_back(words.number<std::uint64_t>());
}

#define WW_LOSS(name, Settings, Model, PREFIX, ...)                \
    inline bool read_setting(Words& words, sim::Settings& o) {     \
        using namespace sim;                                       \
        static constexpr const char* prefix = #name ".";           \
        WW_##PREFIX##_SETTINGS(WW_READ_KIND_SETTING) return false; \
    }
WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
inline bool read_setting(Words&, std::monostate) { return false; }
inline bool read_setting(Words&, sim::LossList&) { return false; }

// Reads a setting of a queue, whose kind the direction then has.
inline bool read_queue(Words& words, sim::Direction& direction) {
    using namespace sim;  // names used in the bounds
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)               \
    const auto read_##name = [&words, &o = direction.name] {       \
        static constexpr const char* prefix = #name ".";           \
        WW_##PREFIX##_SETTINGS(WW_READ_KIND_SETTING) return false; \
    };                                                             \
    if (read_##name()) {                                           \
        direction.queue_kind = QueueKind::name;                    \
        return true;                                               \
    }
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    return false;
}

// Reads a setting of an impairment, which the direction then has.
inline bool read_impairment(Words& words, sim::Direction& direction) {
    using namespace sim;  // names used in the bounds
#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, ...)                   \
    const auto read_##name = [&words](Settings& o) {                        \
        static constexpr const char* prefix = #name ".";                    \
        WW_##PREFIX##_SETTINGS(WW_READ_KIND_SETTING) return false;          \
    };                                                                      \
    if (Settings o = direction.name.value_or(Settings()); read_##name(o)) { \
        direction.name = o;                                                 \
        return true;                                                        \
    }
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
    return false;
}

inline bool read_setting(Words& words, sim::Direction& o) {
    using namespace sim;
    WW_DIRECTION_SETTINGS(WW_READ_SETTING)
    if (words.name() == "queue") {
        words.into(o.queue_packets, 0, kUnlimited, -1, kUnlimited);
        words.into(o.queue_bytes, 0, kUnlimited, -1, kUnlimited);
    } else if (words.name() == "loss") {
        read_loss(words, o.loss);
    } else if (words.name() == "delays") {
        o.delay_changes = {};
        words.into(o.delay_changes.period, 0, kLongest);
        while (words.is_more()) {
            words.into(o.delay_changes.at.emplace_back(), 0, kLongest);
            words.into(o.delay_changes.delays.emplace_back(), 0, kHour);
        }
    } else if (words.name() == "opportunities") {
        o.opportunities_ms.clear();
        while (words.is_more()) o.opportunities_ms.push_back(words.number<std::uint64_t>());
    } else {
        return read_queue(words, o) || read_impairment(words, o) ||
               std::visit([&words](auto& loss) { return read_setting(words, loss); }, o.loss);
    }
    return true;
}

inline void read_recovery(Words& words, sim::Recovery& recovery) {
#define WW_READ_NAME(ID, id, word, ...) {word, sim::Recovery::id},
    words.into(recovery, {WW_RECOVERIES(WW_READ_NAME)});
#undef WW_READ_NAME
}

inline bool read_setting(Words& words, sim::Flow& o) {
    using namespace sim;
    WW_FLOW_SETTINGS(WW_READ_SETTING)
    if (words.name() == "recovery") {
        read_recovery(words, o.recovery);
    } else if (words.name() == "arrivals") {
        words.into(o.arrivals_mean, 0, kLongest);
        read_spread(words, o.size_spread);
    } else if (words.name() == "application") {
        read_application(words, o.application);
    } else if (words.name() == "datagrams") {
        o.datagrams.on = true;
        words.into(o.datagrams.rate_bps, 1, kFastest);
        words.into(o.datagrams.on_mean, 1, kLongest, -1, kNever);
        words.into(o.datagrams.off_mean, 0, kLongest);
        read_spread(words, o.datagrams.spread);
        read_spread(words, o.datagrams.spacing);
    } else {
        return read_setting(words, o.cc);
    }
    return true;
}

inline void read_protocol(Words& words, ww_protocol& protocol) {
#define WW_READ_NAME(ID, word, ...) {word, WW_PROTOCOL_##ID},
    words.into(protocol, {WW_PROTOCOLS(WW_READ_NAME){"udp", WW_PROTOCOL_COUNT}});
#undef WW_READ_NAME
}

// Adds statements to a plan, one by one.
class PlanReader {
  public:
    Plan plan;

    void read(Words& words) {
        if (!read_part(words) && !read_here(words) && !read_whole(words))
            throw PlanError("unknown statement");
        words.done();
    }

    // Checks what depends on the whole plan.
    void check() const {
        for (const std::string& source : plan.controls)
            if (!source.empty() && plan.objects.count(source) == 0)
                throw PlanError("no statement `object` of the control " + source);
        for (std::size_t i = 0; i < plan.protocols.size(); i++)
            if (plan.network.flows[i].datagrams.on != (plan.protocols[i] == WW_PROTOCOL_COUNT))
                throw PlanError("flow " + std::to_string(i) +
                                ": expected datagrams of udp, and of no other protocol");
        if (plan.network.duration == 0) throw PlanError("no statement `duration`");
    }

  private:
    // Begins a link, a direction or a flow.
    bool read_part(Words& words) {
        sim::Network& network = plan.network;
        if (words.name() == "link") {
            direction_ = nullptr;  // a new link may move the others in memory
            sim::Link& link = network.links.emplace_back();
            read_nodes(words, link.a, link.b);
        } else if (words.name() == "forward" || words.name() == "backward") {
            if (network.links.empty()) throw PlanError("no link before it");
            sim::Link& link = network.links.back();
            direction_ = words.name() == "forward" ? &link.forward : &link.backward;
        } else if (words.name() == "flow") {
            sim::Flow& flow = network.flows.emplace_back();
            read_nodes(words, flow.from, flow.to);
            ww_protocol& protocol = plan.protocols.emplace_back();
            read_protocol(words, protocol);
            plan.controls.emplace_back();
            flow.cc = ww_configure(protocol);
            if (protocol != WW_PROTOCOL_COUNT && ww_recovery_of(protocol) != WW_RECOVERY_ANY)
                flow.recovery = static_cast<sim::Recovery>(ww_recovery_of(protocol));
        } else {
            return false;
        }
        return true;
    }

    void read_nodes(Words& words, std::uint32_t& node, std::uint32_t& other) const {
        if (plan.network.nodes < 2) throw PlanError("no two nodes before it");
        words.into(node, 0, plan.network.nodes - 1);
        words.into(other, 0, plan.network.nodes - 1);
        if (node == other) throw PlanError("expected two different nodes");
    }

    // Reads a setting of the most recent part.
    bool read_here(Words& words) {
        sim::Network& network = plan.network;
        sim::Direction no_direction;
        sim::Link no_link;
        sim::Flow no_flow;
        if (read_setting(words, direction_ == nullptr ? no_direction : *direction_)) {
            if (direction_ == nullptr) throw PlanError("no direction of a link before it");
        } else if (read_setting(words, network.links.empty() ? no_link : network.links.back())) {
            if (network.links.empty()) throw PlanError("no link before it");
        } else if (read_setting(words, network.flows.empty() ? no_flow : network.flows.back())) {
            if (network.flows.empty()) throw PlanError("no flow before it");
        } else {
            return false;
        }
        return true;
    }

    // Reads a flow's control of a user. The host sets the configuration's `control`.
    void read_control(Words& words) {
        if (plan.network.flows.empty()) throw PlanError("no flow before it");
        plan.controls.back() = words.word();
        ww_config& cc = plan.network.flows.back().cc;
        cc.algorithm = WW_ALG_LOADED;
        for (std::size_t i = 0; words.is_more(); i++) {
            if (i == WW_PARAMETERS_MAX) throw PlanError("too many parameters");
            words.into(cc.own[i], 0, UINT32_MAX);
        }
    }

    // Reads a statement about the run as a whole.
    bool read_whole(Words& words) {
        sim::Network& network = plan.network;
        if (words.name() == "control") {
            read_control(words);
        } else if (words.name() == "object") {
            const std::string source = words.word();
            plan.objects[source] = words.rest();
        } else if (words.name() == "seed") {
            plan.seed = words.number<std::uint64_t>();
        } else if (words.name() == "nodes") {
            words.into(network.nodes, network.nodes, sim::kMostNodes);
        } else if (words.name() == "duration") {
            words.into(network.duration, 1, sim::kLongest);
        } else if (words.name() == "trace") {
            for (std::string* file : {&plan.trace.windows, &plan.trace.queues, &plan.trace.drops})
                *file = words.word();
            network.trace.windows = network.trace.queues = true;
        } else if (words.name() == "sample_us") {
            words.into(plan.sample, 1, sim::kHour / sim::kMicrosecond);
            plan.sample *= sim::kMicrosecond;
        } else if (words.name() == "stack") {
            plan.stacks.push_back(read_stack(words));
        } else if (words.name() == "hold") {
            plan.hold = true;
        } else {
            return false;
        }
        return true;
    }

    sim::Direction* direction_ = nullptr;
};

// Reads up to the line `end`, or throws PlanError. Every value is then within its bounds;
// engine/validate.hpp checks whether they fit together, in hosts that have the engine.
inline Plan read_plan(std::istream& text) {
    PlanReader reader;
    std::string line;
    for (std::size_t number = 1; std::getline(text, line); number++) {
        Words words(line);
        if (words.is_empty()) continue;
        try {
            if (words.name() == "end") {
                words.done();
                reader.check();
                return std::move(reader.plan);
            }
            reader.read(words);
        } catch (const PlanError& error) {
            throw PlanError("line " + std::to_string(number) + ": " + words.name() + ": " +
                            error.what());
        }
    }
    throw PlanError("no line `end`");
}

}  // namespace ww::wire
