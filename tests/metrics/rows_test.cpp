// SPDX-License-Identifier: BSD-3-Clause
//
// Rows follow from what an engine measured. The numbers here are chosen so that each is computed by hand.
#include "metrics/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "metrics/statistics.hpp"

namespace ww::metrics::test {
namespace {

struct Measured {
    std::uint32_t source;
#define WW_ROW(type, name, ...) WW_COLUMN_MEMBER(type, name)
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
};

Connections columns_of(const std::vector<Measured>& all) {
    Connections connections;
    connections.count = all.size();
    connections.source = {&all.data()->source, sizeof(Measured)};
#define WW_ROW(type, name, ...) connections.name = {&all.data()->name, sizeof(Measured)};
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
    return connections;
}

Measured connection(std::uint32_t flow, double start_s, double completed_s) {
    Measured connection = {};
    connection.source = flow;
    connection.start_s = start_s;
    connection.completed_s = completed_s;
    connection.delivered_bytes = 1'000'000;
    connection.sent = 1000;
    connection.retransmitted = 10;
    connection.queue_drops = 6;
    connection.lost = 4;
    connection.mean_cwnd = 20;
    connection.min_rtt_s = 0.1;
    return connection;
}

// Returns the rows with a fair share of 1.6 Mb/s for each flow.
std::vector<Row> rows_of(const std::vector<Planned>& flows, const Connections& connections,
                         const std::vector<Used>& directions, double simulated_s) {
    return rows(flows, connections, directions, simulated_s,
                [](const Spans& active) { return std::vector<double>(active.size(), 1'600'000); });
}

const double kNever = std::nan("");

TEST(Rows, AFlowIsActiveUntilItCompletesOrStopsOrItsLastPacketArrives) {
    const auto goodput_mbps = [](const Measured& measured, const Planned& planned) {
        return rows_of({planned}, columns_of({measured}), {}, 100)[0].goodput_bps / 1e6;
    };
    Measured late = connection(0, 20, 30);
    EXPECT_EQ(goodput_mbps(late, {true, false, 20}), 8.0 / 10) << "completed at 30 s";
    late.last_arrival_s = 40;
    EXPECT_EQ(goodput_mbps(late, {true, false, 20}), 8.0 / 20) << "a copy arrived later";
    const Measured endless = connection(0, 20, kNever);
    EXPECT_EQ(goodput_mbps(endless, {true, false, 20, 60}), 8.0 / 40) << "stopped at 60 s";
    EXPECT_EQ(goodput_mbps(endless, {true, false, 20}), 8.0 / 80) << "until the run's end";
    EXPECT_EQ(goodput_mbps(endless, {true, true, 50, 60}), 8.0 / 50) << "arrivals go on after it";
    EXPECT_EQ(goodput_mbps(connection(0, 100, kNever), {true, false, 100}), 0) << "never active";
}

TEST(Rows, AFlowWithArrivalsHasSumsMeansAndPercentilesOfItsConnections) {
    std::vector<Measured> all = {connection(0, 0, 1), connection(0, 5, 8),
                                 connection(0, 9, kNever)};
    all[1].mean_cwnd = 40;
    all[2].mean_cwnd = kNever;
    all[2].min_rtt_s = 0.05;
    const Row row = rows_of({{true, true}}, columns_of(all), {}, 10)[0];
    EXPECT_EQ(row.transfers, 3);
    EXPECT_EQ(row.completed, 2);
    EXPECT_EQ(row.completion_s, 2) << "1 s and 3 s";
    EXPECT_EQ(row.completion_p50_s, 2);
    EXPECT_DOUBLE_EQ(row.completion_p95_s, 2.9);
    EXPECT_EQ(row.completion_max_s, 3);
    EXPECT_EQ(row.sent, 3000);
    EXPECT_EQ(row.mean_cwnd, 30) << "without the unknown one";
    EXPECT_EQ(row.min_rtt_s, 0.05);
    EXPECT_EQ(row.retransmission_ratio, 0.01);
    EXPECT_EQ(row.loss_ratio, 0.01);
}

TEST(Rows, TheTransfersOfAFlowWithMessagesAreThese) {
    struct Message {
        WW_MESSAGE_COLUMNS(WW_COLUMN_MEMBER)
    };
    const Message all[] = {
        {0, 1, 10, 0, 1}, {1, 1, 10, 0, 2}, {1, 2, 10, 4, 8}, {1, 3, 10, 9, kNever}};
    const std::vector<Measured> two = {connection(0, 0, kNever), connection(1, 0, kNever)};
    Connections both = columns_of(two);
    both.messages.count = 4;
#define WW_ROW(type, name, ...) both.messages.name = {&all[0].name, sizeof(Message)};
    WW_MESSAGE_COLUMNS(WW_ROW)
#undef WW_ROW
    Planned planned;
    EXPECT_EQ(rows_of({planned, planned}, both, {}, 10)[1].transfers, 1) << "the connection";
    planned.has_messages = true;
    const Row row = rows_of({planned, planned}, both, {}, 10)[1];
    EXPECT_EQ(row.transfers, 3);
    EXPECT_EQ(row.completed, 2);
    EXPECT_EQ(row.completion_s, 3) << "2 s and 4 s";
}

TEST(Rows, DatagramsHaveNoColumnsOfACongestionControlAndNoShare) {
    std::vector<Measured> all = {connection(0, 0, kNever), connection(1, 0, kNever),
                                 connection(2, 0, kNever)};
    all[1].delivered_bytes = 3'000'000;
    const std::vector<Row> rows = rows_of({{true}, {false}, {true}}, columns_of(all), {}, 10);
    EXPECT_TRUE(std::isnan(rows[1].mean_cwnd));
    EXPECT_TRUE(std::isnan(rows[1].retransmission_ratio));
    EXPECT_TRUE(std::isnan(rows[1].friendliness));
    EXPECT_EQ(rows[1].loss_ratio, 0.01);
    EXPECT_EQ(rows[0].friendliness, 0.5) << "8 Mb in 10 s";
    EXPECT_EQ(rows[1].fair_share_bps, 1'600'000);
    EXPECT_EQ(rows[0].jain, 1);
    all[0].delivered_bytes = 3'000'000;
    EXPECT_EQ(rows_of({{true}, {false}, {true}}, columns_of(all), {}, 10)[0].jain, 0.8);
}

TEST(Rows, AShortLimitOfTheReceiverIsNotReported) {
    const auto limited = [](double limited_s) {
        Measured measured = connection(0, 0, kNever);
        measured.receiver_limited_s = limited_s;
        measured.application_limited_s = 2 * limited_s;
        const Row row = rows_of({{}}, columns_of({measured}), {}, 100)[0];
        EXPECT_EQ(row.application_limited, 0.02 * limited_s);
        return row.receiver_limited;
    };
    EXPECT_TRUE(std::isnan(limited(10)));
    EXPECT_EQ(limited(11), 0.11);
}

TEST(Rows, TheQueueIsThatOfTheBusiestDirection) {
    const std::vector<Used> directions = {{0.5, 30}, {0.9, 20}, {0.9, 10}};
    const Row row = rows_of({{}}, columns_of({connection(0, 0, kNever)}), directions, 10)[0];
    EXPECT_EQ(row.utilisation, 0.9);
    EXPECT_EQ(row.mean_queue, 2) << "the first of two";
}

TEST(Rows, AFlowWithoutConnectionsHasARow) {
    const std::vector<Row> rows =
        rows_of({{true, true}, {true, true}}, columns_of({connection(1, 0, 1)}), {}, 10);
    EXPECT_EQ(rows[0].transfers, 0);
    EXPECT_TRUE(std::isnan(rows[0].completion_p95_s));
    EXPECT_EQ(rows[1].transfers, 1);
}

}  // namespace
}  // namespace ww::metrics::test
