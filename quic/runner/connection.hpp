// SPDX-License-Identifier: BSD-3-Clause
//
// A connection of a QUIC stack as a guest of the simulator.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../engine/traffic/application.hpp"
#include "../../engine/traffic/guest.hpp"
#include "../../wire/plan.hpp"
#include "stacks.h"

namespace ww::quic {

// What the connections of a run share.
struct Run {
    std::uint64_t seed;
    sim::Time end;
    wire::Trace* trace;
    std::string error;              // why the run must end; empty: it need not
    std::uint64_t progress = 0;     // grows while the run advances; a watchdog looks at it
    std::uint32_t connections = 0;  // that have not ended
};

class Connection final : public sim::Guest {
  public:
    // The Ethernet frame's IP and UDP headers.
    static constexpr std::uint32_t kHeaders = 28;
    // The most that a short header with a connection ID of 8 bytes, a frame's header and the tag take: 13 + 15 + 16.
    static constexpr std::uint32_t kFraming = 44;
    static constexpr std::int64_t kUnknown = -1;

    Connection(const wire::Stack& stack, const sim::Flow& flow, std::uint32_t number, Run& run);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() override { run_.connections--; }

    sim::Time next() override { return next_; }
    void on_timer(sim::Time now) override;
    void on_packet(sim::Time now, sim::End to, std::uint32_t number, bool is_ecn_capable,
                   bool is_marked) override;
    void on_drop(std::uint32_t number) override;
    bool is_over() const override { return !std::isnan(completed_s_) && next_ == sim::kNever; }
    bool send(sim::Time now, sim::End from, Sent& packet) override;
    std::uint64_t finish(sim::Time end, sim::FlowCounts& result,
                         std::vector<sim::Message>& messages) override;

  private:
    struct Close {
        void operator()(ww_connection* connection) const { ww_quic_close(connection); }
    };

    void begin(sim::Time now);
    void serve_application(sim::Time now);
    void watch_application(sim::Time now);
    std::uint32_t write_bytes() const { return flow_.mss() - kFraming; }
    std::uint64_t size() const;
    sim::SenderState sender_state() const;
    std::uint64_t lost_packets();
    void count_reduction(std::uint64_t lost_before);
    void check(sim::Time now);
    void look(sim::Time now);
    void integrate(sim::Time now, std::uint64_t window);
    void trace(sim::Time now);
    void has_news(bool server);
    std::int64_t next_of(bool server);
    void find_next(sim::Time now);
    void fail(sim::Time now, const std::string& problem);
    bool has_failed() const { return !run_.error.empty(); }
    sim::Time& stamp(std::uint32_t number);

    const sim::Flow flow_;
    const std::string stack_;
    const std::uint32_t number_;
    Run& run_;
    std::unique_ptr<ww_connection, Close> connection_;
    std::optional<sim::Writer> writer_;  // unless the application is bulk
    sim::Time next_ = 0;
    bool begun_ = false, stopped_ = false;
    bool server_may_send_ = true;
    std::int64_t next_ns_[2] = {kUnknown, kUnknown};  // of the client and of the server
    std::int64_t woken_ns_[2] = {-1, -1};             // the last times

    ww_connection_state state_{};
    std::uint64_t written_ = 0;    // bytes that the application has written
    std::uint64_t sent_ = 0;       // packets of the client
    sim::Time now_ = 0;            // of the last call
    std::uint32_t calls_now_ = 0;  // at about that time

    // By a packet's number, when it left the client; on the way back, when the newest that the server had did.
    std::vector<sim::Time> stamps_;
    sim::Time newest_ = -1;

    // What is measured of it.
    sim::Time min_rtt_ = sim::kNever;
    double established_s_, completed_s_;
    sim::Time looked_at_ = -1;  // the window is averaged from then on; -1: not yet established
    double window_integral_ = 0, largest_window_ = 0;
    double srtt_sum_s_ = 0;
    std::uint64_t srtts_ = 0, reductions_ = 0, ecn_reductions_ = 0, timeouts_ = 0;
    std::uint64_t marks_ = 0;           // that have reached the server
    std::uint64_t marks_answered_ = 0;  // before the last reduction
};

// Opens connections of a stack.
class Stack final : public sim::GuestFactory {
  public:
    Stack(const wire::Stack& stack, Run& run) : stack_(stack), run_(run) {}
    std::unique_ptr<sim::Guest> open(const sim::Flow& flow, std::uint32_t connection) override {
        return std::make_unique<Connection>(stack_, flow, connection, run_);
    }

  private:
    const wire::Stack stack_;
    Run& run_;
};

}  // namespace ww::quic
