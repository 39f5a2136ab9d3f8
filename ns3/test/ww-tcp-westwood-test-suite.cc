/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * The congestion control by itself, ACK by ACK: every branch of the pseudo-code (Mascolo et al. 2001;
 * Gangadhar et al. 2013, 3.2.2; Frikha 2005), the virtual null samples, the filters, the attributes.
 */
#include "ww-subject.h"

#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-westwood.h"

#include <cmath>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = WwDriven::MSS;
constexpr double RATE = 8e5; // bit/s of Settle's ACKs

/// This module's congestion control, with attributes.
ObjectFactory
Ours(const std::string& protocol, const std::vector<std::pair<std::string, std::string>>& more = {})
{
    ObjectFactory factory = WwSubject::Ours(protocol).congestion;
    for (const auto& [name, value] : more)
    {
        factory.Set(name, StringValue(value));
    }
    return factory;
}

/// A segment every 10 ms and RTTmin 100 ms: 100 kB/s, a pipe of ten segments.
void
Settle(WwDriven& driven, int acks = 2000)
{
    for (int i = 0; i < acks; i++)
    {
        driven.Ack(MilliSeconds(10));
    }
}

void
ThreeDupAcks(WwDriven& driven)
{
    driven.DupAck(MilliSeconds(10));
    driven.DupAck(MilliSeconds(10));
    driven.DupAck(MilliSeconds(10), true);
}

} // namespace

/** \brief The estimate of a steady stream of ACKs is its rate, and the trace fires once a sample. */
class WwEstimateTestCase : public TestCase
{
  public:
    explicit WwEstimateTestCase(const std::string& protocol)
        : TestCase("Estimate of a steady stream: " + protocol),
          m_protocol(protocol)
    {
    }

  private:
    void DoRun() override
    {
        WwDriven driven(Ours(m_protocol));
        Settle(driven);
        NS_TEST_ASSERT_MSG_EQ(driven.estimates.all.empty(), false, "no estimate was traced");
        NS_TEST_EXPECT_MSG_EQ_TOL(driven.estimates.all.back().second, RATE, 8e3, "estimate");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(driven.estimates.all.size(), 2000, "more than one an ACK");
        Simulator::Destroy();
    }

    std::string m_protocol; //!< which
};

/** \brief What each ACK of a sequence counts (Mascolo 2001, "Delayed and Cumulative ACKs"). */
class WwCountTestCase : public TestCase
{
  public:
    /** \brief An ACK for so many segments, 0 being a duplicate, and what it has to count. */
    using Acks = std::vector<std::pair<uint32_t, uint32_t>>;

    WwCountTestCase(const std::string& branch, const std::string& protocol, const Acks& acks)
        : TestCase("Counting: " + branch + ", " + protocol),
          m_protocol(protocol),
          m_acks(acks)
    {
    }

  private:
    void DoRun() override
    {
        WwDriven driven(Ours(m_protocol));
        driven.Ack(MilliSeconds(10)); // opens the first interval
        for (const auto& [segments, counts] : m_acks)
        {
            if (segments == 0)
            {
                driven.DupAck(MilliSeconds(10));
            }
            else
            {
                driven.Ack(MilliSeconds(10), segments);
            }
            NS_TEST_ASSERT_MSG_EQ(driven.samples.empty(), false, "a sample an ACK");
            const double counted = driven.samples.back() * 0.01 / (8.0 * MSS);
            NS_TEST_EXPECT_MSG_EQ_TOL(counted, counts, 1e-3, "an ACK for " << segments);
        }
        Simulator::Destroy();
    }

    std::string m_protocol; //!< which
    Acks m_acks;            //!< the sequence
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
        WwDriven driven(Ours("WestwoodPlus"));
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
        for (const auto& [when, estimate] : driven.estimates.all)
        {
            NS_TEST_EXPECT_MSG_LT(estimate, RATE * 1.05, "above the rate of delivery at " << when);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(driven.estimates.all.back().second, RATE, 4e4, "the rate");
        Simulator::Destroy();
    }
};

/** \brief "ssthresh = (BWE * RTTmin) / seg_size", not below 2, after three DUPACKs and a timeout. */
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
        // Linux' recovery runs on Reno's half, and ends with the pipe.
        const bool atExit = m_protocol == "WestwoodPlusLinux";
        WwDriven loss(Ours(m_protocol));
        Settle(loss);
        ThreeDupAcks(loss);
        NS_TEST_EXPECT_MSG_EQ_TOL(Segments(loss), (atExit ? 25u : pipe), 1u, "three DUPACKs");
        loss.ops->CongestionStateSet(loss.tcb, TcpSocketState::CA_OPEN);
        NS_TEST_EXPECT_MSG_EQ_TOL(Segments(loss), pipe, 1u, "the end of recovery");
        WwDriven timeout(Ours(m_protocol));
        Settle(timeout);
        timeout.Timeout();
        NS_TEST_EXPECT_MSG_EQ_TOL(Segments(timeout), pipe, 1u, "timeout");
        WwDriven fresh(Ours(m_protocol));
        fresh.Timeout();
        NS_TEST_EXPECT_MSG_EQ(Segments(fresh), 2u, "timeout before a sample: the floor");
        WwDriven slow(Ours(m_protocol));
        for (int i = 0; i < 100; i++)
        {
            slow.Ack(MilliSeconds(120)); // less than a segment a round trip
        }
        slow.Timeout();
        NS_TEST_EXPECT_MSG_EQ(Segments(slow), 2u, "a pipe of less than 2: the floor");
        Simulator::Destroy();
    }

    uint32_t Segments(const WwDriven& driven) const
    {
        return driven.tcb->m_ssThresh.Get() / MSS;
    }

    std::string m_protocol; //!< which
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
        for (const auto& [cwnd, after] : {std::pair(50u, 20u), std::pair(20u, 20u), std::pair(8u, 8u)})
        {
            auto tcb = CreateObject<TcpSocketState>();
            tcb->m_segmentSize = MSS;
            tcb->m_ssThresh = 20 * MSS;
            tcb->m_cWnd = cwnd * MSS;
            tcb->m_cWndInfl = cwnd * MSS;
            CreateObject<WwClassicRecovery>()->EnterRecovery(tcb, 3, cwnd * MSS, 0);
            NS_TEST_EXPECT_MSG_EQ(tcb->m_cWnd.Get() / MSS, after, "cwnd was " << cwnd);
            NS_TEST_EXPECT_MSG_EQ(tcb->m_cWndInfl.Get() / MSS,
                                  after + 3,
                                  "and each duplicate ACK lets a segment out (RFC 5681, 3.2)");
        }
    }
};

/** \brief After each Tau / m without an ACK the estimate decays by (2m - 1) / (2m + 1). */
class WwVirtualSampleTestCase : public TestCase
{
  public:
    WwVirtualSampleTestCase(uint32_t m, Time tau)
        : TestCase("Virtual null samples: m = " + std::to_string(m) + ", tau = " +
                   std::to_string(tau.GetMilliSeconds()) + " ms"),
          m_m(m),
          m_tau(tau)
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<std::pair<std::string, std::string>> attributes{
            {"VirtualSamples", std::to_string(m_m)},
            {"Tau", std::to_string(m_tau.GetMicroSeconds()) + "us"}};
        const Time silence = MilliSeconds(510);
        const double unit = m_m == 0 ? 1e9 : m_tau.GetSeconds() / m_m;
        const double steps = std::floor(silence.GetSeconds() / unit);
        const double factor = (2.0 * m_m - 1) / (2.0 * m_m + 1);

        WwDriven timeout(Ours("Westwood", attributes));
        Settle(timeout);
        const double decayed = timeout.estimates.all.back().second * std::pow(factor, steps);
        Simulator::Stop(silence);
        Simulator::Run();
        timeout.Timeout(); // reads the estimate in the silence
        NS_TEST_EXPECT_MSG_EQ(timeout.tcb->m_ssThresh.Get() / MSS,
                              std::max(2u, static_cast<uint32_t>(decayed * 0.1 / (8 * MSS))),
                              "ssthresh of a timeout");
        WwDriven ack(Ours("Westwood", attributes));
        Settle(ack);
        ack.Ack(silence);
        // Then the ACK's own step over what remains of the silence; it brings 1 segment.
        const double rest = silence.GetSeconds() - steps * unit;
        const double last = m_m == 0 ? RATE : 0; // sample before
        const double twice = 2 * m_tau.GetSeconds();
        const double expected =
            ((twice - rest) * decayed + rest * last + 8.0 * MSS) / (twice + rest);
        NS_TEST_EXPECT_MSG_EQ_TOL(ack.estimates.all.back().second, expected, RATE * 0.002, "ACK");
        Simulator::Destroy();
    }

    uint32_t m_m; //!< samples a time constant
    Time m_tau;   //!< time constant
};

/** \brief Each filter's answer to a rate that doubles, against its equation. */
class WwFilterTestCase : public TestCase
{
  public:
    WwFilterTestCase()
        : TestCase("Filters follow their equations")
    {
    }

  private:
    /// The estimate after `acks` of two segments each, in place of one.
    double Doubled(const std::vector<std::pair<std::string, std::string>>& attributes, int acks) const
    {
        WwDriven driven(Ours("Westwood", attributes));
        Settle(driven);
        for (int i = 0; i < acks; i++)
        {
            driven.Ack(MilliSeconds(10), 2);
        }
        const double estimate = driven.estimates.all.back().second;
        Simulator::Destroy();
        return estimate / RATE;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "None"}}, 1), 2, 1e-3, "the sample");
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "Ewma"}}, 5),
                                  2 - std::pow(7.0 / 8, 5),
                                  1e-3,
                                  "7/8 and 1/8 (Dell'Aera 2003, equation 1)");
        double b = 1;
        for (int i = 0; i < 5; i++)
        {
            b = 0.6 * b + 0.4 / 2 * (i == 0 ? 3 : 4);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "TustinConstant"}, {"Alpha", "0.6"}}, 5),
                                  b,
                                  1e-3,
                                  "(Gangadhar 2013, equation 1)");
        b = 1;
        for (int i = 0; i < 5; i++) // 2 tau / D = 20
        {
            b = (19 * b + (i == 0 ? 3 : 4)) / 21;
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "Tustin"}, {"Tau", "100ms"}}, 5),
                                  b,
                                  1e-3,
                                  "(Mascolo 2001)");
    }
};

/** \brief The attributes that no other case turns. */
class WwAttributesTestCase : public TestCase
{
  public:
    WwAttributesTestCase()
        : TestCase("Attributes: MinInterval, RttSource, ByteCounting")
    {
    }

  private:
    void DoRun() override
    {
        WwDriven apart(Ours("WestwoodPlus", {{"MinInterval", "300ms"}}));
        Settle(apart, 1000);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(apart.estimates.all.size(), 33, "ten seconds' samples");
        for (const auto& [source, floor] : {std::pair("Samples", 60), std::pair("Smoothed", 90)})
        {
            WwDriven driven(Ours("WestwoodPlus", {{"RttSource", source}}));
            driven.ops->TraceConnectWithoutContext("RttMin",
                                                   MakeCallback(&WwAttributesTestCase::Min, this));
            Settle(driven, 100);
            const Time smoothed = MilliSeconds(95); // = 7/8 100 + 1/8 60
            driven.Ack(MilliSeconds(10), 1, MilliSeconds(60), smoothed);
            NS_TEST_EXPECT_MSG_EQ_TOL(m_min, MilliSeconds(floor), MilliSeconds(5), source);
        }
        for (const auto& [counting, growth] : {std::pair("false", 100u), std::pair("true", 200u)})
        {
            WwDriven driven(Ours("WestwoodPlus", {{"ByteCounting", counting}}));
            driven.tcb->m_ssThresh = 1000 * MSS;
            for (int i = 0; i < 100; i++) // slow start by delayed ACKs: RFC 3465, 2.2
            {
                driven.Ack(MilliSeconds(10), 2);
            }
            NS_TEST_EXPECT_MSG_EQ(driven.tcb->m_cWnd.Get() / MSS - 100, growth, counting);
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
        : TestCase("A fork starts anew")
    {
    }

  private:
    void DoRun() override
    {
        WwDriven driven(Ours("WestwoodNRPlus", {{"PlateauCte", "3.6"}}));
        Settle(driven);
        Ptr<TcpCongestionOps> fork = driven.ops->Fork();
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

/** \brief The plateau of Frikha 2005: equations 1 to 6, a timeout, and no fall. */
class WwPlateauTestCase : public TestCase
{
  public:
    WwPlateauTestCase()
        : TestCase("WestwoodNR+ holds a plateau after a loss")
    {
    }

  private:
    /// cwnd before the loss to the first ACK after recovery.
    void Lose(WwDriven& driven, uint32_t cwnd) const
    {
        Settle(driven);
        driven.tcb->m_cWnd = cwnd * MSS;
        ThreeDupAcks(driven);
        driven.ops->CongestionStateSet(driven.tcb, TcpSocketState::CA_OPEN);
        driven.tcb->m_congState = TcpSocketState::CA_OPEN;
        driven.tcb->m_cWnd = driven.tcb->m_ssThresh.Get();
        driven.ops->IncreaseWindow(driven.tcb, 1);
        driven.Ack(MilliSeconds(10));
    }

    void DoRun() override
    {
        WwDriven driven(Ours("WestwoodNRPlus"));
        Lose(driven, 50);
        const uint32_t ssthresh = driven.tcb->m_ssThresh.Get() / MSS;
        const uint32_t plateau = ssthresh + (50 - ssthresh) / 2;
        NS_TEST_EXPECT_MSG_EQ(Cwnd(driven), plateau, "equations 1 and 6");
        uint32_t acks = 1;
        for (; Cwnd(driven) == plateau && acks < 10000; acks++) // equations 3 and 4
        {
            driven.Ack(MilliSeconds(10));
        }
        uint32_t expected = 0; // from ssthresh past the plateau, a segment a window of ACKs
        for (uint32_t counter = ssthresh; counter <= plateau; counter++)
        {
            expected += counter;
        }
        NS_TEST_EXPECT_MSG_EQ(Cwnd(driven), plateau + 1, "equation 5");
        NS_TEST_EXPECT_MSG_EQ_TOL(acks, expected, plateau, "how long it holds");

        WwDriven timeout(Ours("WestwoodNRPlus"));
        Lose(timeout, 50);
        timeout.Timeout();
        timeout.tcb->m_congState = TcpSocketState::CA_OPEN;
        timeout.Ack(MilliSeconds(10));
        NS_TEST_EXPECT_MSG_EQ(Cwnd(timeout), 2u, "a timeout ends it: slow start");

        WwDriven small(Ours("WestwoodNRPlus"));
        Lose(small, 6); // below the pipe of ten: nothing falls
        NS_TEST_EXPECT_MSG_LT_OR_EQ(Cwnd(small), 10u, "no plateau without a fall");
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
        for (const std::string protocol : {"Westwood",
                                           "WestwoodPlus",
                                           "WestwoodNRPlus",
                                           "WestwoodNs3",
                                           "WestwoodPlusNs3",
                                           "WestwoodPlusLinux"})
        {
            AddTestCase(new WwEstimateTestCase(protocol));
            AddTestCase(new WwSsThreshTestCase(protocol));
        }
        AddTestCase(new WwCountTestCase("a duplicate ACK is a segment", "Westwood", {{0, 1}, {0, 1}}));
        AddTestCase(new WwCountTestCase("a segment", "Westwood", {{1, 1}, {0, 1}, {1, 1}, {1, 1}}));
        AddTestCase(new WwCountTestCase("a delayed ACK", "Westwood", {{2, 2}, {3, 3}}));
        AddTestCase(new WwCountTestCase("more than was accounted for",
                                        "Westwood",
                                        {{0, 1}, {0, 1}, {0, 1}, {5, 2}, {2, 2}}));
        // A partial ACK: all but the retransmission were counted. See core/ackcount.h.
        AddTestCase(new WwCountTestCase("less than was accounted for",
                                        "Westwood",
                                        {{0, 1}, {0, 1}, {0, 1}, {3, 1}, {3, 2}, {2, 2}}));
        AddTestCase(new WwCountTestCase("less than was accounted for, to the letter",
                                        "WestwoodNs3",
                                        {{0, 1}, {0, 1}, {0, 1}, {3, 1}, {3, 3}, {2, 2}}));
        AddTestCase(new WwDupAckTestCase);
        AddTestCase(new WwEnterRecoveryTestCase);
        AddTestCase(new WwVirtualSampleTestCase(10, MilliSeconds(500)));
        AddTestCase(new WwVirtualSampleTestCase(4, MilliSeconds(500)));
        AddTestCase(new WwVirtualSampleTestCase(10, MilliSeconds(250)));
        AddTestCase(new WwVirtualSampleTestCase(0, MilliSeconds(500)));
        AddTestCase(new WwFilterTestCase);
        AddTestCase(new WwAttributesTestCase);
        AddTestCase(new WwForkTestCase);
        AddTestCase(new WwPlateauTestCase);
    }
};

static WwTcpWestwoodTestSuite g_wwTcpWestwoodTestSuite; //!< registers itself
