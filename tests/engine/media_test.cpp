// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of live media (engine/traffic/media.hpp).
#include "engine/traffic/media.hpp"

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

constexpr std::uint32_t kMss = 1460;
constexpr Time kInterval = 40 * kMs;
constexpr double kPacketS = 1.2e-3;  // 1500 bytes at 10 Mb/s
constexpr double kThereS = 0.05;

Flow media_flow(std::int64_t frame_segments, std::int64_t key_segments = 0) {
    Flow flow = tcp(WW_PROTOCOL_CUBIC);
    flow.application.kind = ApplicationKind::media;
    MediaFrames& media = flow.application.media;
    media.interval = kInterval;
    media.frame_bytes = frame_segments * kMss;
    media.key_bytes = key_segments * kMss;
    media.group = 25;
    media.warm_up = kSecond;
    flow.stop = 5 * kSecond;
    return flow;
}

Network network_of(const Flow& flow) { return one_link(10'000'000, 50 * kMs, 6 * kSecond, {flow}); }

Result run(const Flow& flow) { return simulate(network_of(flow), 1); }

double delay_s(const Message& frame) { return frame.completed_s - frame.start_s; }

TEST(Media, AFrameTakesItsTransmissionAndThePropagation) {
    const Result result = run(media_flow(2));
    ASSERT_EQ(result.messages.size(), 98u);  // from 1.1 s on: the handshake takes 0.1 s
    for (const Message& frame : result.messages)
        EXPECT_NEAR(delay_s(frame), kThereS + 2 * kPacketS, 1e-6) << frame.number;
}

TEST(Media, EveryGroupBeginsWithAKeyFrame) {
    const Result result = run(media_flow(2, 10));
    for (const Message& frame : result.messages) {
        const bool is_key = frame.number % 25 == 1;  // the warm-up is one group
        EXPECT_EQ(frame.bytes, (is_key ? 10u : 2u) * kMss) << frame.number;
    }
}

TEST(Media, TheLowerLayerGoesFirst) {
    Flow flow = media_flow(2);
    flow.application.media.warm_up = 2 * kSecond;
    const Result alone = run(flow);
    flow.application.media.upper_bytes = 20 * kMss;
    const Result both = run(flow);
    ASSERT_EQ(alone.messages.size(), both.messages.size());
    for (std::size_t i = 0; i < both.messages.size(); i++)
        EXPECT_NEAR(delay_s(both.messages[i]), delay_s(alone.messages[i]), 2 * kPacketS) << i;
    EXPECT_GT(both.flows[0].delivered_bytes, 10 * alone.flows[0].delivered_bytes);
}

// 1.2 Mb/s of the lower layer and 12 of the upper one over 10 Mb/s.
TEST(Media, AnUpperLayerThatIsLateStopsUntilTheNextGroup) {
    Flow flow = media_flow(4);
    flow.application.media.upper_bytes = 40 * kMss;
    const auto delivered = [&] { return static_cast<double>(run(flow).flows[0].delivered_bytes); };
    const double patient = delivered();
    flow.application.media.patience = 150 * kMs;
    const double stopping = delivered();
    EXPECT_LT(stopping, 0.9 * patient);
    EXPECT_GT(stopping, 0.25 * patient) << "the next groups have it again";
}

TEST(Media, FramesOnTheirWayAtTheEndAreMessagesToo) {
    Flow flow = media_flow(2);
    flow.stop = kNever;
    const Result result = run(flow);
    ASSERT_FALSE(result.messages.empty());
    EXPECT_TRUE(std::isnan(result.messages.back().completed_s));
    for (std::size_t i = 0; i < result.messages.size(); i++)
        EXPECT_EQ(result.messages[i].number, i + 1);
}

TEST(Media, ARetransmissionDelaysTheFramesBehindIt) {
    Network network = network_of(media_flow(2));
    network.links[0].forward.loss = LossList{{100}};
    const Result result = simulate(network, 1);
    double most_s = 0;
    for (const Message& frame : result.messages) most_s = std::max(most_s, delay_s(frame));
    EXPECT_GT(most_s, 3 * kThereS);
    EXPECT_EQ(result.flows[0].retransmitted, 1u);
}

}  // namespace
}  // namespace ww::sim::test
