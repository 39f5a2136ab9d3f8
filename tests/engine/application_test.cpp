// SPDX-License-Identifier: BSD-3-Clause
//
// Applications that write now and then: constant rates, on and off, responses, chunks of video.
#include "engine/traffic/application.hpp"

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

constexpr std::uint32_t kMss = 1460;
constexpr Time kPacket = 1200 * kMicrosecond;  // 1500 bytes at 10 Mb/s
constexpr Time kRoundTrip = 100 * kMs;         // without transmissions

Flow flow_of(const Application& application, ww_protocol protocol = WW_PROTOCOL_CUBIC) {
    Flow flow = tcp(protocol);
    flow.application = application;
    return flow;
}

Application application_of(ApplicationKind kind) {
    Application application;
    application.kind = kind;
    return application;
}

Application at_rate(std::int64_t rate_bps) {
    Application application = application_of(ApplicationKind::rate);
    application.rate_bps = rate_bps;
    return application;
}

Application requests(std::int64_t size_bytes, Time think_mean) {
    Application application = application_of(ApplicationKind::request);
    application.size_bytes = size_bytes;
    application.think_mean = think_mean;
    return application;
}

Application video(std::vector<std::int64_t> ladder_bps, Time chunk, Time buffer) {
    Application application = application_of(ApplicationKind::video);
    application.ladder_bps = std::move(ladder_bps);
    application.chunk = chunk;
    application.buffer = buffer;
    return application;
}

// Runs a flow over 10 Mb/s and 50 ms one way, with events.
Result run_flow(const Flow& flow, Time duration) {
    Network network = one_link(10'000'000, 50 * kMs, duration, {flow});
    network.trace.events = true;
    return result_of(network);
}

// ---- Constant rate, on and off

TEST(Applications, WriteAtTheirRate) {
    const Result result = run_flow(flow_of(at_rate(2'000'000)), 100 * kSecond);
    EXPECT_NEAR(static_cast<double>(result.flows[0].delivered_bytes) * 8 / 100, 2e6, 1e4);
    EXPECT_NEAR(result.flows[0].application_limited_s, 100, 1) << "the path carries 10 Mb/s";
    EXPECT_TRUE(result.messages.empty());
}

TEST(Applications, AtARateAboveThePathsAreLimitedByThePath) {
    const Result result = run_flow(flow_of(at_rate(20'000'000)), 100 * kSecond);
    EXPECT_GT(static_cast<double>(result.flows[0].delivered_bytes) * 8 / 100, 9e6);
    EXPECT_LT(result.flows[0].application_limited_s, 1);
}

TEST(Applications, WriteASegmentWhenItsPayloadHasComeTogether) {
    const Result result = run_flow(flow_of(at_rate(kMss * 8 * 10)), 10 * kSecond);  // each 100 ms
    double last_s = result.flows[0].established_s;
    for (const double time_s : times_s(result.flows[0], EventKind::send)) {
        EXPECT_NEAR(time_s - last_s, 0.1, 1e-9);
        last_s = time_s;
    }
    EXPECT_GT(result.flows[0].sent, 95u);
}

TEST(Applications, WriteAllTheyCanInTheirBulkPhase) {
    Application application = at_rate(2'000'000);
    application.bulk = 10 * kSecond;
    const Result result = run_flow(flow_of(application), 20 * kSecond);
    const auto sent_in = [&](double from_s, double to_s) {
        double segments = 0;
        for (const double time_s : times_s(result.flows[0], EventKind::send))
            segments += time_s >= from_s && time_s < to_s;
        return segments * kMss * 8 / (to_s - from_s);
    };
    EXPECT_GT(sent_in(5, 10), 9e6) << "of 10 Mb/s";
    EXPECT_NEAR(sent_in(10.2, 20), 2e6, 3e4);
}

TEST(Applications, WriteInTheirOnPeriodsOnly) {
    Application application = at_rate(2'000'000);
    application.on_mean = kSecond;
    application.off_mean = 3 * kSecond;
    const Result result = run_flow(flow_of(application), 100 * kSecond);
    EXPECT_NEAR(static_cast<double>(result.flows[0].delivered_bytes) * 8 / 100, 5e5, 1e4);
}

TEST(Applications, OnAndOffSendAllTheyCanAndThenNothing) {
    Application application = application_of(ApplicationKind::on_off);
    application.on_mean = application.off_mean = 2 * kSecond;
    const Result result = run_flow(flow_of(application), 40 * kSecond);
    const FlowResult& flow = result.flows[0];
    EXPECT_NEAR(flow.application_limited_s, 20, 0.5);
    EXPECT_GT(static_cast<double>(flow.delivered_bytes) * 8 / 40, 3e6) << "of 5 Mb/s";
    for (const double time_s : times_s(flow, EventKind::send))
        ASSERT_LT(std::fmod(time_s - flow.established_s + 1e-9, 4), 2) << time_s;
}

TEST(Applications, WriteNothingAfterTheirStop) {
    for (Application application : {at_rate(2'000'000), requests(10 * kMss, 10 * kMs)}) {
        Flow flow = flow_of(application);
        flow.stop = 5 * kSecond;
        EXPECT_LT(times_s(run_flow(flow, 20 * kSecond).flows[0], EventKind::send).back(), 5);
    }
}

TEST(Applications, EndWithTheirSize) {
    for (const Application& application : {at_rate(2'000'000), requests(10 * kMss, 10 * kMs),
                                           video({1'000'000}, kSecond, kSecond)}) {
        Flow flow = flow_of(application);
        flow.size_bytes = 100'001;
        const Result result = run_flow(flow, 20 * kSecond);
        EXPECT_EQ(result.flows[0].delivered_bytes, 100'001u);
        EXPECT_GT(result.flows[0].completed_s, 0);
        std::uint64_t sum = 0;
        for (const Message& message : result.messages) sum += message.bytes;
        EXPECT_EQ(sum, result.messages.empty() ? 0u : 100'001u);
    }
}

// ---- Requests and responses

TEST(Applications, AResponseTakesARoundTripAndItsTransmission) {
    const Result result = run_flow(flow_of(requests(9 * kMss, 50 * kMs)), 10 * kSecond);
    ASSERT_GT(result.messages.size(), 60u);
    for (const Message& message : result.messages) {
        // The handshake's last ACK leaves before the first response.
        if (message.number == 1 || std::isnan(message.completed_s)) continue;
        EXPECT_EQ(message.bytes, 9u * kMss);
        const Time transmission = 9 * kPacket + 32 * kMicrosecond;  // the ACK has 40 bytes
        EXPECT_NEAR(message.completed_s - message.start_s, seconds(kRoundTrip + transmission), 1e-9)
            << "an odd number of segments, and no delayed ACK at the end";
    }
}

TEST(Applications, TheNextRequestComesAfterTheThinkTimeAlsoAfterRepairs) {
    Network network =
        one_link(10'000'000, 50 * kMs, 30 * kSecond, {flow_of(requests(5000, 300 * kMs))});
    network.links[0].forward.loss = Uniform{0.02};
    const Result result = result_of(network);
    EXPECT_GT(result.flows[0].retransmitted, 2u);
    ASSERT_GT(result.messages.size(), 30u);
    for (std::size_t i = 1; i < result.messages.size(); i++) {
        EXPECT_NEAR(result.messages[i].start_s - result.messages[i - 1].completed_s, 0.3, 1e-9);
        EXPECT_EQ(result.messages[i].number, i + 1);
    }
    EXPECT_EQ(result.messages[0].bytes, 4u * kMss) << "whole segments";
}

TEST(Applications, ExponentialSizesAndThinkTimesHaveTheirMeans) {
    Application application = requests(20'000, 500 * kMs);
    application.size_spread = application.spread = Spread::exponential;
    const Result result = run_flow(flow_of(application), 3000 * kSecond);
    const std::size_t count = result.messages.size() - 1;
    double bytes = 0, thinks_s = 0;
    for (std::size_t i = 0; i < count; i++) {
        bytes += static_cast<double>(result.messages[i].bytes);
        thinks_s += result.messages[i + 1].start_s - result.messages[i].completed_s;
    }
    ASSERT_GT(count, 3000u);
    const double number = static_cast<double>(count), four = 4 / std::sqrt(number);
    EXPECT_NEAR(bytes / number, 20'000 + kMss / 2, four * 20'000);
    EXPECT_NEAR(thinks_s / number, 0.5, four * 0.5);
}

TEST(Applications, AResponseThatIsUnderWayAtTheEndHasNoEnd) {
    const Result result = run_flow(flow_of(requests(10'000'000, 0)), 5 * kSecond);
    ASSERT_EQ(result.messages.size(), 1u);
    EXPECT_TRUE(std::isnan(result.messages[0].completed_s));
}

// ---- Video

TEST(Player, TakesTheLowestRateFirstAndThenWhatTheChunksAllow) {
    const Application ladder = video({1'000'000, 3'000'000, 8'000'000}, kSecond, 100 * kSecond);
    Player player(ladder);
    EXPECT_EQ(player.next_bytes(), 125'000);
    player.on_chunk(0, kSecond / 5, 125'000);  // 5 Mb/s
    EXPECT_EQ(player.next_bytes(), 375'000);
    // The harmonic mean of 5 and 2 Mb/s is 2.86 Mb/s, the arithmetic one would be 3.5 Mb/s.
    player.on_chunk(kSecond, 5 * kSecond / 2, 375'000);
    EXPECT_EQ(player.next_bytes(), 125'000);
}

TEST(Player, ForgetsAllButTheLastFiveChunks) {
    const Application ladder = video({1'000'000, 3'000'000}, kSecond, 100 * kSecond);
    Player player(ladder);
    player.on_chunk(0, kSecond, 125'000);  // 1 Mb/s
    for (Time now = kSecond; now < 5 * kSecond; now += kSecond) {
        player.on_chunk(now, now + kSecond / 4, 125'000);  // 4 Mb/s
        EXPECT_EQ(player.next_bytes(), 125'000) << now;    // at most 2.5 Mb/s with the first
    }
    player.on_chunk(5 * kSecond, 5 * kSecond + kSecond / 4, 125'000);
    EXPECT_EQ(player.next_bytes(), 375'000);
}

TEST(Player, AsksForAChunkOnceTheBufferHasRoomForIt) {
    const Application ladder = video({1'000'000}, 4 * kSecond, 10 * kSecond);
    Player player(ladder);
    EXPECT_EQ(player.on_chunk(0, kSecond, 1), kSecond) << "4 s buffered, room for 6 s";
    // 1 s was played: 7 s buffered, so 1 s must be played first.
    EXPECT_EQ(player.on_chunk(kSecond, 2 * kSecond, 1), 3 * kSecond);
    // The buffer ran empty: 4 s again.
    EXPECT_EQ(player.on_chunk(3 * kSecond, 60 * kSecond, 1), 60 * kSecond);
}

TEST(Applications, AVideoClimbsTheLadderAsFarAsThePathAllows) {
    const Result result =
        run_flow(flow_of(video({1'000'000, 4'000'000, 20'000'000}, 2 * kSecond, 10 * kSecond)),
                 120 * kSecond);
    EXPECT_EQ(result.messages[0].bytes, (250'000 / kMss + 1) * kMss);
    const Message& late = result.messages[result.messages.size() - 2];
    EXPECT_EQ(late.bytes, (1'000'000 / kMss + 1) * kMss) << "20 Mb/s is too much";
    // Chunks of 2 s are asked for every 2 s once the buffer is full.
    EXPECT_NEAR(static_cast<double>(result.messages.size()), 60 + 5, 2);
    EXPECT_GT(result.flows[0].application_limited_s, 50);
}

// draft-ietf-ccwg-bbr, 4.1.2.4: a connection is application-limited once the sender has sent all that
// its application wrote and the window has room. BBRv1 lets such a sample raise its estimate, never
// lower it. The first window leaves in a burst, so the estimate starts above the application's rate.
TEST(Applications, ThatAreSlowDoNotLowerTheEstimateOfBBRv1) {
    Network network = one_link(10'000'000, 50 * kMs, 20 * kSecond,
                               {flow_of(at_rate(2'000'000), WW_PROTOCOL_BBR)});
    network.trace.windows = true;
    const Result result = simulate(network, 1);
    EXPECT_GT(result.flows[0].trace.estimate_bps.back(), 3e6) << "2e6 where samples expire";
}

TEST(Applications, ABulkFlowIsNeverLimitedByItsApplication) {
    Flow flow = tcp(WW_PROTOCOL_CUBIC);
    flow.size_bytes = 100'000;
    EXPECT_EQ(run_flow(flow, 10 * kSecond).flows[0].application_limited_s, 0);
}

}  // namespace
}  // namespace ww::sim::test
