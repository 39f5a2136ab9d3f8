/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests the windows, ACK by ACK: every branch of the pseudo-code (Mascolo et al. 2001; Gangadhar et
 * al. 2013, 3.2.2; Frikha 2005), and the attributes. ww-estimator tests the estimate.
 */
#include "ww-subject.h"

#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-westwood.h"

using namespace ns3;

namespace
{

constexpr uint32_t MSS = WwDriven::MSS;

} // namespace

/** \brief "ssthresh = (BWE * RTTmin) / seg_size", at least 2, after three DUPACKs and a timeout.
 */
class WwSsThreshTestCase : public TestCase
{
  public:
    explicit WwSsThreshTestCase(const std::string& protocol)
        : TestCase("ssthresh after losses is the pipe: " + protocol),
          m_protocol(protocol)
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t pipe = 10;
        // Linux's recovery uses Reno's half, and ends with the pipe.
        const bool atExit = WwSubject::Setting(m_protocol, "HalveOnLoss") == "true";
        WwDriven loss(WwSubject::Factory(m_protocol));
        loss.Settle();
        loss.ThreeDupAcks();
        NS_TEST_EXPECT_MSG_EQ_TOL(Segments(loss), (atExit ? 25u : pipe), 1u, "three DUPACKs");
        loss.ops->CongestionStateSet(loss.tcb, TcpSocketState::CA_OPEN);
        NS_TEST_EXPECT_MSG_EQ_TOL(Segments(loss), pipe, 1u, "at the end of recovery");
        WwDriven timeout(WwSubject::Factory(m_protocol));
        timeout.Settle();
        timeout.Timeout();
        NS_TEST_EXPECT_MSG_EQ_TOL(Segments(timeout), pipe, 1u, "timeout");
        WwDriven fresh(WwSubject::Factory(m_protocol));
        fresh.Timeout();
        NS_TEST_EXPECT_MSG_EQ(Segments(fresh), 2u, "timeout before any sample: the floor");
        WwDriven slow(WwSubject::Factory(m_protocol));
        for (int i = 0; i < 100; i++)
        {
            slow.Ack(MilliSeconds(120)); // less than a segment per round trip
        }
        slow.Timeout();
        NS_TEST_EXPECT_MSG_EQ(Segments(slow), 2u, "a pipe below 2: the floor");
        Simulator::Destroy();
    }

    uint32_t Segments(const WwDriven& driven) const
    {
        return driven.tcb->m_ssThresh.Get() / MSS;
    }

    std::string m_protocol; //!< protocol
};

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

/** \brief The plateau of Frikha 2005: equations 1 to 6, after a timeout, and without a reduction.
 */
class WwPlateauTestCase : public TestCase
{
  public:
    WwPlateauTestCase()
        : TestCase("WestwoodNR+ holds a plateau after a loss")
    {
    }

  private:
    /// Takes a connection with this cwnd through a loss, to the first ACK after recovery.
    void Lose(WwDriven& driven, uint32_t cwnd) const
    {
        driven.Settle();
        driven.tcb->m_cWnd = cwnd * MSS;
        driven.ThreeDupAcks();
        driven.ops->CongestionStateSet(driven.tcb, TcpSocketState::CA_OPEN);
        driven.tcb->m_congState = TcpSocketState::CA_OPEN;
        driven.tcb->m_cWnd = driven.tcb->m_ssThresh.Get();
        driven.ops->IncreaseWindow(driven.tcb, 1);
        driven.Ack(MilliSeconds(10));
    }

    void DoRun() override
    {
        WwDriven driven(WwSubject::Factory("westwoodnr+"));
        Lose(driven, 50);
        const uint32_t ssthresh = driven.tcb->m_ssThresh.Get() / MSS;
        const uint32_t plateau = ssthresh + (50 - ssthresh) / 2;
        NS_TEST_EXPECT_MSG_EQ(Cwnd(driven), plateau, "equations 1 and 6");
        uint32_t acks = 1;
        for (; Cwnd(driven) == plateau && acks < 10000; acks++) // equations 3 and 4
        {
            driven.Ack(MilliSeconds(10));
        }
        uint32_t expected = 0; // from ssthresh past the plateau, one segment per window of ACKs
        for (uint32_t counter = ssthresh; counter <= plateau; counter++)
        {
            expected += counter;
        }
        NS_TEST_EXPECT_MSG_EQ(Cwnd(driven), plateau + 1, "equation 5");
        NS_TEST_EXPECT_MSG_EQ_TOL(acks, expected, plateau, "length of the plateau");

        WwDriven timeout(WwSubject::Factory("westwoodnr+"));
        Lose(timeout, 50);
        timeout.Timeout();
        timeout.tcb->m_congState = TcpSocketState::CA_OPEN;
        timeout.Ack(MilliSeconds(10));
        NS_TEST_EXPECT_MSG_EQ(Cwnd(timeout), 2u, "a timeout ends the plateau: slow start");

        WwDriven small(WwSubject::Factory("westwoodnr+"));
        Lose(small, 6); // below the pipe of ten: no reduction
        NS_TEST_EXPECT_MSG_LT_OR_EQ(Cwnd(small), 10u, "no plateau without a reduction");
    }

    uint32_t Cwnd(const WwDriven& driven) const
    {
        return driven.tcb->m_cWnd.Get() / MSS;
    }
};

/** \brief The suite. */
class WwTcpWestwoodTestSuite : public TestSuite
{
  public:
    WwTcpWestwoodTestSuite()
        : TestSuite("ww-tcp-westwood", Type::UNIT)
    {
        for (const std::string& protocol : WwSubject::Classics())
        {
            AddTestCase(new WwSsThreshTestCase(protocol));
        }
        AddTestCase(new WwEnterRecoveryTestCase);
        AddTestCase(new WwAttributesTestCase);
        AddTestCase(new WwForkTestCase);
        AddTestCase(new WwPlateauTestCase);
    }
};

static WwTcpWestwoodTestSuite g_wwTcpWestwoodTestSuite; //!< registers itself
