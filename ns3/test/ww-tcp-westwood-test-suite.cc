/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-westwood.h"

#include <cmath>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1000;

/// A congestion control and the socket's state it sees, ACK by ACK.
class Driven
{
  public:
    explicit Driven(WwTcpWestwood::Protocol protocol)
    {
        tcb = CreateObject<TcpSocketState>();
        tcb->m_segmentSize = MSS;
        tcb->m_cWnd = 100 * MSS;
        tcb->m_ssThresh = 50 * MSS;
        tcb->m_lastRtt = MilliSeconds(100);
        tcb->m_lastAckedSeq = SequenceNumber32(1);
        ops = CreateObject<WwTcpWestwood>();
        ops->SetAttribute("Protocol", EnumValue(protocol));
        ops->TraceConnectWithoutContext("EstimatedBW", MakeCallback(&Driven::Estimate, this));
        ops->TraceConnectWithoutContext("SampleBW", MakeCallback(&Driven::Sample, this));
        ops->Init(tcb);
    }

    /// An ACK for new data, `after` the one before.
    void Ack(Time after, uint32_t segments = 1)
    {
        Simulator::Stop(after);
        Simulator::Run();
        tcb->m_lastAckedSeq += segments * MSS;
        ops->PktsAcked(tcb, segments, tcb->m_lastRtt);
        ops->IncreaseWindow(tcb, segments);
    }

    /// A duplicate ACK, as ProcessAck reports it; the third one enters recovery first.
    void DupAck(Time after, bool third = false)
    {
        Simulator::Stop(after);
        Simulator::Run();
        if (third)
        {
            ops->CongestionStateSet(tcb, TcpSocketState::CA_RECOVERY);
            tcb->m_congState = TcpSocketState::CA_RECOVERY;
            tcb->m_ssThresh = ops->GetSsThresh(tcb, 50 * MSS);
        }
        ops->PktsAcked(tcb, 1, tcb->m_lastRtt);
    }

    void Timeout()
    {
        tcb->m_ssThresh = ops->GetSsThresh(tcb, 50 * MSS);
        ops->CongestionStateSet(tcb, TcpSocketState::CA_LOSS);
        tcb->m_congState = TcpSocketState::CA_LOSS;
        tcb->m_cWnd = MSS;
    }

    void Estimate(double, double bw)
    {
        estimates.push_back(bw);
    }

    void Sample(double, double bw)
    {
        samples.push_back(bw);
    }

    Ptr<TcpSocketState> tcb;
    Ptr<WwTcpWestwood> ops;
    std::vector<double> estimates;
    std::vector<double> samples;
};

/// A segment every 10 ms and RTTmin 100 ms: 100 kB/s, a pipe of ten segments.
void
Settle(Driven& driven, int acks = 2000)
{
    for (int i = 0; i < acks; i++)
    {
        driven.Ack(MilliSeconds(10));
    }
}

} // namespace

/** \brief The estimate of a steady stream of ACKs is its rate, and the trace fires once a sample. */
class WwEstimateTestCase : public TestCase
{
  public:
    explicit WwEstimateTestCase(WwTcpWestwood::Protocol protocol, const std::string& name)
        : TestCase("Estimate of a steady stream: " + name),
          m_protocol(protocol)
    {
    }

  private:
    void DoRun() override
    {
        Driven driven(m_protocol);
        Settle(driven);
        NS_TEST_ASSERT_MSG_EQ(driven.estimates.empty(), false, "no estimate was traced");
        NS_TEST_EXPECT_MSG_EQ_TOL(driven.estimates.back(), 8e5, 8e3, "estimate");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(driven.estimates.size(), 2000, "more than one an ACK");
        Simulator::Destroy();
    }

    WwTcpWestwood::Protocol m_protocol; //!< which
};

/** \brief After three DUPACKs ssthresh is BWE * RTTmin / MSS; after a timeout, too. */
class WwLossTestCase : public TestCase
{
  public:
    WwLossTestCase()
        : TestCase("Windows after losses are the pipe")
    {
    }

  private:
    void DoRun() override
    {
        Driven loss(WwTcpWestwood::WESTWOOD_PLUS);
        Settle(loss);
        loss.DupAck(MilliSeconds(10));
        loss.DupAck(MilliSeconds(10));
        loss.DupAck(MilliSeconds(10), true);
        NS_TEST_EXPECT_MSG_EQ_TOL(loss.tcb->m_ssThresh.Get() / MSS, 10u, 1u, "three DUPACKs");
        Driven timeout(WwTcpWestwood::WESTWOOD_PLUS);
        Settle(timeout);
        timeout.Timeout();
        NS_TEST_EXPECT_MSG_EQ_TOL(timeout.tcb->m_ssThresh.Get() / MSS, 10u, 1u, "timeout");
        Driven fresh(WwTcpWestwood::WESTWOOD);
        fresh.Timeout();
        NS_TEST_EXPECT_MSG_EQ(fresh.tcb->m_ssThresh.Get() / MSS, 2u, "the floor");
        Simulator::Destroy();
    }
};

/** \brief Duplicate ACKs count once: the estimate of a stream of them is the rate, too. */
class WwDupAckTestCase : public TestCase
{
  public:
    WwDupAckTestCase()
        : TestCase("Duplicate ACKs are counted once, and the ACK that covers them not again")
    {
    }

  private:
    void DoRun() override
    {
        Driven driven(WwTcpWestwood::WESTWOOD_PLUS);
        Settle(driven);
        // Twenty rounds of a loss: nine DUPACKs, then an ACK for all ten segments.
        for (int round = 0; round < 20; round++)
        {
            for (int i = 0; i < 9; i++)
            {
                driven.DupAck(MilliSeconds(10));
            }
            driven.Ack(MilliSeconds(10), 10);
        }
        for (double estimate : driven.estimates)
        {
            NS_TEST_EXPECT_MSG_LT(estimate, 8e5 * 1.05, "above the rate of delivery");
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(driven.estimates.back(), 8e5, 4e4, "the rate of delivery");
        Simulator::Destroy();
    }
};

/** \brief With no ACK for Tau / m the estimate decays by ((2m - 1) / (2m + 1)). */
class WwVirtualSampleTestCase : public TestCase
{
  public:
    WwVirtualSampleTestCase()
        : TestCase("Virtual null samples decay the estimate")
    {
    }

  private:
    void DoRun() override
    {
        Driven driven(WwTcpWestwood::WESTWOOD);
        Settle(driven);
        const double before = driven.estimates.back();
        // Ten virtual samples of 50 ms, and the ACK's own step.
        driven.Ack(MilliSeconds(510));
        const double decayed = before * std::pow(19.0 / 21.0, 10);
        NS_TEST_EXPECT_MSG_EQ_TOL(driven.estimates.back(), decayed, before * 0.05, "decay");
        Simulator::Destroy();
    }
};

/** \brief A forked socket has the settings of its parent and none of its measurements. */
class WwForkTestCase : public TestCase
{
  public:
    WwForkTestCase()
        : TestCase("A fork starts anew")
    {
    }

  private:
    void DoRun() override
    {
        Driven driven(WwTcpWestwood::WESTWOODNR_PLUS);
        driven.ops->SetAttribute("PlateauCte", DoubleValue(3.6));
        Settle(driven);
        auto fork = DynamicCast<WwTcpWestwood>(driven.ops->Fork());
        DoubleValue cte;
        fork->GetAttribute("PlateauCte", cte);
        NS_TEST_EXPECT_MSG_EQ(cte.Get(), 3.6, "a setting");
        auto tcb = CreateObject<TcpSocketState>();
        tcb->m_segmentSize = MSS;
        tcb->m_cWnd = 10 * MSS;
        fork->Init(tcb);
        NS_TEST_EXPECT_MSG_EQ(fork->GetSsThresh(tcb, 10 * MSS), 2 * MSS, "no measurement");
        Simulator::Destroy();
    }
};

/** \brief The plateau: ssthresh + (cwnd - ssthresh) / cte on the first new ACK after recovery. */
class WwPlateauTestCase : public TestCase
{
  public:
    WwPlateauTestCase()
        : TestCase("WestwoodNR+ holds a plateau after a loss")
    {
    }

  private:
    void DoRun() override
    {
        Driven driven(WwTcpWestwood::WESTWOODNR_PLUS);
        Settle(driven);
        driven.tcb->m_cWnd = 50 * MSS;
        driven.DupAck(MilliSeconds(10));
        driven.DupAck(MilliSeconds(10));
        driven.DupAck(MilliSeconds(10), true);
        const uint32_t ssthresh = driven.tcb->m_ssThresh.Get() / MSS;
        driven.ops->CongestionStateSet(driven.tcb, TcpSocketState::CA_OPEN);
        driven.tcb->m_congState = TcpSocketState::CA_OPEN;
        driven.tcb->m_cWnd = driven.tcb->m_ssThresh.Get();
        driven.ops->IncreaseWindow(driven.tcb, 1);
        driven.Ack(MilliSeconds(10));
        const uint32_t plateau = ssthresh + (50 - ssthresh) / 2;
        NS_TEST_EXPECT_MSG_EQ(driven.tcb->m_cWnd.Get() / MSS, plateau, "the plateau");
        Simulator::Destroy();
    }
};

/** \brief On a lossy path: what users saw go wrong with mainline's TcpWestwoodPlus. */
class WwPathTestCase : public TestCase
{
  public:
    explicit WwPathTestCase(bool sack)
        : TestCase(std::string("A lossy path, SACK ") + (sack ? "on" : "off")),
          m_sack(sack)
    {
    }

  private:
    void Estimate(double, double bw)
    {
        m_sum += bw;
        m_count++;
    }

    void Hook()
    {
        Config::ConnectWithoutContext(
            "/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/CongestionOps/$ns3::WwTcpWestwood/"
            "EstimatedBW",
            MakeCallback(&WwPathTestCase::Estimate, this));
    }

    void DoRun() override
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                           TypeIdValue(WwTcpWestwood::GetTypeId()));
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                           TypeIdValue(WwClassicRecovery::GetTypeId()));
        Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(m_sack));
        NodeContainer nodes(2);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("2Mbps"));
        link.SetChannelAttribute("Delay", StringValue("45ms"));
        const NetDeviceContainer devices = link.Install(nodes);
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(0.005);
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
        const Ipv4InterfaceContainer interfaces = address.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 5000));
        const ApplicationContainer sinks = sink.Install(nodes.Get(1));
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(interfaces.GetAddress(1), 5000));
        source.Install(nodes.Get(0)).Start(Seconds(0));
        Simulator::Schedule(MilliSeconds(1), &WwPathTestCase::Hook, this);
        Simulator::Stop(Seconds(60));
        Simulator::Run();
        const double goodput = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() * 8 / 60.0;
        NS_TEST_EXPECT_MSG_GT(goodput, 0.6e6, "goodput");
        NS_TEST_ASSERT_MSG_GT(m_count, 100, "the estimate was traced");
        NS_TEST_EXPECT_MSG_LT(m_sum / m_count, 2e6, "the mean estimate is above the link's rate");
        Simulator::Destroy();
        Config::Reset();
    }

    bool m_sack;      //!< SACK on
    double m_sum = 0; //!< of the estimates
    int m_count = 0;  //!< how many
};

/** \brief The suite. */
class WwTcpWestwoodTestSuite : public TestSuite
{
  public:
    WwTcpWestwoodTestSuite()
        : TestSuite("ww-tcp-westwood", Type::UNIT)
    {
        AddTestCase(new WwEstimateTestCase(WwTcpWestwood::WESTWOOD, "Westwood"));
        AddTestCase(new WwEstimateTestCase(WwTcpWestwood::WESTWOOD_PLUS, "Westwood+"));
        AddTestCase(new WwEstimateTestCase(WwTcpWestwood::WESTWOOD_NS3, "Westwood, ns-3 2013"));
        AddTestCase(new WwLossTestCase);
        AddTestCase(new WwDupAckTestCase);
        AddTestCase(new WwVirtualSampleTestCase);
        AddTestCase(new WwForkTestCase);
        AddTestCase(new WwPlateauTestCase);
        AddTestCase(new WwPathTestCase(true));
        AddTestCase(new WwPathTestCase(false));
    }
};

static WwTcpWestwoodTestSuite g_wwTcpWestwoodTestSuite; //!< registers itself
