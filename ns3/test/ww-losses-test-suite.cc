/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Traces EstimatedBW, ssthresh and cwnd around losses in connections over a link, as ns-3's
 * maintainers asked of a Westwood (ns-3-dev, work item 579). Segments are lost by number, so that
 * each case is known: one, several of a window, one and its retransmission, a whole window.
 */
#include "ww-path.h"

#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-helper.h"
#include "ns3/ww-tcp-westwood.h"

#include <cmath>
#include <numeric>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1000;
constexpr double LINK = 2e6; // bit/s

std::vector<uint32_t>
Range(uint32_t first, uint32_t count)
{
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

/// A loss: the sender's windows after it, and the estimate before it.
struct Loss
{
    bool isTimeout;
    Time when;
    uint32_t cwndBefore, ssThresh; // bytes
    double estimate;               // bit/s
    Time sinceSample, rttMin;
};

/// Records the windows and estimates of a connection.
class Follower
{
  public:
    explicit Follower(Ptr<TcpSocketBase> socket)
    {
        PointerValue value;
        socket->GetAttribute("CongestionOps", value);
        ops = value.Get<TcpCongestionOps>();
        estimates.Connect(ops);
        ops->TraceConnectWithoutContext("RttMin", MakeCallback(&Follower::RttMin, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold",
                                           MakeCallback(&Follower::SsThresh, this));
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Follower::Cwnd, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Follower::State, this));
    }

    Ptr<TcpCongestionOps> ops;
    WwEstimates estimates;
    std::vector<Loss> losses;
    std::vector<uint32_t> afterRecovery; // cwnd, bytes
    uint32_t timeouts = 0, recoveries = 0;

  private:
    void RttMin(Time, Time value)
    {
        m_rttMin = value;
    }

    void Cwnd(uint32_t before, uint32_t after)
    {
        if (m_cwndAt != Simulator::Now())
        {
            m_cwndBefore = before;
            m_cwndAt = Simulator::Now();
        }
        m_cwnd = after;
    }

    void SsThresh(uint32_t, uint32_t value)
    {
        m_ssThresh = value;
    }

    /// Reads a loss's windows after the ACK or timeout has been processed.
    void State(TcpSocketState::TcpCongState_t before, TcpSocketState::TcpCongState_t after)
    {
        if (after == TcpSocketState::CA_LOSS || after == TcpSocketState::CA_RECOVERY)
        {
            const bool isTimeout = after == TcpSocketState::CA_LOSS;
            (isTimeout ? timeouts : recoveries)++;
            Simulator::ScheduleNow(&Follower::Lost, this, isTimeout);
        }
        else if (before == TcpSocketState::CA_RECOVERY && after == TcpSocketState::CA_OPEN)
        {
            Simulator::ScheduleNow(&Follower::Recovered, this);
        }
    }

    void Lost(bool isTimeout)
    {
        const uint32_t before = m_cwndAt == Simulator::Now() ? m_cwndBefore : m_cwnd;
        const auto [when, estimate] =
            estimates.all.empty() ? std::pair(Time(0), 0.0) : estimates.all.back();
        losses.push_back({isTimeout,
                          Simulator::Now(),
                          before,
                          m_ssThresh,
                          estimate,
                          Simulator::Now() - when,
                          m_rttMin});
    }

    void Recovered()
    {
        afterRecovery.push_back(m_cwnd);
    }

    uint32_t m_cwnd = 0, m_cwndBefore = 0, m_ssThresh = 0;
    Time m_cwndAt, m_rttMin;
};

/// The losses of a connection and their expected effect.
struct Script
{
    std::string name;
    std::vector<uint32_t> lost; // numbers of the lost segments, in order of transmission
    bool timesOut;              // with any recovery
};

} // namespace

/** \brief Scripted losses under one of the protocols with one of the recoveries. */
class WwLossesTestCase : public TestCase
{
  public:
    WwLossesTestCase(const std::string& protocol, const std::string& recovery, const Script& script)
        : TestCase(protocol + ", " + recovery + ": " + script.name),
          m_protocol(protocol),
          m_recovery(recovery),
          m_script(script)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp",
                           BooleanValue(false)); // their resolution is a millisecond
        // The pipe holds 22 segments and the queue 100: the queue is used, and does not overflow.
        // (The receiver's window can't be the limit: with SACK, a socket of ns-3 3.37 crashes when
        // it is full.)
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(30 * MSS));
        WwPath path("2Mbps", "45ms");
        path.Lose(m_script.lost);
        WwTcpHelper helper(m_protocol);
        helper.SetRecovery(m_recovery);
        helper.Install(path.nodes.Get(0));
        Follower follower(path.SendBy(helper.GetSocketFactory()));
        path.Run(Seconds(20));
        Episodes(follower, path);
        for (const Loss& loss : follower.losses)
        {
            SsThresh(loss);
        }
        for (const uint32_t cwnd : follower.afterRecovery)
        {
            NS_TEST_EXPECT_MSG_LT_OR_EQ(cwnd,
                                        follower.losses.front().cwndBefore,
                                        "recovery raises cwnd");
        }
        Estimates(follower);
    }

    /// Checks that each lost segment is retransmitted once, by a recovery or a timeout as expected.
    void Episodes(const Follower& follower, const WwPath& path)
    {
        NS_TEST_EXPECT_MSG_GT(path.Received(), 1000 * MSS, "data keeps arriving");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(path.retransmitted, m_script.lost.size(), "sent again");
        // Tahoe treats three duplicate ACKs as a timeout, and Reno times out after three losses in
        // a window (Fall and Floyd 1996, sections 2.1 and 4).
        const bool timesOut = m_script.timesOut || m_recovery == "tahoe" ||
                              (m_recovery == "reno" && m_script.lost.size() > 1);
        NS_TEST_EXPECT_MSG_EQ((follower.timeouts > 0), timesOut, "a timeout");
        if (m_script.lost.size() == 1 && m_recovery != "tahoe")
        {
            NS_TEST_EXPECT_MSG_EQ(follower.recoveries, 1, "one loss, one recovery");
            NS_TEST_EXPECT_MSG_EQ(path.retransmitted, 1, "one loss, one retransmission");
        }
    }

    /// Checks "ssthresh = (BWE * RTTmin) / seg_size" in whole segments, at least 2.
    void SsThresh(const Loss& loss)
    {
        double estimate = loss.estimate;
        if (WwSubject::Setting(m_protocol, "Filter") == "tustin" &&
            WwSubject::Setting(m_protocol, "NullAtTimeout") == "true")
        {
            // Each virtual null sample, one every tau / m, multiplies it by (2m - 1) / (2m + 1).
            const double m = std::stod(WwSubject::Setting(m_protocol, "M"));
            const double tau = Time(WwSubject::Setting(m_protocol, "Tau")).GetSeconds();
            const double samples = std::floor(loss.sinceSample.GetSeconds() / (tau / m));
            estimate *= std::pow((2 * m - 1) / (2 * m + 1), samples);
        }
        const double pipe = std::max(2.0, estimate * loss.rttMin.GetSeconds() / 8 / MSS);
        const double segments = loss.ssThresh / static_cast<double>(MSS);
        NS_TEST_EXPECT_MSG_GT(segments, pipe - 1.01, "ssthresh at " << loss.when.As(Time::S));
        NS_TEST_EXPECT_MSG_LT(segments, pipe + 0.01, "ssthresh at " << loss.when.As(Time::S));
    }

    /// Checks that losses neither raise the estimate above the link's rate nor make it collapse.
    void Estimates(const Follower& follower)
    {
        NS_TEST_ASSERT_MSG_EQ(follower.losses.empty(), false, "no loss was seen");
        const Time first = follower.losses.front().when;
        double highest = 0;
        double before = 0;
        double after = 0;
        for (const auto& [when, estimate] : follower.estimates.all)
        {
            highest = std::max(highest, estimate);
            before = when < first ? estimate : before;
            after = when < first + Seconds(3) ? estimate : after;
        }
        // Without a filter or a bound, samples may exceed it.
        if (WwSubject::Setting(m_protocol, "Filter") != "none" &&
            WwSubject::Setting(m_protocol, "BoundSamples") == "true")
        {
            NS_TEST_EXPECT_MSG_LT(highest, LINK * 1.02, "above the link's rate");
        }
        if (m_protocol == "westwood+" && !m_script.timesOut)
        {
            NS_TEST_EXPECT_MSG_GT(after, before * 0.4, "collapsed from " << before);
        }
    }

    std::string m_protocol; //!< protocol
    std::string m_recovery; //!< loss recovery
    Script m_script;        //!< the losses
};

/** \brief A lossy path, with ns-3's usual way to set and trace a congestion control. */
class WwPathTestCase : public TestCase
{
  public:
    explicit WwPathTestCase(bool sack)
        : TestCase(std::string("A lossy path by SocketType and trace paths, SACK ") +
                   (sack ? "on" : "off")),
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
        WwPath path("2Mbps", "45ms");
        path.LoseAtRandom(0.005);
        path.SendBy("ns3::TcpSocketFactory");
        Simulator::Schedule(MilliSeconds(2), &WwPathTestCase::Hook, this);
        path.Run(Seconds(60));
        NS_TEST_EXPECT_MSG_GT(path.Received() * 8 / 60.0, 0.6e6, "goodput");
        NS_TEST_ASSERT_MSG_GT(m_count, 100, "the estimate was traced");
        NS_TEST_EXPECT_MSG_LT(m_sum / m_count, LINK, "the mean estimate is above the link's rate");
    }

    bool m_sack;      //!< SACK on
    double m_sum = 0; //!< sum of the estimates
    int m_count = 0;  //!< number of estimates
};

/** \brief The suite. */
class WwLossesTestSuite : public TestSuite
{
  public:
    WwLossesTestSuite()
        : TestSuite("ww-losses", Type::SYSTEM)
    {
    }

  private:
    void DoSetup() override // not in the constructor: other files' TypeIds may not exist yet
    {
        const std::vector<Script> scripts{
            {"a segment", {600}, false},
            {"three segments of a window", {600, 602, 605}, false},
            {"a whole window", Range(600, 40), true},
            {"a segment late in the transfer", {2000}, false},
        };
        for (const std::string& protocol : WwSubject::Classics())
        {
            if (WwSubject::Setting(protocol, "HalveOnLoss") == "true")
            {
                continue; // its ssthresh reaches the pipe only when recovery ends
            }
            for (const std::string recovery : {"sack", "newreno", "reno", "tahoe"})
            {
                for (const Script& script : scripts)
                {
                    AddTestCase(new WwLossesTestCase(protocol, recovery, script));
                }
            }
        }
        AddTestCase(new WwPathTestCase(true));
        AddTestCase(new WwPathTestCase(false));
    }
};

static WwLossesTestSuite g_wwLossesTestSuite; //!< registers itself
