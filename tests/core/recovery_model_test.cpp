// SPDX-License-Identifier: BSD-3-Clause
//
// PRR from RFC 9937, section 6, and rate halving from Dell'Aera 2003, 2.2 and core/recovery.h, in
// wide numbers. The core must do the same on every ACK of any recovery.
#include "../../core/recovery.h"
#include "driven.hpp"

namespace {

using ww::test::Choices;
using ww::test::kCwndMost;
using ww::test::Wide;

struct Recovery {
    explicit Recovery(std::uint64_t seed)
        : choices(seed),
          scale(choices.of({1u, 1u, 3u, 1000u, 20000000u})),
          ssthresh(scale * choices.from(1, 10)) {}

    std::uint32_t some() { return scale * choices.upto(12) + choices.upto(1); }

    Choices choices;
    std::uint32_t scale, ssthresh;
};

struct PrrModel {
    std::uint64_t recover_fs, delivered = 0, out = 0;

    std::uint64_t cwnd_after(std::uint64_t cwnd, std::uint64_t ssthresh, std::uint64_t in_flight,
                             std::uint64_t delivered_now, bool safe) {
        if (delivered_now == 0) return cwnd;
        delivered += delivered_now;
        Wide send;
        if (in_flight > ssthresh) {
            const Wide proportional = (Wide{delivered} * ssthresh + recover_fs - 1) / recover_fs;
            send = proportional > out ? proportional - out : 0;
        } else {
            const std::uint64_t due = delivered > out ? delivered - out : 0;
            send = std::min<Wide>(ssthresh - in_flight, std::max(due, delivered_now) + safe);
        }
        if (out == 0 && send == 0) send = 1;  // the fast retransmit
        return static_cast<std::uint64_t>(std::min<Wide>(in_flight + send, kCwndMost));
    }
};

TEST(PrrModel, TheCoreFollowsTheRfc) {
    for (std::uint64_t seed = 0; seed < 3000; seed++) {
        SCOPED_TRACE(seed);
        Recovery recovery(seed);
        const std::uint32_t flight = recovery.some();
        ww_prr prr{7, 7, 7};
        ww_prr_enter(&prr, flight);
        PrrModel model{std::max(flight, 1u)};
        std::uint32_t cwnd = flight;
        for (int i = 0; i < 30; i++) {
            const std::uint32_t in_flight = recovery.some(), delivered = recovery.choices.upto(4);
            const bool safe = recovery.choices.one_in(2);
            const std::uint64_t expected =
                model.cwnd_after(cwnd, recovery.ssthresh, in_flight, delivered, safe);
            cwnd = ww_prr_on_ack(&prr, cwnd, recovery.ssthresh, in_flight, delivered, safe);
            ASSERT_EQ(cwnd, expected);
            const std::uint32_t sent =
                recovery.choices.one_in(3) || cwnd < in_flight ? 0 : cwnd - in_flight;
            prr.out += sent;
            model.out += sent;
        }
    }
}

TEST(RateHalvingModel, TheCoreFollowsThePaper) {
    for (std::uint64_t seed = 0; seed < 1000; seed++) {
        SCOPED_TRACE(seed);
        Recovery recovery(seed);
        const std::uint64_t floor = recovery.ssthresh;
        std::uint32_t count = 0, cwnd = recovery.some() + recovery.ssthresh;
        std::uint64_t acks = 0, halved = 0;
        for (int i = 0; i < 30; i++) {
            const std::uint32_t now = recovery.choices.of({1u, 1u, 1u, 2u, 7u});
            const std::uint32_t in_flight = recovery.some();
            acks += now;
            const std::uint64_t fall = acks / 2 - halved;  // one for every two ACKs
            halved = acks / 2;
            const std::uint64_t fallen = cwnd > floor + fall ? cwnd - fall : floor;
            const std::uint64_t expected =
                std::max<std::uint64_t>(std::min<std::uint64_t>(fallen, in_flight + now), floor);
            cwnd = ww_rate_halving_on_ack(&count, cwnd, recovery.ssthresh, in_flight, now);
            ASSERT_EQ(cwnd, expected);
        }
    }
}

}  // namespace
