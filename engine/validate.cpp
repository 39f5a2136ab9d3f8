// SPDX-License-Identifier: BSD-3-Clause
#include "validate.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "recovery.hpp"

namespace ww::sim {
namespace {

const std::string kMostDays = std::to_string(kLongest / (24 * kHour)) + " days";
constexpr std::uint64_t kLongestTraceMs = kLongest / (kSecond / 1000);
constexpr Time kShortestState =
    kMicrosecond;  // shorter states, which change many times per packet, would only cost time

// Range checks for the settings. They complain "NAME must be LEAST to MOST UNIT".
std::string out_of(const char* name, const std::string& least, const std::string& most,
                   const char* unit) {
    return std::string(name) + " must be " + least + " to " + most + unit;
}

std::string check_whole(const char* name, std::int64_t value, std::int64_t least, std::int64_t most,
                        const char* unit) {
    if (value >= least && value <= most) return "";
    return out_of(name, std::to_string(least), std::to_string(most), unit);
}

std::string check_real(const char* name, double value, double least, double most,
                       const char* unit) {
    if (value >= least && value <= most) return "";  // NaN fails this
    const auto shown = [](double number) {
        std::ostringstream text;
        text << number;
        return text.str();
    };
    return out_of(name, shown(least), shown(most), unit);
}

// The check for each kind of setting. A value that stands for "no limit" always passes.
#define WW_CHECK_SWITCH(...) std::string()
#define WW_CHECK_COUNT(name, value, least, most) check_whole(name, value, least, most, "")
#define WW_CHECK_SHARE(name, value, least, most) check_real(name, value, least, most, "")
#define WW_CHECK_PACKETS(name, value, least, most) check_real(name, value, least, most, " packets")
#define WW_CHECK_RATE(name, value, least, most) check_whole(name, value, least, most, " bit/s")
#define WW_CHECK_TIME(name, value, least, most) check_whole(name, value, least, most, " ps")
#define WW_CHECK_TIME_OR_NEVER(name, value, least, most) \
    (value) == kNever ? std::string() : check_whole(name, value, least, most, " ps")
#define WW_CHECK_BYTES(name, value, least, most) check_whole(name, value, least, most, " bytes")
#define WW_CHECK_SIZE_OR_ALL(name, value, least, most) \
    (value) == kUnlimited ? std::string() : check_whole(name, value, least, most, " bytes")
#define WW_CHECK_SEGMENTS(name, value, least, most) \
    check_whole(name, value, least, most, " segments")
#define WW_CHECK_SSTHRESH(name, value, least, most) \
    check_whole(name, value, least, most, " segments")
#define WW_CHECK_COUNT_OR_NONE(name, value, least, most) \
    (value) == 0 ? std::string() : check_whole(name, value, least, most, "")
#define WW_CHECK_SPAN(name, value, least, most) check_whole(name, value, least, most, " us")
#define WW_CHECK_FACTOR_OR_NONE(name, value, least, most) \
    (value) == 0 ? std::string() : check_whole(name, value, least, most, " thousandths")
#define WW_CHECK_CHOICE(name, value, least, most) check_whole(name, value, least, most, "")

// Checks one row for object `o`, in a function that returns the first problem.
#define WW_CHECK_SETTING(kind, name, fallback, least, most, ...)                \
    if (const std::string problem =                                             \
            WW_CHECK_##kind(#name, o.WW_ENGINE_FIELD(kind, name), least, most); \
        !problem.empty())                                                       \
        return problem;
#define WW_CHECK_ORDER(lesser, greater) \
    if (o.lesser > o.greater) return std::string(#lesser) + " must not exceed " #greater;

#define WW_LOSS(name, Settings, Model, PREFIX, ...) \
    std::string check(const Settings& o) { WW_##PREFIX##_SETTINGS(WW_CHECK_SETTING) return ""; }
WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS

std::string check(std::monostate) { return ""; }

std::string check(const LossList& o) {
    std::uint64_t last = 0;
    for (const std::uint64_t packet : o.packets) {
        if (packet <= last) return "scripted losses must be ascending packet numbers from 1";
        last = packet;
    }
    return "";
}

#define WW_CHECK_RISING(kind, lesser, greater)                               \
    if (o.WW_ENGINE_FIELD(kind, greater) <= o.WW_ENGINE_FIELD(kind, lesser)) \
        return "the queue's " #greater " must be more than " #lesser;
#define WW_CHECK_POSITIVE(kind, name) \
    if (o.WW_ENGINE_FIELD(kind, name) <= 0) return "the queue's " #name " must be more than 0";

#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)                                   \
    std::string check(const Settings& o) {                                             \
        WW_##PREFIX##_SETTINGS(WW_CHECK_SETTING) WW_##PREFIX##_RISING(WW_CHECK_RISING) \
            WW_##PREFIX##_POSITIVE(WW_CHECK_POSITIVE) return "";                       \
    }
WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE

// Checks the settings of the direction's kind of queue; the other kinds' have no effect.
std::string check_queue(const Direction& o) {
    if (o.queue_packets < 0 || o.queue_bytes < 0) return "queue limit must not be negative";
    if (holds(o.queue_kind) && !o.opportunities_ms.empty())
        return "this kind of queue needs a rate, not delivery opportunities";
    if (o.ack_filter && !o.opportunities_ms.empty())
        return "an ACK filter needs a rate, not delivery opportunities";
    switch (o.queue_kind) {
#define WW_QUEUE(name, ...) \
    case QueueKind::name:   \
        return check(o.name);
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case QueueKind::droptail:
        return "";
    }
    return "unknown kind of queue";
}

#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, ...) \
    std::string check(const Settings& o) { WW_##PREFIX##_SETTINGS(WW_CHECK_SETTING) return ""; }
WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT

// Checks the settings of the direction's impairments.
std::string check_impairments(const Direction& o) {
#define WW_IMPAIRMENT(name, ...) \
    if (o.name)                  \
        if (const std::string problem = check(*o.name); !problem.empty()) return problem;
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
    return "";
}

std::string check(const DelayChanges& o) {
    if (o.at.size() != o.delays.size()) return "changes of the delay need a time and a delay each";
    if (!std::is_sorted(o.at.begin(), o.at.end()))
        return "changes of the delay must be ascending times";
    if (!o.at.empty() && (o.at.front() < 0 || o.at.back() > kLongest))
        return "changes of the delay must be 0 to " + kMostDays + " from the start";
    for (const Time delay : o.delays)
        if (delay < 0 || delay > kHour) return "a changed delay must be 0 to 1 hour";
    if (o.period < 0 || o.period > kLongest ||
        (o.period > 0 && !o.at.empty() && o.period <= o.at.back()))
        return "the period of delays must exceed the time of the last one";
    return "";
}

std::string check(const Direction& o) {
    WW_DIRECTION_SETTINGS(WW_CHECK_SETTING)
    for (const std::string& problem :
         {check_queue(o), check_impairments(o), check(o.delay_changes),
          std::visit([](const auto& loss) { return check(loss); }, o.loss)})
        if (!problem.empty()) return problem;
    if (!std::is_sorted(o.opportunities_ms.begin(), o.opportunities_ms.end()))
        return "delivery opportunities must be ascending times";
    if (!o.opportunities_ms.empty() &&
        (o.opportunities_ms.back() < 1 || o.opportunities_ms.back() > kLongestTraceMs))
        return "the last delivery opportunity must be 1 ms to " + kMostDays + " from the start";
    return "";
}

std::string check(const Link& o) {
    WW_LINK_SETTINGS(WW_CHECK_SETTING)
    for (const Direction* d : {&o.forward, &o.backward})
        if (const std::string problem = check(*d); !problem.empty()) return problem;
    return "";
}

std::string check(const ww_config& o) {
    if (o.algorithm >= WW_ALGORITHM_COUNT ||
        (o.algorithm == WW_ALG_LOADED) != (o.control != nullptr))
        return "unknown congestion control";
#define WW_CHECK_CC(kind, name, fallback, least, most, ...)                    \
    if (const std::string problem =                                            \
            WW_CHECK_##kind("cc." #name, o.WW_FIELD(kind, name), least, most); \
        !problem.empty())                                                      \
        return problem;
    WW_SETTINGS(WW_CHECK_CC)
#undef WW_CHECK_CC
    WW_SETTINGS_IN_ORDER(WW_CHECK_ORDER)
    return "";
}

std::string check(const MediaFrames& o) {
    if (o.interval < kMicrosecond || o.interval > kHour)
        return "frames must be 1 us to 1 hour apart";
    if (o.frame_bytes < 1) return "a frame must have 1 byte or more";
    for (const std::int64_t bytes : {o.frame_bytes, o.key_bytes, o.upper_bytes, o.upper_key_bytes})
        if (bytes < 0 || bytes > kLargestFrame)
            return "a frame must have at most " + std::to_string(kLargestFrame) + " bytes";
    if (o.group < 1) return "a group must have 1 frame or more";
    if (o.patience < 0 || o.warm_up < 0 || o.warm_up > kLongest)
        return "patience and warm-up must be 0 or longer";
    return "";
}

// Checks what the kind of application uses.
std::string check(const Application& o) {
    const auto is_rate = [](std::int64_t bps) { return bps >= 1 && bps <= kFastest; };
    const auto is_time = [](Time time, Time least) { return time >= least && time <= kLongest; };
    switch (o.kind) {
    case ApplicationKind::bulk:
        return "";
    case ApplicationKind::rate:
        if (!is_rate(o.rate_bps)) return "rate must be 1 bit/s to 1 Tbit/s";
        if (!is_time(o.bulk, 0)) return "a bulk phase must last 0 to " + kMostDays;
        if (o.on_mean < kShortestState || !is_time(o.off_mean, 0)) break;
        return "";
    case ApplicationKind::on_off:
        if (!is_time(o.on_mean, kShortestState) || !is_time(o.off_mean, kShortestState)) break;
        return "";
    case ApplicationKind::request:
        if (o.size_bytes < 1 || o.size_bytes > kLargestSize)
            return "a response must have 1 to " + std::to_string(kLargestSize) + " bytes";
        if (!is_time(o.think_mean, 0)) return "a think time must be 0 to " + kMostDays;
        return "";
    case ApplicationKind::video:
        if (o.ladder_bps.empty() || !is_rate(o.ladder_bps.front()) ||
            !is_rate(o.ladder_bps.back()) ||
            !std::is_sorted(o.ladder_bps.begin(), o.ladder_bps.end()))
            return "a ladder must have ascending rates of 1 bit/s to 1 Tbit/s";
        if (!is_time(o.chunk, kShortestState) || o.chunk > kHour)
            return "a chunk must play 1 us to 1 hour";
        if (!is_time(o.buffer, o.chunk)) return "a buffer must have room for a chunk";
        return "";
    case ApplicationKind::media:
        return check(o.media);
    }
    return o.kind > ApplicationKind::media
               ? "unknown kind of application"
               : "an application must be on 1 us or longer, and off at most " + kMostDays;
}

std::string check_source(const Flow& f) {
    if (f.datagrams.on) {
        if (f.datagrams.rate_bps < 1 || f.datagrams.rate_bps > kFastest)
            return "rate must be 1 bit/s to 1 Tbit/s";
        if (f.datagrams.on_mean < kShortestState || f.datagrams.off_mean < 0 ||
            f.datagrams.off_mean > kLongest)
            return "a source must be on 1 us or longer, and off at most " + kMostDays;
        if (f.arrivals_mean != 0) return "datagrams don't arrive as connections";
    }
    if (f.application.kind != ApplicationKind::bulk && (f.datagrams.on || f.arrivals_mean != 0))
        return "datagrams and connections that arrive have no application";
    if (const std::string problem = check(f.application); !problem.empty()) return problem;
    if (f.arrivals_mean < 0 || f.arrivals_mean > kLongest)
        return "connections must arrive 0 to " + kMostDays + " apart";
    if (f.arrivals_mean > 0 && f.size_bytes == kUnlimited)
        return "connections that arrive must have a size";
    return "";
}

std::string check(const Flow& o, std::uint32_t nodes) {
    if (o.from >= nodes || o.to >= nodes) return "unknown node";
    if (o.from == o.to) return "source and sink must differ";
    if (static_cast<std::uint32_t>(o.recovery) >= WW_RECOVERY_ANY) return "unknown recovery";
    WW_FLOW_SETTINGS(WW_CHECK_SETTING)
    WW_FLOW_SETTINGS_IN_ORDER(WW_CHECK_ORDER)
    if (o.packet_bytes <= o.header_bytes) return "header must leave room in packet";
    if (o.receive_window_bytes < o.mss()) return "receive_window must have room for a segment";
#define WW_CHECK_SACK(name) \
    if (o.name && !uses_sack(o.recovery)) return #name " needs a recovery with SACK";
    WW_FLOW_SETTINGS_OF_SACK(WW_CHECK_SACK)
#undef WW_CHECK_SACK
    if (o.timestamps && o.header_bytes < kStampedHeader)
        return "timestamps need a header of " + std::to_string(kStampedHeader) + " bytes";
    if (o.stop < o.start) return "stop must not be before start";
    if (const std::string problem = check_source(o); !problem.empty()) return problem;
    return check(o.cc);
}

std::string problem_at(const char* what, std::size_t index, const std::string& problem) {
    return std::string(what) + " " + std::to_string(index) + ": " + problem;
}

}  // namespace

std::string validate(const Network& network) {
    if (network.duration < 1 || network.duration > kLongest)
        return "duration must be 1 ps to " + kMostDays;
    if (network.nodes > kMostNodes) return "more than " + std::to_string(kMostNodes) + " nodes";
    if (network.trace.interval < 0 || network.trace.interval > kLongest)
        return "trace interval must not be negative";
    if (network.trace.capture_link < -1 ||
        network.trace.capture_link >= static_cast<std::int64_t>(network.links.size()))
        return "no such link to capture at";
    for (std::size_t i = 0; i < network.links.size(); i++) {
        const Link& link = network.links[i];
        if (link.a >= network.nodes || link.b >= network.nodes)
            return problem_at("link", i, "unknown node");
        if (link.a == link.b) return problem_at("link", i, "its ends must differ");
        if (const std::string problem = check(link); !problem.empty())
            return problem_at("link", i, problem);
    }
    const Flow* checked = nullptr;  // equal ones share their memory
    for (std::size_t i = 0; i < network.flows.size(); i++) {
        if (&network.flows[i] == checked) continue;
        checked = &network.flows[i];
        if (const std::string problem = check(*checked, network.nodes); !problem.empty())
            return problem_at("flow", i, problem);
    }
    return "";
}

}  // namespace ww::sim
