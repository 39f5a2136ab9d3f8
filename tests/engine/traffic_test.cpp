// SPDX-License-Identifier: BSD-3-Clause
//
// Sources beside one bulk connection: datagrams, arrivals, start and stop, both directions.

#include "engine/traffic/datagrams.hpp"
#include "one_link.hpp"
#include "statistics.hpp"

namespace ww::sim::test {
namespace {

double sent_bps(const Flow& flow, Time duration, std::uint64_t seed = 1) {
    const Result result = result_of(one_link(100'000'000, kMs, duration, {flow}), seed);
    return static_cast<double>(result.flows[0].sent) * 1500 * 8 / seconds(duration);
}

TEST(Datagrams, KeepTheirRate) {
    EXPECT_NEAR(sent_bps(datagrams(3'000'000), 100 * kSecond), 3e6, 200);
}

TEST(Datagrams, AreEvenlySpaced) {     // off_mean 0: always on, however long the on periods are
    Flow flow = datagrams(1'200'000);  // a packet of 1500 bytes every 10 ms
    for (const Time on_mean : {flow.datagrams.on_mean, kMs}) {
        flow.datagrams.on_mean = on_mean;
        flow.datagrams.spread = Spread::exponential;
        DatagramSource source(flow, 1, 0, kLongest);
        for (Time now = 0; now < 5 * kSecond; now += 10 * kMs)
            ASSERT_EQ(source.next(now) - now, 10 * kMs);
    }
}

TEST(Datagrams, WithFixedPeriodsAreOnAndOffInTurn) {
    for (const Spread spacing : {Spread::fixed, Spread::exponential}) {
        Flow flow = datagrams(1'200'000);
        flow.datagrams.spacing = spacing;
        flow.datagrams.on_mean = 2 * kSecond;
        flow.datagrams.off_mean = 3 * kSecond;
        DatagramSource source(flow, 1, 0, kLongest);
        for (Time now = source.next(0); now < 100 * kSecond; now = source.next(now))
            ASSERT_LE(now % (5 * kSecond), 2 * kSecond) << now;
        if (spacing == Spread::fixed) {
            EXPECT_NEAR(sent_bps(flow, 100 * kSecond), 1.2e6 * 2 / 5, 2000);
        }
    }
}

TEST(Datagrams, WithExponentialPeriodsHaveTheirMeans) {
    constexpr Time kSpacing = kMs / 10;  // short compared with the periods
    Flow flow = datagrams(120'000'000);
    flow.datagrams.on_mean = 50 * kMs;
    flow.datagrams.off_mean = 100 * kMs;
    flow.datagrams.spread = Spread::exponential;
    DatagramSource source(flow, 1, 0, kLongest);
    std::vector<double> silences;
    Time now = 0;
    while (silences.size() < 20000) {
        const Time next = source.next(now);
        // There is also one spacing between the last packet of a period and the first of the next.
        const Time silence = next - now - kSpacing;
        if (silence > 0) silences.push_back(seconds(silence) * 1e3);
        now = next;
    }
    expect_exponential(silences, 100, "silences");
    // Four standard deviations: 4 sqrt(20000 (0.05^2 + 0.1^2)) s.
    EXPECT_NEAR(seconds(now), 20000 * 0.15, 63);
}

TEST(Datagrams, WithExponentialSpacingAreAPoissonProcess) {
    Flow flow = datagrams(1'200'000);  // a packet of 1500 bytes every 10 ms
    flow.datagrams.spacing = Spread::exponential;
    DatagramSource source(flow, 1, 0, kLongest);
    std::vector<double> gaps, counts(21);
    std::size_t in_this_window = 0;
    Time window_ends = 100 * kMs;
    for (Time last = 0; gaps.size() < 20000;) {
        const Time now = source.next(last);
        gaps.push_back(seconds(now - last) * 1e3);
        for (; now >= window_ends; window_ends += 100 * kMs, in_this_window = 0)
            counts[std::min<std::size_t>(in_this_window, 20)]++;
        in_this_window++;
        last = now;
    }
    expect_exponential(gaps, 10, "gaps");
    // Packets in 100 ms: P(n) = 10^n e^-10 / n!; cells from 3 (and fewer) to 19 (and more).
    double windows = 0, share = std::exp(-10.0);
    for (const double count : counts) windows += count;
    std::vector<double> seen(17), expected(17);
    for (std::size_t n = 0; n < 60; share *= 10.0 / static_cast<double>(++n))
        expected[std::clamp<std::size_t>(n, 3, 19) - 3] += windows * share;
    for (std::size_t n = 0; n < counts.size(); n++)
        seen[std::clamp<std::size_t>(n, 3, 19) - 3] += counts[n];
    expect_chi_square(seen, expected, "packets of 100 ms");
}

TEST(Datagrams, WithExponentialSpacingKeepTheirRate) {
    Flow flow = datagrams(1'200'000);
    flow.datagrams.spacing = Spread::exponential;
    EXPECT_NEAR(sent_bps(flow, 1000 * kSecond), 1.2e6, 4 * 1.2e6 / std::sqrt(1e5));
}

TEST(Datagrams, AreNotSentAtOrAfterStop) {  // settings.hpp, stop: no new data from then on
    Network network =
        one_link(100'000'000, kMs, kSecond, {datagrams(1'200'000)});  // at 10 ms, 20 ms, ...
    network.flows[0].stop = 100 * kMs;
    EXPECT_EQ(simulate(network, 1).flows[0].sent, 9u);
    network.flows[0].stop = 100 * kMs + 1;
    EXPECT_EQ(simulate(network, 1).flows[0].sent, 10u);
}

TEST(Datagrams, AreDroppedBeyondTheLinksRate) {
    Network network = one_link(2'000'000, kMs, 100 * kSecond, {datagrams(3'000'000)});
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_NEAR(static_cast<double>(flow.queue_drops) / static_cast<double>(flow.sent), 1.0 / 3,
                0.005);
    EXPECT_NEAR(static_cast<double>(flow.delivered_bytes) * 8 / 100, 2e6 * 1460 / 1500, 2e4);
}

Network transfers(Time every, std::int64_t size, Time duration) {
    Network network = one_link(1'000'000'000, kMs, duration);
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.arrivals_mean = every;
    flow.size_bytes = size;
    network.flows = {flow};
    return network;
}

TEST(Arrivals, AreAPoissonProcess) {
    const Result result = simulate(transfers(50 * kMs, 10'000, 1000 * kSecond), 1);
    std::vector<double> gaps;
    double last = 0;
    for (const FlowResult& flow : result.flows) {
        gaps.push_back(flow.start_s - last);
        last = flow.start_s;
    }
    EXPECT_NEAR(static_cast<double>(gaps.size()), 20000, 4 * std::sqrt(20000));
    expect_exponential(gaps, 0.05, "gaps");
}

TEST(Arrivals, DeliverTheirSizeAndTakeOneMoreRoundTrip) {
    const Result result = simulate(transfers(kSecond, 14'600, 100 * kSecond), 2);
    ASSERT_GT(result.flows.size(), 50u);
    for (const FlowResult& flow : result.flows) {
        if (flow.start_s > 99) continue;
        ASSERT_EQ(flow.delivered_bytes, 14'600u);
        // Ten segments are the initial window: one round trip for the handshake, one for the data.
        ASSERT_NEAR(flow.completed_s - flow.start_s, 0.004, 0.0003);
    }
}

TEST(Arrivals, WithExponentialSizesHaveTheirMean) {
    Network network = transfers(20 * kMs, 100'000, 400 * kSecond);
    network.flows[0].size_spread = Spread::exponential;
    const Result result = simulate(network, 3);
    std::vector<double> sizes;
    for (const FlowResult& flow : result.flows)
        if (!std::isnan(flow.completed_s))
            sizes.push_back(static_cast<double>(flow.delivered_bytes));
    ASSERT_GT(sizes.size(), 19000u);
    expect_exponential(sizes, 100'000, "sizes");
}

// random.hpp: each purpose has its own stream.
TEST(Arrivals, ComeAtTheSameTimesWhateverTheirSizes) {
    Network network = transfers(20 * kMs, 10'000, 20 * kSecond);
    const auto starts = [&](std::uint64_t seed) {
        std::vector<double> starts_s;
        for (const FlowResult& flow : simulate(network, seed).flows)
            starts_s.push_back(flow.start_s);
        return starts_s;
    };
    const std::vector<double> fixed = starts(5), others = starts(6);
    network.flows[0].size_spread = Spread::exponential;
    EXPECT_EQ(starts(5), fixed);
    EXPECT_NE(starts(5), others);
}

TEST(Arrivals, EndAtStopWhileStartedTransfersContinue) {
    Network network = transfers(100 * kMs, 50'000'000, 100 * kSecond);
    network.flows[0].stop = 2 * kSecond;
    const Result result = simulate(network, 4);
    for (const FlowResult& flow : result.flows) {
        EXPECT_LT(flow.start_s, 2);
        EXPECT_EQ(flow.delivered_bytes, 50'000'000u);
    }
}

TEST(Bulk, StartsAndStopsOnTime) {
    Network network = one_link(2'000'000, 10 * kMs, 30 * kSecond);
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.start = 5 * kSecond;
    flow.stop = 10 * kSecond;
    network.flows = {flow};
    network.trace.events = true;
    const FlowResult result = simulate(network, 1).flows[0];
    ASSERT_FALSE(result.events.empty());
    EXPECT_GT(result.events.front().time_s, 5);
    EXPECT_LE(times_s(result, EventKind::send).back(), 10);
}

// settings.hpp, start_spread: an extra delay of the start, uniform up to it, for each flow its own.
TEST(Bulk, StartsAreSpreadUniformly) {
    Network network = one_link(1'000'000'000, kMs, 10 * kSecond);
    Flow flow = datagrams(1000);
    flow.start = 2 * kSecond;
    flow.start_spread = 4 * kSecond;
    network.flows = std::vector<Flow>(2000, flow);
    network.flows.push_back(datagrams(1000));
    std::vector<double> extras_s;
    const Result result = simulate(network, 1);
    for (std::size_t i = 0; i < 2000; i++) {
        extras_s.push_back(result.flows[i].start_s - 2);
        ASSERT_GE(extras_s.back(), 0);
        ASSERT_LT(extras_s.back(), 4);
    }
    expect_uniform(extras_s, 4, "starts");
    EXPECT_EQ(result.flows[2000].start_s, 0) << "without a spread at its time";
}

TEST(ReverseTraffic, QueuesDataBeforeAcksAndCompressesThem) {  // seed 000, Figure 4
    const auto rtt_of = [](bool both_ways) {
        Network network = one_link(2'000'000, 10 * kMs, 60 * kSecond, {tcp(WW_PROTOCOL_RENO)});
        if (both_ways) {
            network.flows.push_back(tcp(WW_PROTOCOL_RENO));
            std::swap(network.flows[1].from, network.flows[1].to);
        }
        return simulate(network, 1).flows[0];
    };
    const FlowResult alone = rtt_of(false), shared = rtt_of(true);
    EXPECT_LT(shared.delivered_bytes, alone.delivered_bytes);
    EXPECT_GT(shared.mean_srtt_s, alone.mean_srtt_s) << "ACKs wait behind the other flow's data";
}

}  // namespace
}  // namespace ww::sim::test
