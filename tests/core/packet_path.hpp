// SPDX-License-Identifier: BSD-3-Clause
//
// A connection with numbered packets (as QUIC's: each is sent once) over one bottleneck with a drop-tail queue. It
// hosts a control that follows packets, without a simulator: core/contract.h is all that it knows.
//
//   a packet is lost        when the ACK of the third packet after it arrives
//   delivery rate           draft-ietf-ccwg-bbr, 4.1.2
//   application-limited     4.1.2.4, checked before each ACK and after each attempt to send
#pragma once

#include <deque>
#include <functional>

#include "rounds.hpp"

namespace ww::test {

class PacketPath : public Host {
  public:
    explicit PacketPath(ww_protocol protocol) : Host(protocol) { mss = 1250; }

    // Runs for `us` and calls look() after each ACK.
    void run(std::uint64_t us) {
        for (const std::uint64_t end = now_us + us; now_us < end;) {
            const std::uint64_t next = std::min({next_send(), next_ack(), next_departure(), end});
            now_us = std::max(now_us, next);
            if (now_us >= end) break;
            if (next_departure() <= now_us) depart();
            if (next_ack() <= now_us) on_ack();
            send();
        }
    }
    // Runs until is_it() holds after an ACK, at most for `us`. Returns whether it does.
    bool run_until(const std::function<bool()>& is_it, std::uint64_t us) {
        for (const std::uint64_t end = now_us + us; now_us < end && !is_it();) {
            const auto acks = acks_;
            while (acks_ == acks && now_us < end) run(std::min<std::uint64_t>(1000, end - now_us));
        }
        return is_it();
    }

    // The path and the application, which tests change during a run.
    double rate = 1.25e6;            // bytes/s
    std::uint64_t rtt_us = 40000;    // without queue
    std::size_t queue = 1000;        // packets
    std::uint64_t aggregate_us = 0;  // ACKs arrive at multiples of this time
    double app_rate = 0;             // bytes/s; 0: there is always data
    bool app_pauses = false;
    std::function<bool(std::uint64_t)> drops = [](std::uint64_t) { return false; };

    std::uint32_t delivered = 0, lost = 0, pipe = 0;
    std::uint32_t srtt_us = 0;
    std::function<void(const ww_sample&)> look = [](const ww_sample&) {};

  private:
    struct Packet {
        std::uint64_t number, sent, first_sent, delivered_at;
        std::uint64_t arrives;  // when its ACK does; UINT64_MAX: dropped
        std::uint32_t delivered, pipe, lost;
        bool limited;
    };

    static constexpr std::uint64_t kNever = UINT64_MAX;

    std::uint64_t next_ack() const { return acks_at_.empty() ? kNever : acks_at_.front().arrives; }
    std::uint64_t next_send() const {
        if (app_pauses || pipe >= window.cwnd) return kNever;
        return std::max({now_us, app_rate > 0 ? next_data_us_ : 0, next_send_us_});
    }
    bool has_data() const { return !app_pauses && (app_rate == 0 || next_data_us_ <= now_us); }
    bool is_limited() const { return static_cast<std::int32_t>(limited_until_ - delivered) > 0; }

    void check_limited() {
        if (!has_data() && pipe < window.cwnd && next_send_us_ <= now_us)
            limited_until_ = delivered + pipe + 1;
    }

    std::uint64_t transmission_us() const { return static_cast<std::uint64_t>(mss / rate * 1e6); }
    std::uint64_t next_departure() const { return queued_.empty() ? kNever : departs_us_; }

    // The packet at the head leaves the bottleneck, and its ACK is on its way.
    void depart() {
        Packet packet = queued_.front();
        queued_.pop_front();
        departs_us_ = now_us + transmission_us();
        packet.arrives = now_us + rtt_us;
        if (aggregate_us > 0) packet.arrives = (packet.arrives / aggregate_us + 1) * aggregate_us;
        acks_at_.push_back(packet);
    }

    void send() {
        // The application writes at next_data_us_; the pacer waited for it.
        if (app_rate > 0 && next_data_us_ > next_send_us_ && pipe < window.cwnd)
            limited_until_ = delivered + pipe + 1;
        check_limited();
        while (has_data() && pipe < window.cwnd && next_send_us_ <= now_us) send_one();
    }

    void send_one() {
        const ww_sent sent{now_us, mss, srtt_us, pipe, delivered, is_limited()};
        ww_on_packet_sent(&config, &state, &window, &sent);
        if (pipe == 0) first_sent_ = delivered_at_ = now_us;
        pipe++;
        Packet packet{next_++,   now_us, first_sent_, delivered_at_, kNever,
                      delivered, pipe,   lost,        is_limited()};
        const bool dropped = queued_.size() >= queue || drops(packet.number);
        out_.push_back({packet, dropped});
        if (!dropped) {
            if (queued_.empty()) departs_us_ = now_us + transmission_us();
            queued_.push_back(packet);
        }
        const double wait_us =
            window.pacing == 0 ? 0 : mss * 256e6 / static_cast<double>(window.pacing);
        next_send_us_ = std::max(now_us, next_send_us_) + static_cast<std::uint64_t>(wait_us);
        if (app_rate > 0)
            next_data_us_ = std::max(next_data_us_, now_us - 1) +
                            static_cast<std::uint64_t>(mss / app_rate * 1e6);
    }

    // Takes all that arrives now as one ACK.
    void on_ack() {
        check_limited();
        acks_++;
        ww_sample sample{};
        Packet newest{};
        while (!acks_at_.empty() && acks_at_.front().arrives <= now_us) {
            newest = acks_at_.front();
            acks_at_.pop_front();
            sample.newly_delivered++;
            pipe--;
            delivered++;
        }
        delivered_at_ = now_us;
        first_sent_ = newest.sent;
        const std::uint32_t rtt = static_cast<std::uint32_t>(now_us - newest.sent);
        srtt_us = srtt_us == 0 ? rtt : (7 * srtt_us + rtt) / 8;
        find_losses(newest.number);
        fill(newest, rtt, sample);
        ww_on_ack(&config, &state, &window, &sample);
        if (recovers_ && newest.number >= recovers_until_) {
            recovers_ = false;
            leave_recovery();
        }
        if (lost != lost_before_ && !recovers_) {
            recovers_ = true;
            recovers_until_ = next_;
            loss(pipe);
        }
        lost_before_ = lost;
        look(sample);
    }

    void fill(const Packet& newest, std::uint32_t rtt, ww_sample& sample) const {
        sample.now_us = now_us;
        sample.mss = mss;
        sample.acked_segments = sample.newly_delivered;
        sample.in_flight = sample.pipe = pipe;
        sample.rtt_us = sample.rate_rtt_us = rtt;
        sample.srtt_us = srtt_us;
        sample.phase = recovers_ ? WW_RECOVERY : WW_OPEN;
        sample.is_app_limited = newest.limited;
        sample.newly_lost = lost - lost_before_;
        sample.delivered = delivered;
        sample.prior_delivered = newest.delivered;
        sample.prior_pipe = newest.pipe;
        sample.lost_since = lost - newest.lost;
        sample.rate_segments = delivered - newest.delivered;
        sample.rate_interval_us = static_cast<std::uint32_t>(
            std::max(newest.sent - newest.first_sent, now_us - newest.delivered_at));
    }

    void find_losses(std::uint64_t newest) {
        while (!out_.empty() && out_.front().packet.number <= newest) {
            const auto [packet, dropped] = out_.front();
            if (dropped && packet.number + 3 > newest) break;
            out_.pop_front();
            if (!dropped) continue;
            pipe--;
            lost++;
            ww_lost report{};
            report.now_us = now_us;
            report.mss = mss;
            report.pipe = pipe;
            report.delivered = delivered;
            report.prior_delivered = packet.delivered;
            report.prior_pipe = packet.pipe;
            report.lost_since = lost - packet.lost;
            report.is_app_limited = packet.limited;
            report.continues = packet.number == last_lost_ + 1;
            last_lost_ = packet.number;
            ww_on_packet_lost(&config, &state, &window, &report);
        }
    }

    struct Sent {
        Packet packet;
        bool dropped;
    };

    std::deque<Sent> out_;
    std::deque<Packet> queued_, acks_at_;
    std::uint64_t next_ = 0, last_lost_ = UINT64_MAX - 1, recovers_until_ = 0, acks_ = 0;
    std::uint64_t first_sent_ = 0, delivered_at_ = 0, departs_us_ = 0;
    std::uint64_t next_send_us_ = 0, next_data_us_ = 0;
    std::uint32_t limited_until_ = 0, lost_before_ = 0;
    bool recovers_ = false;
};

}  // namespace ww::test
