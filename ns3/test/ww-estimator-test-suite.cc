/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests the bandwidth estimate, ACK by ACK: every branch of the counting (Mascolo et al. 2001;
 * Gangadhar et al. 2013, 3.2.2), the virtual null samples, the filters.
 */
#include "ww-subject.h"

#include <cmath>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = WwDriven::MSS;
constexpr double RATE = WwDriven::RATE;

} // namespace

/** \brief The estimate of a steady stream of ACKs is its rate; the trace fires once per sample.
 */
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
        WwDriven driven(WwSubject::Factory(m_protocol));
        driven.Settle();
        NS_TEST_ASSERT_MSG_EQ(driven.estimates.all.empty(), false, "no estimate was traced");
        NS_TEST_EXPECT_MSG_EQ_TOL(driven.estimates.all.back().second, RATE, 8e3, "estimate");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(driven.estimates.all.size(), 2000, "more than one per ACK");
        Simulator::Destroy();
    }

    std::string m_protocol; //!< protocol
};

/** \brief How many segments each ACK counts (Mascolo 2001, "Delayed and Cumulative ACKs"). */
class WwCountTestCase : public TestCase
{
  public:
    /** \brief The segments that an ACK covers (0: a duplicate), and the segments that it counts. */
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
        WwDriven driven(WwSubject::Factory(m_protocol));
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
            NS_TEST_ASSERT_MSG_EQ(driven.samples.empty(), false, "a sample per ACK");
            const double counted = driven.samples.back() * 0.01 / (8.0 * MSS);
            NS_TEST_EXPECT_MSG_EQ_TOL(counted, counts, 1e-3, "an ACK for " << segments);
        }
        Simulator::Destroy();
    }

    std::string m_protocol; //!< protocol
    Acks m_acks;            //!< the sequence of ACKs
};

/** \brief Duplicate ACKs count once: the estimate of a stream of them is also the rate. */
class WwDupAckTestCase : public TestCase
{
  public:
    WwDupAckTestCase()
        : TestCase("Duplicate ACKs are counted once, and not again by the ACK that covers them")
    {
    }

  private:
    void DoRun() override
    {
        WwDriven driven(WwSubject::Factory("westwood+"));
        driven.Settle();
        // Each of twenty rounds has a loss: nine DUPACKs, then an ACK for all ten segments.
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
            NS_TEST_EXPECT_MSG_LT(estimate, RATE * 1.05, "above the delivery rate at " << when);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(driven.estimates.all.back().second, RATE, 4e4, "the rate");
        Simulator::Destroy();
    }
};

/** \brief After each Tau / m without an ACK the estimate decays by (2m - 1) / (2m + 1). */
class WwVirtualSampleTestCase : public TestCase
{
  public:
    WwVirtualSampleTestCase(uint32_t m, Time tau)
        : TestCase("Virtual null samples: m = " + std::to_string(m) +
                   ", tau = " + std::to_string(tau.GetMilliSeconds()) + " ms"),
          m_m(m),
          m_tau(tau)
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<std::pair<std::string, std::string>> attributes{
            {"M", std::to_string(m_m)},
            {"Tau", std::to_string(m_tau.GetMicroSeconds()) + "us"}};
        const Time silence = MilliSeconds(510);
        const double unit = m_m == 0 ? 1e9 : m_tau.GetSeconds() / m_m;
        const double steps = std::floor(silence.GetSeconds() / unit);
        const double factor = (2.0 * m_m - 1) / (2.0 * m_m + 1);

        for (const std::string counts : {"false", "true"}) // the silence so far, at a timeout
        {
            auto more = attributes;
            more.emplace_back("NullAtTimeout", counts);
            WwDriven timeout(WwSubject::Factory("westwood", more));
            timeout.Settle();
            const double estimate = timeout.estimates.all.back().second *
                                    (counts == "true" ? std::pow(factor, steps) : 1);
            Simulator::Stop(silence);
            Simulator::Run();
            timeout.Timeout(); // reads the estimate during the silence
            NS_TEST_EXPECT_MSG_EQ(timeout.tcb->m_ssThresh.Get() / MSS,
                                  std::max(2u, static_cast<uint32_t>(estimate * 0.1 / (8 * MSS))),
                                  "ssthresh after a timeout, NullAtTimeout = " << counts);
        }
        WwDriven ack(WwSubject::Factory("westwood", attributes));
        ack.Settle();
        const double decayed = ack.estimates.all.back().second * std::pow(factor, steps);
        ack.Ack(silence);
        // The ACK then counts its 1 segment over the rest of the silence.
        const double rest = silence.GetSeconds() - steps * unit;
        const double last = m_m == 0 ? RATE : 0; // previous sample
        const double twice = 2 * m_tau.GetSeconds();
        const double expected =
            ((twice - rest) * decayed + rest * last + 8.0 * MSS) / (twice + rest);
        NS_TEST_EXPECT_MSG_EQ_TOL(ack.estimates.all.back().second, expected, RATE * 0.002, "ACK");
        Simulator::Destroy();
    }

    uint32_t m_m; //!< samples per time constant
    Time m_tau;   //!< time constant
};

/** \brief Each filter's response to a rate that doubles follows its equation. */
class WwFilterTestCase : public TestCase
{
  public:
    WwFilterTestCase()
        : TestCase("Filters follow their equations")
    {
    }

  private:
    /// Returns the estimate after `acks` ACKs of two segments each, which follow ACKs of one.
    double Doubled(const std::vector<std::pair<std::string, std::string>>& attributes,
                   int acks) const
    {
        WwDriven driven(WwSubject::Factory("westwood", attributes));
        driven.Settle();
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
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "none"}}, 1), 2, 1e-3, "the sample");
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "ewma"}}, 5),
                                  2 - std::pow(7.0 / 8, 5),
                                  1e-3,
                                  "7/8 and 1/8 (Dell'Aera 2003, equation 1)");
        double b = 1;
        for (int i = 0; i < 5; i++)
        {
            b = 0.6 * b + 0.4 / 2 * (i == 0 ? 3 : 4);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "tustin-constant"}, {"Alpha", "0.6"}}, 5),
                                  b,
                                  1e-3,
                                  "(Gangadhar 2013, equation 1)");
        b = 1;
        for (int i = 0; i < 5; i++) // 2 tau / D = 20
        {
            b = (19 * b + (i == 0 ? 3 : 4)) / 21;
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(Doubled({{"Filter", "tustin"}, {"Tau", "100ms"}}, 5),
                                  b,
                                  1e-3,
                                  "(Mascolo 2001)");
    }
};

/** \brief The suite. */
class WwEstimatorTestSuite : public TestSuite
{
  public:
    WwEstimatorTestSuite()
        : TestSuite("ww-estimator", Type::UNIT)
    {
        for (const std::string& protocol : WwSubject::Classics())
        {
            AddTestCase(new WwEstimateTestCase(protocol));
        }
        AddTestCase(
            new WwCountTestCase("a duplicate ACK counts a segment", "westwood", {{0, 1}, {0, 1}}));
        AddTestCase(new WwCountTestCase("a segment", "westwood", {{1, 1}, {0, 1}, {1, 1}, {1, 1}}));
        AddTestCase(new WwCountTestCase("a delayed ACK", "westwood", {{2, 2}, {3, 3}}));
        AddTestCase(new WwCountTestCase("more than was counted before",
                                        "westwood",
                                        {{0, 1}, {0, 1}, {0, 1}, {5, 2}, {2, 2}}));
        // A partial ACK: everything but the retransmission was counted. See core/ackcount.h.
        AddTestCase(new WwCountTestCase("less than was counted before",
                                        "westwood",
                                        {{0, 1}, {0, 1}, {0, 1}, {3, 1}, {3, 2}, {2, 2}}));
        AddTestCase(new WwCountTestCase("less than was counted before, by the paper's text",
                                        "westwood-ns3",
                                        {{0, 1}, {0, 1}, {0, 1}, {3, 1}, {3, 3}, {2, 2}}));
        AddTestCase(new WwDupAckTestCase);
        AddTestCase(new WwVirtualSampleTestCase(10, MilliSeconds(500)));
        AddTestCase(new WwVirtualSampleTestCase(4, MilliSeconds(500)));
        AddTestCase(new WwVirtualSampleTestCase(10, MilliSeconds(250)));
        AddTestCase(new WwVirtualSampleTestCase(0, MilliSeconds(500)));
        AddTestCase(new WwFilterTestCase);
    }
};

static WwEstimatorTestSuite g_wwEstimatorTestSuite; //!< registers itself
