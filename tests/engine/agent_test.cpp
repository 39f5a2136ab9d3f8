// SPDX-License-Identifier: BSD-3-Clause
//
// An agent's orders decide what its flow sends, and what it measures is what became of that.
#include "engine/learn/agent.hpp"

#include "engine/learn/batch.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

constexpr Time kRtt = kSecond / 50;  // of the path below without its queue

Network path(Time duration = 1000 * kSecond) {
    Network network = one_link(10'000'000, kRtt / 2, duration);
    Flow flow = tcp(WW_PROTOCOL_CUBIC);
    flow.packet_bytes = 1500;
    flow.receive_window_bytes = 1 << 20;
    network.flows = {flow};
    return network;
}

std::uint32_t number_of(const char* name) {
    std::uint32_t number = 0;
#define WW_ROW(column, ...)                          \
    if (std::string(#column) == name) return number; \
    number++;
    WW_STEP_COLUMNS(WW_ROW)
#undef WW_ROW
    return number;
}

BatchSettings settings(Steering steering) {
    BatchSettings settings;
    settings.steering = steering;
    settings.interval = kSecond / 10;
    settings.columns = {number_of("delivered"), number_of("latency_ratio")};
    return settings;
}

Batch batch_on(const Network& network, const BatchSettings& settings) {
    EXPECT_EQ(refusal_of_agent(network, 0), "");
    return Batch(settings, {Path{network, 1e7, 1e7}});
}

// Returns a batch whose episode has begun; the first step sets this share of the rate, 0 none.
Batch begun(const Network& network, const BatchSettings& settings, double share,
            std::uint64_t seed = 1) {
    Batch batch = batch_on(network, settings);
    batch.reset(0, 0, seed, share);
    return batch;
}

StepRow row_after(Batch& batch, double first, double order, int steps) {
    StepRow row = batch.step(0, first).row;
    for (int i = 1; i < steps; i++) row = batch.step(0, order).row;
    return row;
}

TEST(Agent, SendsAtTheRateThatItsOrdersMake) {
    Batch batch = begun(path(), settings(Steering::rate), 0.5);
    EXPECT_NEAR(row_after(batch, 1, 1, 20).sent_bps, 5e6, 1e5);
    EXPECT_NEAR(row_after(batch, 0.5, 1, 20).delivered_bps, 2.5e6, 1e5);
    EXPECT_NEAR(row_after(batch, 3, 1, 20).pacing_bps, 7.5e6, 1);
}

TEST(Agent, PacesTheInitialWindowOverARoundTripIfItIsGivenNoRate) {
    const Network network = path();
    Batch batch = begun(network, settings(Steering::rate), 0);
    const double window_bits = network.flows[0].initial_cwnd * network.flows[0].mss() * 8.0;
    EXPECT_NEAR(row_after(batch, 1, 1, 3).pacing_bps, window_bits / 0.02, 0.1 * window_bits / 0.02);
}

TEST(Agent, MeasuresLossAndDelayOfARateThatThePathCannotCarry) {
    Network network = path();
    network.flows[0].rack = true;  // finds lost retransmissions, too
    Batch batch = begun(network, settings(Steering::rate), 1.5);
    StepRow row = row_after(batch, 1, 1, 50);
    double lost = 0, delivered = 0;
    for (int i = 0; i < 100; i++) {
        row = batch.step(0, 1).row;
        lost += row.lost;
        delivered += row.delivered;
    }
    EXPECT_NEAR(lost / (lost + delivered), 1.0 / 3, 0.02);
    EXPECT_NEAR(row.rtt_s, 0.02 + 100 * 1500 * 8 / 1e7, 0.01) << "the queue of 100 is full";
    EXPECT_NEAR(row.latency_ratio, row.rtt_s / row.min_rtt_s, 1e-9);
}

TEST(Agent, KeepsTheWindowThatItIsToldInSpiteOfLosses) {
    Network network = path();
    network.links[0].forward.loss = Uniform{.rate = 0.05};
    Batch batch = begun(network, settings(Steering::cwnd), 0);
    for (int i = 0; i < 50; i++) {
        const StepRow row = batch.step(0, 8).row;
        EXPECT_EQ(row.cwnd, 8);
        EXPECT_LE(row.in_flight, 8);
    }
}

TEST(Agent, CountsEachSegmentThatItsFlowSends) {
    for (const Steering steering : {Steering::rate, Steering::cwnd, Steering::cwnd_factor}) {
        Network network = path();
        network.flows[0].size_bytes = 300 * network.flows[0].mss();
        Agent agent;
        agent.begin(network.flows[0], steering, 5e6, 1e7);
        network.duration = 20 * kSecond;
        SteppedRun stepped(network, 1);
        stepped.run_until(network.duration);
        const Outcome outcome = stepped.finish();
        EXPECT_EQ(agent.take_step(kSecond).sent, outcome.connections[0].sent);
    }
}

TEST(Agent, LeavesTheFlowsOwnControlAloneIfItMultipliesTheWindowByOne) {
    Network network = path();
    network.links[0].forward.loss = Uniform{.rate = 0.001};
    Batch batch = begun(network, settings(Steering::cwnd_factor), 0, 7);
    std::uint64_t bits = 0;
    double seconds = 0;
    for (int i = 0; i < 300; i++) {
        const StepRow row = batch.step(0, 1).row;
        bits += static_cast<std::uint64_t>(row.delivered) * network.flows[0].mss() * 8;
        seconds += row.duration_s;
    }
    Network alone = network;
    alone.duration = 30 * kSecond;
    const double expected =
        static_cast<double>(simulate(alone, 7).flows[0].delivered_bytes) * 8 / 30;
    EXPECT_NEAR(static_cast<double>(bits) / seconds, expected, 0.02 * expected);
}

TEST(Agent, MultipliesTheWindowOnceAndLetsTheFlowsControlGoOn) {
    Batch batch = begun(path(), settings(Steering::cwnd_factor), 0);
    const double before = row_after(batch, 1, 1, 5).cwnd;
    const double after = batch.step(0, 0.25).row.cwnd;
    EXPECT_LT(after, before);
    EXPECT_GT(after, 0.25 * before) << "CUBIC grows it meanwhile";
}

TEST(Batch, AStepLastsItsIntervalOrTheRoundTripsOfTheStepBefore) {
    const Network network = path();
    BatchSettings fixed = settings(Steering::rate);
    fixed.interval = kSecond / 7;
    Batch batch = begun(network, fixed, 0.5);
    EXPECT_DOUBLE_EQ(batch.step(0, 1).row.duration_s, seconds(kSecond / 7));
    BatchSettings by_rtt = settings(Steering::rate);
    by_rtt.interval = 0;
    by_rtt.rtts = 3;
    Batch other = begun(network, by_rtt, 1.5);
    StepRow before = other.step(0, 1).row;
    for (int i = 0; i < 5; i++) {
        const StepRow row = other.step(0, 1).row;
        EXPECT_NEAR(row.duration_s, 3 * before.rtt_s, 1e-6);
        before = row;
    }
}

TEST(Batch, ObservesTheLastStepsTheLatestLast) {
    const Network network = path();
    BatchSettings three = settings(Steering::rate);
    three.history = 3;
    Batch batch = begun(network, three, 0.5);
    std::vector<float> seen(batch.observed());
    batch.observe(0, seen);
    EXPECT_EQ(seen[0], seen[4]) << "the first step stands for those before it";
    std::vector<double> delivered;
    for (int i = 0; i < 3; i++) delivered.push_back(batch.step(0, 1.2).row.delivered);
    batch.observe(0, seen);
    for (std::size_t i = 0; i < 3; i++) EXPECT_EQ(seen[2 * i], static_cast<float>(delivered[i]));
}

TEST(Batch, AnEnvironmentDependsOnItsSeedAndNotOnTheOthers) {
    const Network network = path();
    BatchSettings many = settings(Steering::rate);
    many.environments = 3;
    Batch batch = batch_on(network, many), alone = batch_on(network, settings(Steering::rate));
    for (std::size_t i = 0; i < 3; i++) batch.reset(i, 0, i, 0.3 + 0.4 * static_cast<double>(i));
    alone.reset(0, 0, 2, 0.3 + 0.8);
    for (int k = 0; k < 20; k++) {
        StepRow last;
        for (std::size_t i = 0; i < 3; i++) last = batch.step(i, 1.01).row;
        const StepRow row = alone.step(0, 1.01).row;
        EXPECT_EQ(row.sent, last.sent);
        EXPECT_EQ(row.rtt_s, last.rtt_s);
    }
}

TEST(Batch, TruncatesAfterTheLastStepAndAtTheEndOfTheRun) {
    BatchSettings few = settings(Steering::rate);
    few.steps = 3;
    Batch batch = begun(path(), few, 0.5);
    EXPECT_FALSE(batch.step(0, 1).truncated);
    EXPECT_FALSE(batch.step(0, 1).truncated);
    EXPECT_TRUE(batch.step(0, 1).truncated);
    Batch brief = begun(path(kSecond / 2), settings(Steering::rate), 0.5);
    int steps = 1;
    while (!brief.step(0, 1).truncated) steps++;
    EXPECT_LE(steps, 5);
}

TEST(Batch, AnEpisodeOnADeadPathIsOverAtOnce) {
    Network network = path(kLongest);
    network.links[0].forward.loss = Uniform{.rate = 1};
    Batch batch = begun(network, settings(Steering::rate), 0.5);
    const Batch::Step step = batch.step(0, 1);
    EXPECT_TRUE(step.truncated);
    EXPECT_EQ(step.row.delivered, 0);
}

TEST(Batch, TerminatesWhenAllDataOfTheFlowIsAcknowledged) {
    Network network = path();
    network.flows[0].size_bytes = 500'000;
    Batch batch = begun(network, settings(Steering::rate), 0.5);
    Batch::Step step;
    int steps = 0;
    do step = batch.step(0, 1);
    while (!step.terminated && ++steps < 100);
    EXPECT_TRUE(step.terminated);
    EXPECT_FALSE(step.truncated);
    EXPECT_NEAR(steps, 8, 2) << "4 Mbit at 5 Mb/s";
}

TEST(Batch, RefusesAFlowThatIsNoSingleConnection) {
    Network network = path();
    EXPECT_NE(refusal_of_agent(network, 1), "");
    network.flows[0].arrivals_mean = kSecond;
    EXPECT_NE(refusal_of_agent(network, 0), "");
    network.flows = {datagrams(1'000'000)};
    EXPECT_NE(refusal_of_agent(network, 0), "");
}

}  // namespace
}  // namespace ww::sim::test
