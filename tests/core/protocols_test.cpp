// SPDX-License-Identifier: BSD-3-Clause
//
// Every protocol has the settings that its source asks for. They are repeated here by source, so
// that a slip in a row of core/settings.h or core/catalogue.h shows.
#include <gtest/gtest.h>

#include "../../core/westwood.h"

namespace {

constexpr std::uint32_t kMillisecond = 1000;

// The settings of a control unless its source says otherwise.
ww_config by_default(ww_algorithm algorithm) {
    ww_config c{};  // every switch is off
    c.algorithm = static_cast<std::uint8_t>(algorithm);
    c.byte_counting = true;                 // RFC 5681, 3.1; RFC 3465
    c.validate_cwnd = true;                 // RFC 7661
    c.min_cwnd = 2;                         // RFC 5681, equation 4
    c.min_marked_cwnd = 1;                  // RFC 3168, 6.1.2; RFC 9438, 4.6
    c.sampler = WW_PER_ACK;                 // Mascolo 2001
    c.filter = WW_FILTER_NONE;              // Gangadhar 2013, 3.2.2
    c.tau_us = 500 * kMillisecond;          // tau / m = 50 ms: a = 19/21
    c.m = 10;                               // Mascolo 2001: at least 2
    c.bound_samples = true;                 // estimator.h
    c.alpha_permille = 900;                 // Gangadhar 2013, equation 1
    c.min_interval_us = 50 * kMillisecond;  // Dell'Aera 2003, 2.2
    c.rtt_tick_us = 1;
    if (algorithm == WW_ALG_CUBIC) c.slow_start = WW_HYSTART_PLUS_PLUS;  // RFC 9438, 4.10
    c.resume_rtt_us = 100 * kMillisecond;
    c.cubic_rules = WW_RULES_RFC9438;
    c.fast_convergence = true;  // RFC 9438, 4.7
    c.vegas_alpha = 2;          // tcp_vegas.c
    c.vegas_beta = 4;
    c.vegas_gamma = 1;
    c.veno_beta = 3;  // Fu & Liew 2003
    c.wc_evidence_permille = 250;
    c.wc_gain_permille = 930;
    c.wc_queue_permille = 62;  // a sixteenth of RTTmin
    c.wc_heavy_permille = 125;
    c.wc_small = 12;
    c.wc_growth_permille = 125;
    c.wc_pacing_permille = 3000;
    c.bbr3_drain_permille = 500;  // draft-ietf-ccwg-bbr, 2.5
    c.bbr3_down_permille = 900;   // 5.3.3.1
    c.bbr3_loss_permille = 20;    // 2.8
    c.bbr3_startup_losses = 6;    // 5.3.1.3
    c.bbr3_probe_rtt_us = 5000 * kMillisecond;
    c.bbr3_min_rtt_us = 10000 * kMillisecond;  // MinRTTFilterLen
    return c;
}

void expect_is(ww_protocol protocol, const ww_config& expected) {
    const ww_config config = ww_configure(protocol);
    EXPECT_EQ(config.algorithm, expected.algorithm) << "protocol " << protocol;
#define WW_EXPECT(kind, name, ...)                                        \
    EXPECT_EQ(config.WW_FIELD(kind, name), expected.WW_FIELD(kind, name)) \
        << #name " of protocol " << protocol;
    WW_SETTINGS(WW_EXPECT)
#undef WW_EXPECT
}

TEST(Protocols, AllButWestwoodHaveTheDefaults) {
    for (const ww_protocol reno :
         {WW_PROTOCOL_TAHOE, WW_PROTOCOL_RENO, WW_PROTOCOL_NEWRENO, WW_PROTOCOL_SACK})
        expect_is(reno, by_default(WW_ALG_RENO));
    expect_is(WW_PROTOCOL_CUBIC, by_default(WW_ALG_CUBIC));
    expect_is(WW_PROTOCOL_VEGAS, by_default(WW_ALG_VEGAS));
    expect_is(WW_PROTOCOL_VENO, by_default(WW_ALG_VENO));
    expect_is(WW_PROTOCOL_BBR, by_default(WW_ALG_BBR));
    expect_is(WW_PROTOCOL_BBR3, by_default(WW_ALG_BBR3));
    expect_is(WW_PROTOCOL_WESTWOOD_CUBIC, by_default(WW_ALG_WESTWOOD_CUBIC));
    expect_is(WW_PROTOCOL_COUNT, by_default(WW_ALG_RENO));  // not a protocol
}

TEST(Protocols, WestwoodFollowsMascolo) {  // 2001: one sample per ACK, the time-varying filter
    ww_config c = by_default(WW_ALG_WESTWOOD);
    c.filter = WW_FILTER_TUSTIN;
    expect_is(WW_PROTOCOL_WESTWOOD, c);
    expect_is(WW_PROTOCOL_WESTWOODNR, c);  // Frikha 2005, section 2
    c.cte_permille = 2000;                 // section 3: cte = 2
    expect_is(WW_PROTOCOL_WESTWOODNR_PLUS, c);
}

TEST(Protocols, TheNs3VariantsFollowGangadhar) {  // without a filter, DUPACKs exactly as printed
    ww_config c = by_default(WW_ALG_WESTWOOD);
    c.literal_count = true;
    c.sampler = WW_PER_RTT_TIMER;
    expect_is(WW_PROTOCOL_WESTWOOD_PLUS_NS3, c);
    c.sampler = WW_PER_ACK;
    c.bound_samples = false;
    expect_is(WW_PROTOCOL_WESTWOOD_NS3, c);
}

TEST(Protocols,
     WestwoodOfUclaFollowsValla) {  // tcp-westwood-nr.cc 1.3 with its defaults, filter_type_ = 1
    ww_config c = by_default(WW_ALG_WESTWOOD);
    c.filter = WW_FILTER_TUSTIN_EVEN;
    c.bound_samples = false;
    c.max_counted = 2;
    c.divided_timeouts = true;
    c.rtt_tick_us = 10 * kMillisecond;  // tcpTick_ since March 2002
    c.counted_ticks = true;
    expect_is(WW_PROTOCOL_WESTWOOD_UCLA, c);
}

TEST(Protocols, WestwoodPlusFollowsDellAeraAndLinux) {
    ww_config c = by_default(WW_ALG_WESTWOOD);
    c.sampler = WW_PER_RTT;  // 2003, 2.1 and 2.2
    c.filter = WW_FILTER_EWMA;
    c.set_cwnd_on_loss = c.seed_filter = true;
    expect_is(WW_PROTOCOL_WESTWOOD_PLUS, c);
    c.set_at_exit = true;
    expect_is(WW_PROTOCOL_WESTWOOD_PLUS_LINUX24, c);
    c.filter = WW_FILTER_EWMA_TWICE;  // tcp_westwood.c
    c.halve_on_loss = c.reset_rtt_min = true;
    c.rtt_tick_us = 4 * kMillisecond;  // HZ = 250
    expect_is(WW_PROTOCOL_WESTWOOD_PLUS_LINUX, c);
}

TEST(Protocols, EachTraitIsASeparateBit) {
    const unsigned traits[] = {WW_NEEDS_RATE, WW_OWNS_RECOVERY, WW_ESTIMATES, WW_IGNORES_MARKS,
                               WW_FOLLOWS_PACKETS};
    unsigned seen = 0;
    for (const unsigned trait : traits) {
        EXPECT_EQ(trait & (trait - 1), 0u);
        EXPECT_EQ(trait & seen, 0u);
        seen |= trait;
    }
}

TEST(Protocols, HaveTheTraitsOfTheirControls) {
    for (int id = 0; id < WW_PROTOCOL_COUNT; id++) {
        const ww_config config = ww_configure(static_cast<ww_protocol>(id));
        const bool is_bbr = id == WW_PROTOCOL_BBR || id == WW_PROTOCOL_BBR3;
        const bool follows_rates = is_bbr || id == WW_PROTOCOL_WESTWOOD_CUBIC;
        const bool estimates = follows_rates || config.algorithm == WW_ALG_WESTWOOD;
        EXPECT_EQ(ww_needs_rate(&config), follows_rates) << id;
        EXPECT_EQ(ww_owns_recovery(&config), follows_rates) << id;
        EXPECT_EQ(ww_estimates(&config), estimates) << id;
        EXPECT_EQ(ww_ignores_marks(&config), id == WW_PROTOCOL_BBR) << id;
        EXPECT_EQ(ww_shows(&config), is_bbr) << id;
        ww_state state{};
        ww_init(&config, &state);
        EXPECT_EQ(ww_show(&config, &state, 1).mode, is_bbr ? 1u : 0u) << id;
    }
}

TEST(Protocols, AnUnknownControlDoesNothing) {
    ww_config config = ww_configure(WW_PROTOCOL_RENO);
    config.algorithm = WW_ALGORITHM_COUNT;
    const ww_state state{};
    EXPECT_EQ(ww_traits(&config), 0u);
    EXPECT_EQ(ww_ssthresh(&config, &state, 0, 100, 1000), config.min_cwnd);
    EXPECT_EQ(ww_observe(&config, &state, 0).samples, 0u);
}

}  // namespace
