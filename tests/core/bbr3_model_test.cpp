// SPDX-License-Identifier: BSD-3-Clause
//
// The core does the same as BBRv3's model (bbr3_model.hpp) on each of a host's calls, in any connection.
#include "bbr3_model.hpp"

namespace {

using ww::test::Ack;
using ww::test::Bbr3Model;
using ww::test::to_u32;

// Makes the same calls to the core and to the model. The path says what ACKs bring; what was in flight and lost
// when a packet was sent is drawn here.
class DrivenBbr3 {
  public:
    explicit DrivenBbr3(std::uint64_t seed)
        : path(seed), config(configured(path.choices)), model(config) {
        ww_init(&config, &state);
        calls = path.choices.of({20u, 60u, 300u});
        restarts = path.choices.of({2u, 3u, 100u});
    }

    void step() {
        const std::uint32_t call = path.choices.upto(calls - 1);
        if (call < 2) {
            ww_on_loss(&config, &state, &window, path.now_us, path.flight, path.mss);
            model.on_loss(expected);
        } else if (call < 4) {
            ww_on_recovery_exit(&config, &state, &window, path.now_us, path.mss);
            model.on_recovery_exit(expected, path.mss);
        } else if (call == 4) {
            ww_on_rto(&config, &state, &window, path.now_us, path.flight, path.mss, false);
            model.on_rto(expected);
        } else if (call == 5) {
            ww_on_undo(&config, &state, &window);
            model.on_undo(expected);
        } else if (call == 6) {
            ww_on_mark(&config, &state, &window, path.now_us, path.flight, path.mss);
            model.on_mark(expected, path.now_us, path.flight, path.mss);
        } else if (call < 10) {
            lose();
        } else if (path.choices.one_in(3)) {
            send();
        } else {
            acknowledge();
        }
    }

    void expect_same() const {
        const ww_bbr3_state& b = state.bbr3;
        ASSERT_EQ(window.cwnd, expected.cwnd);
        ASSERT_EQ(window.pacing, expected.pacing);
        ASSERT_EQ(window.ssthresh, expected.ssthresh);
        ASSERT_EQ(b.mode, static_cast<int>(model.state));
        ASSERT_EQ(b.bw, model.bw);
        ASSERT_EQ(b.round_count, model.round_count);
        ASSERT_EQ(b.min_rtt_us, to_u32(std::min<std::uint64_t>(model.min_rtt, UINT32_MAX)));
        ASSERT_EQ(b.inflight_longterm, volume(model.inflight_longterm));
        ASSERT_EQ(b.inflight_shortterm, volume(model.inflight_shortterm));
    }

    ww::test::Connection path;
    ww_config config;
    Bbr3Model model;
    ww_state state{};
    ww_window window{10, WW_SSTHRESH_INFINITE, 0}, expected = window;

  private:
    static ww_config configured(ww::test::Choices& choices) {
        using Permille = std::uint16_t;
        ww_config config = ww_configure(WW_PROTOCOL_BBR3);
        config.bbr3_drain_permille = choices.of<Permille>({500, 347});
        config.bbr3_down_permille = choices.of<Permille>({900, 910});
        config.bbr3_loss_permille = choices.of<Permille>({20, 15, 500});
        config.bbr3_startup_losses = choices.of<std::uint8_t>({6, 1, 8});
        config.bbr3_probe_rtt_us = choices.of({5000000u, 1000000u, 300000u});
        config.bbr3_min_rtt_us = choices.of({10000000u, 5000000u, 1000000u, 300000u});
        config.bbr3_prior_rtt = choices.one_in(2);
        return config;
    }
    static std::uint32_t volume(std::uint64_t of_model) {
        return to_u32(std::min(of_model, ww::test::kCwndMost));
    }
    std::uint32_t flight() { return path.flight + path.choices.upto(3); }
    // Around the thresholds of the loss rate.
    std::uint32_t lost_of(std::uint32_t flight) {
        return path.choices.of({0u, 0u, 1u, flight / 50, flight / 50 + 1, flight / 2 + 1});
    }

    void send() {
        ww_sent sent{};
        sent.now_us = path.now_us;
        sent.mss = path.mss;
        sent.srtt_us = path.choices.one_in(3) ? 0 : path.rtt_us;
        sent.pipe = path.choices.one_in(restarts)
                        ? 0
                        : path.choices.of(
                              {1u, std::max(window.cwnd, 2u) - 2, window.cwnd - 1, window.cwnd});
        sent.delivered = to_u32(path.delivered);
        sent.is_app_limited = path.idle;
        ww_on_packet_sent(&config, &state, &window, &sent);
        model.on_sent(expected, sent, path.now_us, path.delivered, path.idle);
    }

    void lose() {
        const std::uint64_t ago = std::min<std::uint64_t>(path.delivered, path.choices.upto(300));
        ww_lost lost{};
        lost.now_us = path.now_us;
        lost.mss = path.mss;
        lost.pipe = flight();
        lost.delivered = to_u32(path.delivered);
        lost.prior_delivered = to_u32(path.delivered - ago);
        lost.prior_pipe = flight();
        lost.lost_since = 1 + lost_of(lost.prior_pipe);
        lost.is_app_limited = path.idle;
        lost.continues = path.choices.one_in(3);
        ww_on_packet_lost(&config, &state, &window, &lost);
        model.on_lost(expected, {path.delivered - ago, lost.prior_pipe, lost.lost_since, path.idle},
                      path.now_us, path.delivered, lost.pipe, path.mss, lost.continues);
    }

    void acknowledge() {
        Ack ack = path.ack();
        ack.sample.prior_pipe = flight();
        ack.sample.lost_since = lost_of(ack.sample.prior_pipe);
        ww_on_ack(&config, &state, &window, &ack.sample);
        model.on_ack(ack, expected);
    }

    std::uint32_t calls = 0;     // among which the first ten are not ACKs or sent packets
    std::uint32_t restarts = 0;  // packets of which one finds nothing in flight
};

TEST(Bbr3Model, TheCoreFollowsTheDraft) {
    int in[8] = {}, wrapped = 0, capped = 0;
    for (std::uint64_t seed = 0; seed < 1500; seed++) {
        SCOPED_TRACE(seed);
        DrivenBbr3 bbr(seed);
        for (int i = 0; i < 800; i++) {
            bbr.step();
            bbr.expect_same();
            if (HasFatalFailure()) return;
            in[bbr.model.state]++;
            capped += bbr.model.inflight_shortterm != Bbr3Model::kInfinity;
        }
        wrapped += bbr.path.delivered >> 32 != 0;
    }
    for (int state = Bbr3Model::kStartup; state <= Bbr3Model::kProbeRtt; state++)
        EXPECT_GT(in[state], 3000) << "the connections went everywhere: " << state;
    EXPECT_GT(capped, 10000);
    EXPECT_GT(wrapped, 10);
}

}  // namespace
