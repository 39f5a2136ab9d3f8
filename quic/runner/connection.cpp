// SPDX-License-Identifier: BSD-3-Clause
#include "connection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../engine/base/seconds.hpp"

namespace ww::quic {
namespace {

constexpr sim::Time kNanosecond = 1'000;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// No end sends as many packets, or asks to be woken as often, at one time.
constexpr std::uint32_t kMostCalls = 1'000'000;
// A connection of quinn takes 50 kB, one of noq 90.
constexpr std::uint32_t kMostConnections = 10'000;

std::int64_t nanoseconds(sim::Time time) { return time / kNanosecond; }

ww_ecn ecn_of(bool is_capable, bool is_marked) {
    return is_marked ? WW_MARKED : is_capable ? WW_CAPABLE : WW_NOT_CAPABLE;
}

}  // namespace

Connection::Connection(const wire::Stack& stack, const sim::Flow& flow, std::uint32_t number,
                       Run& run)
    : flow_(flow),
      stack_(stack.name),
      number_(number),
      run_(run),
      next_(flow.start),
      established_s_(kNan),
      completed_s_(kNan) {
    ww_options options{};
    options.stack = stack.name.c_str();
    options.control = stack.control.c_str();
    options.own_control = stack.is_own;
    options.datagram_bytes = static_cast<std::uint16_t>(flow.packet_bytes - kHeaders);
    options.receive_window = flow.receive_window_bytes;
    options.seed = run.seed;
    options.number = number;
    connection_.reset(ww_quic_open(&options));
    check(flow.start);
    if (++run.connections > kMostConnections)
        fail(flow.start, std::to_string(kMostConnections) + " others have not ended");
    if (flow.application.kind == sim::ApplicationKind::bulk) return;
    sim::Flow written = flow;
    written.header_bytes = flow.packet_bytes - write_bytes();
    writer_.emplace(written, run.seed, number, run.end);
}

void Connection::on_timer(sim::Time now) {
    if (has_failed() || now < flow_.start) return;
    check(now);
    if (!begun_) begin(now);
    for (const bool server : {false, true}) {
        if (next_of(server) > nanoseconds(now)) continue;
        const std::uint64_t window = state_.window;
        woken_ns_[server] = nanoseconds(now);
        ww_quic_wake(connection_.get(), server, nanoseconds(now));
        has_news(server);
        if (server) continue;
        look(now);
        timeouts_ += state_.window < window;
    }
    serve_application(now);
    find_next(now);
}

void Connection::begin(sim::Time now) {
    begun_ = true;
    look(now);
    if (writer_) return;
    written_ = size();
    ww_quic_write(connection_.get(), written_, written_ != UINT64_MAX);
    has_news(false);
}

void Connection::on_packet(sim::Time now, sim::End to, std::uint32_t number, bool is_ecn_capable,
                           bool is_marked) {
    if (has_failed()) return;
    check(now);
    const bool server = to == sim::End::receiver;
    marks_ += server && is_marked;
    const std::uint64_t window = state_.window;
    const std::uint64_t lost = !server && flow_.ecn ? lost_packets() : 0;
    ww_quic_take(connection_.get(), server, nanoseconds(now), number,
                 static_cast<std::uint8_t>(ecn_of(is_ecn_capable, is_marked)));
    has_news(server);
    const sim::Time stamped = stamp(number);
    if (server) {
        newest_ = std::max(newest_, stamped);
        return;
    }
    if (stamped >= 0) min_rtt_ = std::min(min_rtt_, now - stamped);
    look(now);
    if (state_.window < window) count_reduction(lost);
    srtt_sum_s_ += static_cast<double>(state_.srtt_ns) * 1e-9;
    srtts_ += state_.srtt_ns > 0;
    serve_application(now);
    trace(now);
}

void Connection::on_drop(std::uint32_t number) {
    if (!has_failed()) ww_quic_drop(connection_.get(), number);
}

bool Connection::send(sim::Time now, sim::End from, Sent& packet) {
    if (has_failed() || !begun_) return false;
    const bool server = from == sim::End::receiver;
    if (server && !server_may_send_) return false;
    check(now);
    ww_packet sent{};
    next_ns_[server] = kUnknown;
    if (!ww_quic_send(connection_.get(), server, nanoseconds(now), &sent)) {
        if (server)
            server_may_send_ = false;
        else
            watch_application(now);
        find_next(now);
        return false;
    }
    sent_ += !server;
    stamp(sent.number) = server ? newest_ : now;
    packet = {sent.number, sent.bytes, sent.ecn_capable && flow_.ecn};
    return true;
}

// Lets the application write what it wants to by now.
void Connection::serve_application(sim::Time now) {
    if (!stopped_ && now >= flow_.stop) {
        stopped_ = true;
        ww_quic_stop(connection_.get());
        has_news(false);
    }
    if (!writer_ || !state_.is_established) return;
    if (writer_->serve(now, sender_state()) && written_ < size()) {
        const auto segments = static_cast<std::uint64_t>(writer_->written());
        written_ = std::min(segments * write_bytes(), size());
        const bool ends = written_ == size() || writer_->ends_message(writer_->written() - 1);
        ww_quic_write(connection_.get(), written_, ends);
        has_news(false);
        look(now);
    }
    watch_application(now);
}

// Notes whether the sender waits for the application, after the last packet that may leave now.
void Connection::watch_application(sim::Time now) {
    if (!writer_ || !state_.is_established) return;
    ww_connection_state state{};
    ww_quic_state(connection_.get(), false, &state);
    state_.sent = state.sent;
    writer_->watch(now, sender_state());
}

std::uint64_t Connection::size() const {
    const bool is_endless = flow_.size_bytes == sim::kUnlimited;
    return is_endless ? UINT64_MAX : static_cast<std::uint64_t>(flow_.size_bytes);
}

// Bytes are rounded up to segments, as the last one of `size` may be short.
sim::SenderState Connection::sender_state() const {
    const auto segments = [&](std::uint64_t bytes) {
        return static_cast<std::int64_t>((bytes + write_bytes() - 1) / write_bytes());
    };
    const bool waits = state_.sent >= written_ && written_ < size();
    return {segments(state_.acknowledged), segments(state_.sent), sent_, waits};
}

std::uint64_t Connection::lost_packets() {
    ww_connection_state state{};
    ww_quic_state(connection_.get(), true, &state);
    return state.lost_packets;
}

// An ACK reduced the window. Marks did, if it has some and no packet was lost since `lost_before`.
void Connection::count_reduction(std::uint64_t lost_before) {
    const bool is_by_marks = marks_ > marks_answered_ && lost_packets() == lost_before;
    (is_by_marks ? ecn_reductions_ : reductions_)++;
    marks_answered_ = marks_;
}

// Notes the state of the sender.
void Connection::look(sim::Time now) {
    const std::uint64_t before = state_.window;
    ww_quic_state(connection_.get(), false, &state_);
    if (!state_.is_established || !std::isnan(completed_s_)) return;
    if (looked_at_ < 0) {
        established_s_ = sim::seconds(now);
        looked_at_ = now;
    }
    integrate(now, before);
    largest_window_ = std::max(largest_window_, static_cast<double>(state_.window));
    if (state_.acknowledged >= size()) completed_s_ = sim::seconds(now);
}

// Adds the window since the last look.
void Connection::integrate(sim::Time now, std::uint64_t window) {
    window_integral_ += static_cast<double>(window) * sim::seconds(now - looked_at_);
    looked_at_ = now;
}

void Connection::trace(sim::Time now) {
    if (!*run_.trace || !state_.is_established) return;
    const auto segments = [&](std::uint64_t bytes) {
        return static_cast<double>(bytes) / (flow_.packet_bytes - kHeaders);
    };
    wire::WindowRow row;
    row.time_s = sim::seconds(now);
    row.cwnd = segments(state_.window);
    row.ssthresh = state_.ssthresh == UINT64_MAX ? kNan : segments(state_.ssthresh);
    row.srtt_s = state_.srtt_ns > 0 ? static_cast<double>(state_.srtt_ns) * 1e-9 : kNan;
    run_.trace->write_window(number_, row);
}

// Notes that something happened at an end: its timer may have changed. The server, which only acknowledges, is asked
// for packets after such events alone. The client's pacer counts the time when it is asked, so it always is.
void Connection::has_news(bool server) {
    if (server) server_may_send_ = true;
    next_ns_[server] = kUnknown;
}

// Returns when an end has something to do, in ns, which only events there change. An end that is
// woken may ask for the same time again, since its pacer rounds down. Real clocks have moved on by then.
std::int64_t Connection::next_of(bool server) {
    if (next_ns_[server] == kUnknown)
        next_ns_[server] = std::max(ww_quic_next(connection_.get(), server), woken_ns_[server] + 1);
    return next_ns_[server];
}

void Connection::find_next(sim::Time now) {
    if (has_failed()) {
        next_ = sim::kNever;
        return;
    }
    const bool may_write = writer_ && state_.is_established && written_ < size();
    next_ = may_write ? writer_->next_at() : sim::kNever;
    if (!stopped_ && flow_.stop > now) next_ = std::min(next_, flow_.stop);
    for (const bool server : {false, true}) {
        const std::int64_t due = next_of(server);
        if (due < INT64_MAX / kNanosecond) next_ = std::min(next_, due * kNanosecond);
    }
}

// Ends the run if the last call failed, or if time moves on by no more than a nanosecond per call.
void Connection::check(sim::Time now) {
    run_.progress++;
    calls_now_ = now <= now_ + kNanosecond ? calls_now_ + 1 : 0;
    now_ = now;
    if (const char* const problem = ww_quic_error(connection_.get()); *problem != '\0')
        fail(now, problem);
    else if (calls_now_ > kMostCalls)
        fail(now, "it goes on without end at this time");
}

sim::Time& Connection::stamp(std::uint32_t number) {
    if (number >= stamps_.size()) stamps_.resize(number + 1);
    return stamps_[number];
}

void Connection::fail(sim::Time now, const std::string& problem) {
    if (has_failed()) return;
    run_.error = stack_ + ", connection " + std::to_string(number_) + ", at " +
                 std::to_string(sim::seconds(now)) + " s: " + problem;
}

std::uint64_t Connection::finish(sim::Time end, sim::FlowCounts& result,
                                 std::vector<sim::Message>& messages) {
    check(end);
    const double bytes = flow_.packet_bytes - kHeaders;
    if (looked_at_ >= 0) {
        if (std::isnan(completed_s_)) integrate(end, state_.window);
        result.mean_cwnd = window_integral_ / bytes / (sim::seconds(looked_at_) - established_s_);
        result.max_cwnd = largest_window_ / bytes;
    }
    ww_quic_state(connection_.get(), true, &state_);
    result.sent = sent_;
    result.retransmitted = state_.lost_packets;
    result.fast_recoveries = reductions_;
    result.ecn_reductions = ecn_reductions_;
    result.timeouts = timeouts_;
    if (min_rtt_ != sim::kNever) result.min_rtt_s = sim::seconds(min_rtt_);
    if (srtts_ > 0) result.mean_srtt_s = srtt_sum_s_ / static_cast<double>(srtts_);
    result.established_s = established_s_;
    result.completed_s = completed_s_;
    if (writer_) writer_->finish(end, result, messages);
    return state_.delivered;
}

}  // namespace ww::quic
