/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests what WwTcpWestwood reports about an ACK to controls that have CongControl
 * (ww-deliveries.h), and how these controls recover from losses over a link.
 */
#include "../model/ww-deliveries.h"
#include "ww-path.h"

#include "ns3/ww-catalogue.h"
#include "ns3/ww-tcp-helper.h"

#include <algorithm>
#include <numeric>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1000;

/// A connection whose socket is played by the test.
class Connection
{
  public:
    Connection()
    {
        tcb->m_segmentSize = MSS;
        tcb->m_minRtt = MilliSeconds(100);
    }

    ~Connection()
    {
        Simulator::Destroy();
    }

    void Wait(Time span)
    {
        Simulator::Stop(span);
        Simulator::Run();
    }

    void Send(bool again = false)
    {
        Pipe(tcb->m_bytesInFlight.Get() + MSS);
        if (!again)
        {
            deliveries.HighestChanged(m_highest, m_highest + MSS);
            m_highest += MSS;
        }
    }

    void Pipe(uint32_t bytes)
    {
        deliveries.PipeChanged(tcb->m_bytesInFlight.Get(), bytes);
        tcb->m_bytesInFlight = bytes;
    }

    /// Delivers a segment that was sent at `sent`, when `prior` segments had been delivered. Then
    /// `lost` more are marked lost, and `repaired` of them are retransmitted at once.
    ww_sample Deliver(Time sent, uint32_t prior, uint32_t lost = 0, uint32_t repaired = 0)
    {
        m_sample.m_priorInFlight = tcb->m_bytesInFlight.Get();
        if (prior > m_sample.m_priorDelivered || m_sample.m_priorDelivered == 0)
        {
            m_sample.m_priorDelivered = prior;
            m_sample.m_ackElapsed = Simulator::Now() - sent;
            m_connection.m_firstSentTime = sent;
        }
        m_sample.m_ackedSacked = MSS;
        m_sample.m_bytesLoss = MSS; // must be ignored
        m_connection.m_txItemDelivered = prior;
        m_connection.m_delivered += MSS;
        Pipe(tcb->m_bytesInFlight.Get() - MSS * (1 + lost));
        for (uint32_t i = 0; i < repaired; i++)
        {
            Send(true);
        }
        ww_sample sample = {};
        deliveries.Fill(tcb, m_connection, m_sample, sample);
        return sample;
    }

    Ptr<TcpSocketState> tcb = CreateObject<TcpSocketState>();
    WwDeliveries deliveries;

  private:
    SequenceNumber32 m_highest{1};
    TcpRateOps::TcpRateConnection m_connection;
    TcpRateOps::TcpRateSample m_sample;
};

} // namespace

/** \brief An interval ends at its ACK, also for a segment sent together with an earlier one. */
class WwIntervalTestCase : public TestCase
{
  public:
    WwIntervalTestCase()
        : TestCase("An interval ends with the ACK whose sample it is")
    {
    }

  private:
    void DoRun() override
    {
        Connection connection;
        connection.Wait(MilliSeconds(1));
        for (int i = 0; i < 4; i++)
        {
            connection.Send();
        }
        connection.Wait(MilliSeconds(100));
        connection.Deliver(MilliSeconds(1), 0);
        connection.Send();
        connection.Send();
        const Time sent = Simulator::Now();
        connection.Wait(MilliSeconds(100));
        const ww_sample first = connection.Deliver(sent, MSS);
        connection.Wait(MilliSeconds(10));
        const ww_sample second = connection.Deliver(sent, MSS);
        NS_TEST_EXPECT_MSG_EQ(first.rate_segments, 1, "delivered since");
        NS_TEST_EXPECT_MSG_EQ(first.rate_interval_us, 100000, "a round trip");
        NS_TEST_EXPECT_MSG_EQ(second.rate_segments, 2, "delivered since");
        NS_TEST_EXPECT_MSG_EQ(second.rate_interval_us, 110000, "and 10 ms more");
        NS_TEST_EXPECT_MSG_EQ(second.prior_delivered, 1, "when both were sent");
        NS_TEST_EXPECT_MSG_EQ(second.delivered, 3, "by now");
        connection.Wait(MilliSeconds(10));
        const ww_sample older = connection.Deliver(MilliSeconds(1), 0);
        NS_TEST_EXPECT_MSG_EQ(older.newly_delivered, 1, "it was delivered");
        NS_TEST_EXPECT_MSG_EQ(older.rate_interval_us, 0, "sent before earlier deliveries");
    }
};

/** \brief Exactly the segments that left the pipe undelivered are lost. */
class WwLostTestCase : public TestCase
{
  public:
    WwLostTestCase()
        : TestCase("Losses count once; the pipe excludes their immediate retransmissions")
    {
    }

  private:
    void DoRun() override
    {
        Connection connection;
        for (int i = 0; i < 10; i++)
        {
            connection.Send();
        }
        connection.Wait(MilliSeconds(100));
        const ww_sample delivery = connection.Deliver(Time(0), 0);
        NS_TEST_EXPECT_MSG_EQ(delivery.newly_lost, 0, "a delivery");
        NS_TEST_EXPECT_MSG_EQ(delivery.pipe, 9, "one less");
        connection.Send(); // between two ACKs, so it is in the pipe
        const ww_sample loss = connection.Deliver(Time(0), 0, 2, 1);
        NS_TEST_EXPECT_MSG_EQ(loss.newly_lost, 2, "left the pipe undelivered");
        NS_TEST_EXPECT_MSG_EQ(loss.pipe, 7, "without the retransmissions during the ACK");
        const ww_sample repair = connection.Deliver(Time(0), 0);
        NS_TEST_EXPECT_MSG_EQ(repair.newly_lost, 0, "the retransmission arrives: no loss");
        NS_TEST_EXPECT_MSG_EQ(repair.pipe, 7, "includes the retransmission by now");
        connection.Pipe(0); // everything in flight is marked lost
        connection.deliveries.TimedOut();
        connection.Send(true);
        const ww_sample after = connection.Deliver(Time(0), 0);
        NS_TEST_EXPECT_MSG_EQ(after.newly_lost, 0, "a timeout's losses are not the ACK's");
    }
};

/** \brief A delivery has an RTT, by SACK as well, unless the segment was retransmitted. */
class WwDeliveryRttTestCase : public TestCase
{
  public:
    WwDeliveryRttTestCase()
        : TestCase("Retransmissions have no RTT")
    {
    }

  private:
    void DoRun() override
    {
        Connection connection;
        connection.Wait(MilliSeconds(1));
        connection.Send();
        connection.Wait(MilliSeconds(1));
        connection.Send(true);
        connection.Wait(MilliSeconds(1));
        connection.Send();
        connection.deliveries.MaySendAgain();
        connection.Wait(MilliSeconds(100));
        const ww_sample once = connection.Deliver(MilliSeconds(1), 1);
        NS_TEST_EXPECT_MSG_EQ(once.rate_rtt_us, 102000, "sent once");
        const ww_sample again = connection.Deliver(MilliSeconds(2), 2);
        NS_TEST_EXPECT_MSG_EQ(again.rate_rtt_us, 0, "sent again");
        const ww_sample both = connection.Deliver(MilliSeconds(3), 3);
        NS_TEST_EXPECT_MSG_EQ(both.rate_rtt_us, 0, "possibly retransmitted");
    }
};

/** \brief A control that has CongControl recovers from scripted losses over a link. */
class WwOwnRecoveryTestCase : public TestCase
{
  public:
    WwOwnRecoveryTestCase(const std::string& protocol,
                          const std::string& recovery,
                          const std::vector<uint32_t>& lost,
                          bool timesOut)
        : TestCase(protocol + ", " + recovery + ": of " + std::to_string(lost.size()) + " losses"),
          m_protocol(protocol),
          m_recovery(recovery),
          m_lost(lost),
          m_timesOut(timesOut)
    {
    }

  private:
    void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
    {
        m_recoveries += state == TcpSocketState::CA_RECOVERY;
        m_timeouts += state == TcpSocketState::CA_LOSS;
    }

    void Cwnd(uint32_t, uint32_t bytes)
    {
        m_mostCwnd = std::max(m_mostCwnd, bytes);
    }

    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(30 * MSS));
        WwPath path("2Mbps", "45ms", 1000);
        path.Lose(m_lost);
        WwTcpHelper helper(m_protocol);
        helper.SetRecovery(m_recovery);
        helper.Install(path.nodes.Get(0));
        const auto socket = path.SendBy(helper.GetSocketFactory());
        socket->TraceConnectWithoutContext("CongState",
                                           MakeCallback(&WwOwnRecoveryTestCase::State, this));
        socket->TraceConnectWithoutContext("CongestionWindow",
                                           MakeCallback(&WwOwnRecoveryTestCase::Cwnd, this));
        PointerValue value;
        socket->GetAttribute("CongestionOps", value);
        const auto ops = value.Get<TcpCongestionOps>();
        NS_TEST_EXPECT_MSG_EQ(ops->HasCongControl(), true, m_protocol);
        WwEstimates estimates;
        estimates.Connect(ops);
        path.Run(Seconds(10));
        NS_TEST_EXPECT_MSG_GT(path.Received(), 1.5e6, "the link is used");
        NS_TEST_EXPECT_MSG_EQ((m_timeouts > 0), m_timesOut, "a timeout");
        if (m_lost.size() == 1)
        {
            NS_TEST_EXPECT_MSG_EQ(m_recoveries, 1, "one loss, one recovery");
            NS_TEST_EXPECT_MSG_EQ(path.retransmitted, 1, "one loss, one retransmission");
        }
        NS_TEST_EXPECT_MSG_LT(m_mostCwnd, 1000 * MSS, "cwnd jumps, at least briefly");
        NS_TEST_ASSERT_MSG_EQ(estimates.all.empty(), false, "the estimate was traced");
        double highest = 0;
        for (const auto& [when, estimate] : estimates.all)
        {
            highest = std::max(highest, estimate);
        }
        // 1000 of a packet's 1042 bytes are payload. Without SACK everything that arrived during a
        // recovery is delivered at once when it ends.
        NS_TEST_EXPECT_MSG_GT(highest, 0.9 * 2e6, "the fastest delivery");
        if (m_recovery == "sack")
        {
            NS_TEST_EXPECT_MSG_LT(highest, 2e6, "the fastest delivery");
        }
    }

    std::string m_protocol;       //!< protocol
    std::string m_recovery;       //!< loss recovery of its socket
    std::vector<uint32_t> m_lost; //!< numbers of the lost segments, in order of transmission
    bool m_timesOut;              //!< whether a timeout is expected
    uint32_t m_recoveries{0};     //!< number of recoveries
    uint32_t m_timeouts{0};       //!< number of timeouts
    uint32_t m_mostCwnd{0};       //!< bytes
};

/** \brief The suite. */
class WwRatesTestSuite : public TestSuite
{
  public:
    WwRatesTestSuite()
        : TestSuite("ww-rates", Type::UNIT)
    {
        AddTestCase(new WwIntervalTestCase);
        AddTestCase(new WwLostTestCase);
        AddTestCase(new WwDeliveryRttTestCase);
        const auto window = [](std::size_t segments) {
            std::vector<uint32_t> all(segments);
            std::iota(all.begin(), all.end(), 600u);
            return all;
        };
        for (const std::string& protocol : WwFamily())
        {
            if (!WwFindProtocol(protocol)->hasCongControl)
            {
                continue;
            }
            for (const std::string recovery : {"sack", "newreno"})
            {
                AddTestCase(new WwOwnRecoveryTestCase(protocol, recovery, {600}, false));
                AddTestCase(new WwOwnRecoveryTestCase(protocol, recovery, {600, 602, 605}, false));
                const auto whole = window(protocol == "bbr3" ? 46 : 45); // its cwnd
                AddTestCase(new WwOwnRecoveryTestCase(protocol, recovery, whole, true));
            }
        }
    }
};

static WwRatesTestSuite g_wwRatesTestSuite; //!< registers itself
