// SPDX-License-Identifier: BSD-3-Clause
//
// Reno (RFC 5681, RFC 3465), Vegas (Brakmo & Peterson 1995, tcp_vegas.c) and Veno (Fu & Liew 2003,
// tcp_veno.c), written from their sources. The core must do the same on every call.
#include "reno_model.hpp"

namespace {

using ww::test::Ack;
using ww::test::Driven;
using ww::test::kCwndMost;
using ww::test::RenoModel;
using ww::test::to_u32;

constexpr std::uint64_t kNone = UINT32_MAX;

// What both measure: the smallest round trip, and that of a round.
class DelayModel : public RenoModel {
  protected:
    using RenoModel::RenoModel;

    void measure(const ww_sample& s) {
        if (s.rtt_us == 0) return;
        base_us_ = std::min<std::uint64_t>(base_us_, s.rtt_us);
        least_us_ = std::min<std::uint64_t>(least_us_, s.rtt_us);
        rtts_++;
    }

    std::uint64_t base_us_ = kNone, least_us_ = kNone, rtts_ = 0;
};

class VegasModel : public DelayModel {
  public:
    explicit VegasModel(const ww_config& by) : DelayModel(by) {}

    void on_ack(const Ack& ack, ww_window& w) {
        const ww_sample& s = ack.sample;
        measure(s);
        if (s.is_dupack) return;
        acked_ += s.acked_segments;
        const bool round_over = acked_ >= end_;
        if (round_over) end_ = acked_ + s.in_flight;
        if (may_grow(s)) {
            if (round_over && rtts_ >= 3) {
                adjust(w, s);
                adjusted++;
            } else if (round_over || w.cwnd < w.ssthresh) {
                grow(w, s);
            }
        }
        if (round_over) {
            least_us_ = kNone;
            rtts_ = 0;
        }
    }

    int adjusted = 0;

  private:
    void adjust(ww_window& w, const ww_sample& s) {
        const std::uint64_t cwnd = w.cwnd;
        const std::uint64_t diff = cwnd * (least_us_ - base_us_) / base_us_;
        if (w.cwnd < w.ssthresh) {
            if (diff > config.vegas_gamma) {
                w.cwnd = to_u32(std::min(cwnd, cwnd * base_us_ / least_us_ + 1));
                w.ssthresh = std::min(w.ssthresh, w.cwnd - 1);
            } else {
                grow(w, s);
            }
        } else if (diff > config.vegas_beta) {
            w.cwnd--;
            w.ssthresh = std::min(w.ssthresh, w.cwnd - 1);
        } else if (diff < config.vegas_alpha && (s.is_cwnd_limited || !config.validate_cwnd)) {
            w.cwnd++;
        }
        set_cwnd(w, std::max<std::uint32_t>(w.cwnd, config.min_cwnd));
        w.ssthresh = std::max(w.ssthresh, w.cwnd - w.cwnd / 4);  // tcp_current_ssthresh
    }

    std::uint64_t acked_ = 0, end_ = 0;
};

class VenoModel : public DelayModel {
  public:
    explicit VenoModel(const ww_config& by) : DelayModel(by) {}

    void on_ack(const Ack& ack, ww_window& w) {
        const ww_sample& s = ack.sample;
        measure(s);
        if (!may_grow(s)) return;
        const bool open = s.phase == WW_OPEN;
        if (open && rtts_ >= 3 && least_us_ != kNone) {
            const std::uint64_t halves = std::uint64_t{2} * w.cwnd;
            queued_ = halves - halves * base_us_ / least_us_;
            least_us_ = kNone;
        }
        waits_ = open && w.cwnd >= w.ssthresh && fills_queue() && !waits_;
        if (!waits_) grow(w, s);
    }
    void on_loss(ww_window& w, std::uint64_t, std::uint32_t in_flight, std::uint32_t) {
        reduce(w, answer(in_flight));
    }
    void on_rto(ww_window& w, std::uint64_t, std::uint32_t in_flight, std::uint32_t, bool again) {
        time_out(w, answer(in_flight), again);
    }
    bool fills_queue() const { return queued_ >= std::uint64_t{2} * config.veno_beta; }

  private:
    std::uint64_t answer(std::uint64_t in_flight) const {
        if (fills_queue()) return half(in_flight);
        return std::max<std::uint64_t>(std::min(in_flight, kCwndMost) * 4 / 5, config.min_cwnd);
    }

    std::uint64_t queued_ = 0;  // half segments
    bool waits_ = false;
};

TEST(RenoModel, TheCoreFollowsTheRfcs) {
    int in_slow_start = 0, in_avoidance = 0;
    ww::test::drive<RenoModel>(WW_PROTOCOL_SACK, 300, 400, [&](const Driven<RenoModel>& reno) {
        const bool slow_start = reno.window.cwnd < reno.window.ssthresh;
        (slow_start ? in_slow_start : in_avoidance)++;
        ASSERT_EQ(reno.state.common.cwnd_count, reno.model.count);
    });
    EXPECT_GT(in_slow_start, 10000) << "the connections went everywhere";
    EXPECT_GT(in_avoidance, 10000);
}

TEST(VegasModel, TheCoreFollowsThePaperAndLinux) {
    const ww_config config = ww_configure(WW_PROTOCOL_VEGAS);
    EXPECT_EQ(config.vegas_alpha, 2) << "tcp_vegas.c";
    EXPECT_EQ(config.vegas_beta, 4);
    EXPECT_EQ(config.vegas_gamma, 1);
    int adjusted = 0;
    ww::test::drive<VegasModel>(WW_PROTOCOL_VEGAS, 400, 600, [&](const Driven<VegasModel>& vegas) {
        adjusted = std::max(adjusted, vegas.model.adjusted);
    });
    EXPECT_GT(adjusted, 50);
}

TEST(VenoModel, TheCoreFollowsThePaperAndLinux) {
    int full = 0, empty = 0;
    ww::test::drive<VenoModel>(WW_PROTOCOL_VENO, 300, 400, [&](const Driven<VenoModel>& veno) {
        (veno.model.fills_queue() ? full : empty)++;
    });
    EXPECT_GT(full, 10000);
    EXPECT_GT(empty, 10000);
}

}  // namespace
