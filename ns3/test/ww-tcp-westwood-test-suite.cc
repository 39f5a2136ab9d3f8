/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests what no recording of ACKs (ww-acks) shows: the window on entering recovery, attributes,
 * forked sockets.
 */
#include "ww-subject.h"

#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-westwood.h"

using namespace ns3;

namespace
{

constexpr uint32_t MSS = WwDriven::MSS;

} // namespace

/** \brief "if (cwin > ssthresh) cwin = ssthresh": both branches, on entering recovery. */
class WwEnterRecoveryTestCase : public TestCase
{
  public:
    WwEnterRecoveryTestCase()
        : TestCase("Entering recovery lowers cwnd to ssthresh and does not raise it")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [cwnd, after] :
             {std::pair(50u, 20u), std::pair(20u, 20u), std::pair(8u, 8u)})
        {
            auto tcb = CreateObject<TcpSocketState>();
            tcb->m_segmentSize = MSS;
            tcb->m_ssThresh = 20 * MSS;
            tcb->m_cWnd = cwnd * MSS;
            tcb->m_cWndInfl = cwnd * MSS;
            Ptr<TcpRecoveryOps> recovery = CreateObject<WwClassicRecovery>();
            EnterRecoveryOf(*recovery, &TcpRecoveryOps::EnterRecovery, tcb, 3, cwnd * MSS);
            NS_TEST_EXPECT_MSG_EQ(tcb->m_cWnd.Get() / MSS, after, "cwnd was " << cwnd);
            NS_TEST_EXPECT_MSG_EQ(tcb->m_cWndInfl.Get() / MSS,
                                  after + 3,
                                  "and each duplicate ACK releases a segment (RFC 5681, 3.2)");
        }
    }
};

/** \brief The attributes that no other case sets. */
class WwAttributesTestCase : public TestCase
{
  public:
    WwAttributesTestCase()
        : TestCase("Attributes: MinInterval, RttSource, ByteCounting, ValidateCwnd")
    {
    }

  private:
    void DoRun() override
    {
        WwDriven apart(WwSubject::Factory("westwood+", {{"MinInterval", "300ms"}}));
        apart.Settle(1000);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(apart.estimates.all.size(), 33, "ten seconds' samples");
        for (const auto& [source, floor] : {std::pair("Samples", 60), std::pair("Smoothed", 90)})
        {
            WwDriven driven(WwSubject::Factory("westwood+", {{"RttSource", source}}));
            driven.ops->TraceConnectWithoutContext("RttMin",
                                                   MakeCallback(&WwAttributesTestCase::Min, this));
            driven.Settle(100);
            const Time smoothed = MilliSeconds(95); // = 7/8 100 + 1/8 60
            driven.Ack(MilliSeconds(10), 1, MilliSeconds(60), smoothed);
            NS_TEST_EXPECT_MSG_EQ_TOL(m_min, MilliSeconds(floor), MilliSeconds(5), source);
        }
        for (const auto& [counting, growth] : {std::pair("false", 100u), std::pair("true", 200u)})
        {
            WwDriven driven(WwSubject::Factory("westwood+", {{"ByteCounting", counting}}));
            driven.tcb->m_ssThresh = 1000 * MSS;
            for (int i = 0; i < 100; i++) // slow start with delayed ACKs: RFC 3465, 2.2
            {
                driven.Ack(MilliSeconds(10), 2);
            }
            NS_TEST_EXPECT_MSG_EQ(driven.tcb->m_cWnd.Get() / MSS - 100, growth, counting);
        }
        for (const auto& [flight, growth] : {std::pair(50u, 0u), std::pair(99u, 1u)})
        {
            WwDriven driven(WwSubject::Factory("westwood+", {{"ValidateCwnd", "true"}}));
            driven.tcb->m_ssThresh = 1000 * MSS;
            driven.tcb->m_bytesInFlight = flight * MSS; // after the ACK of one more
            driven.Ack(MilliSeconds(10));
            NS_TEST_EXPECT_MSG_EQ(driven.tcb->m_cWnd.Get() / MSS - 100, growth, flight);
        }
        Simulator::Destroy();
    }

    void Min(Time, Time value)
    {
        m_min = value;
    }

    Time m_min; //!< RTTmin
};

/** \brief A forked socket has the settings of its parent and none of its measurements. */
class WwForkTestCase : public TestCase
{
  public:
    WwForkTestCase()
        : TestCase("A fork starts with a new state")
    {
    }

  private:
    void DoRun() override
    {
        WwDriven driven(WwSubject::Factory("westwoodnr+", {{"Cte", "3.6"}}));
        driven.Settle();
        Ptr<TcpCongestionOps> fork = driven.ops->Fork();
        DoubleValue cte;
        fork->GetAttribute("Cte", cte);
        NS_TEST_EXPECT_MSG_EQ(cte.Get(), 3.6, "a setting");
        auto tcb = CreateObject<TcpSocketState>();
        tcb->m_segmentSize = MSS;
        tcb->m_cWnd = 10 * MSS;
        fork->Init(tcb);
        NS_TEST_EXPECT_MSG_EQ(fork->GetSsThresh(tcb, 10 * MSS), 2 * MSS, "no measurement");
        Simulator::Destroy();
    }
};

/** \brief The suite. */
class WwTcpWestwoodTestSuite : public TestSuite
{
  public:
    WwTcpWestwoodTestSuite()
        : TestSuite("ww-tcp-westwood", Type::UNIT)
    {
        AddTestCase(new WwEnterRecoveryTestCase);
        AddTestCase(new WwAttributesTestCase);
        AddTestCase(new WwForkTestCase);
    }
};

static WwTcpWestwoodTestSuite g_wwTcpWestwoodTestSuite; //!< registers itself
