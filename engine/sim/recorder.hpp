// SPDX-License-Identifier: BSD-3-Clause
//
// Traces one connection: its windows, its estimate and its sender's decisions.
#pragma once

#include <algorithm>
#include <limits>

#include "../base/seconds.hpp"
#include "../shown.hpp"
#include "../tcp/sender.hpp"

namespace ww::sim {

class Recorder {
  public:
    Recorder(const Network& network, std::uint32_t connection, Records& records)
        : interval_(network.trace.interval),
          end_(network.duration),
          connection_(connection),
          records_(&records) {}

    [[gnu::noinline]] void event(Time now, EventKind kind, std::int64_t segment,
                                 const Sender& sender) {
        records_->events_of.push_back(connection_);
        records_->events.push_back(
            {seconds(now), kind, segment, sender.effective_cwnd(), sender.window().ssthresh});
    }

    // Adds a row if it differs from the last one and the interval has passed; none after the ACK of all
    // data.
    [[gnu::noinline]] void windows(Time now, const Sender& sender) {
        if (is_over_) return;
        is_over_ = sender.is_complete();
        if (now < next_row_) return;
        const ww_observation seen = sender.observe(now);
        const Row row{sender.effective_cwnd(), sender.window().ssthresh, seen.bandwidth, seen.raw,
                      sender.rtt().last(),     sender.in_flight(),       sender.phase()};
        const bool shows = records_->has_shown;
        const ww_shown shown = shows ? sender.show(now) : ww_shown{};
        const std::uint64_t pacing = shows ? sender.window().pacing : 0;
        if (row == last_ && pacing == last_pacing_ && same(shown, last_shown_)) return;
        last_ = row;
        last_pacing_ = pacing;
        last_shown_ = shown;
        next_row_ = now + interval_;
        const bool measured = sender.estimates() && seen.samples > 0;
        WindowTrace& trace = records_->windows;
        if (trace.time_s.size() == trace.time_s.capacity()) make_room(now);
        records_->windows_of.push_back(connection_);
        trace.time_s.push_back(seconds(now));
        trace.cwnd.push_back(row.cwnd);
        trace.ssthresh.push_back(row.ssthresh >= WW_SSTHRESH_INFINITE ? kNan : row.ssthresh);
        trace.estimate_bps.push_back(measured ? bits(seen.bandwidth) : kNan);
        trace.sample_bps.push_back(measured ? bits(seen.raw) : kNan);
        trace.rtt_s.push_back(row.rtt > 0 ? seconds(row.rtt) : kNan);
        trace.srtt_s.push_back(sender.rtt().srtt() > 0 ? seconds(sender.rtt().srtt()) : kNan);
        trace.rto_s.push_back(seconds(sender.rtt().rto()));
        trace.in_flight.push_back(static_cast<double>(row.in_flight));
        trace.phase.push_back(row.phase);
        if (shows) add_shown(shown, pacing, sender.control());
    }

  private:
    struct Row {
        std::uint32_t cwnd = 0, ssthresh = 0;
        std::uint64_t bandwidth = 0, raw = 0;
        Time rtt = -1;
        std::int64_t in_flight = 0;
        std::uint8_t phase = 0;
        bool operator==(const Row&) const = default;
    };

    static bool same(const ww_shown& a, const ww_shown& b) {
        return a.mode == b.mode &&
               std::equal(std::begin(a.quantities), std::end(a.quantities), b.quantities);
    }

    void add_shown(const ww_shown& shown, std::uint64_t pacing, const ww_config& cc) {
        ShownTrace& trace = records_->shown;
        trace.pacing_bps.push_back(pacing > 0 ? bits(pacing) : kNan);
        trace.mode.push_back(static_cast<std::uint8_t>(shown.mode));
        trace.quantity_1.push_back(in_users_unit(cc, 0, shown.quantities[0]));
        trace.quantity_2.push_back(in_users_unit(cc, 1, shown.quantities[1]));
        trace.quantity_3.push_back(in_users_unit(cc, 2, shown.quantities[2]));
        trace.quantity_4.push_back(in_users_unit(cc, 3, shown.quantities[3]));
    }

    // Makes room for the rows of the whole run, if they come at the rate so far. A column that only
    // doubles copies its rows, and touches new pages for them, several times.
    [[gnu::noinline]] void make_room(Time now) {
        WindowTrace& trace = records_->windows;
        const auto rows = static_cast<double>(trace.time_s.size());
        const double ahead = 1.1 * static_cast<double>(end_) / static_cast<double>(now);
        const auto room = static_cast<std::size_t>(rows * std::clamp(ahead, 1.5, 4.0)) + kFewRows;
        records_->windows_of.reserve(room);
#define WW_ROW(type, name, what) trace.name.reserve(room);
        WW_WINDOW_COLUMNS(WW_ROW)
#undef WW_ROW
        if (!records_->has_shown) return;
#define WW_ROW(type, name, what) records_->shown.name.reserve(room);
        WW_SHOWN_COLUMNS(WW_ROW)
#undef WW_ROW
    }

    static constexpr std::size_t kFewRows = 64;
    static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    static double bits(std::uint64_t bandwidth) {
        return static_cast<double>(bandwidth) * 8.0 / static_cast<double>(1u << WW_BW_FRACTION);
    }

    Time interval_, end_, next_row_ = 0;
    Row last_;
    std::uint64_t last_pacing_ = 0;
    ww_shown last_shown_{};
    std::uint32_t connection_;
    bool is_over_ = false;
    Records* records_;
};

}  // namespace ww::sim
