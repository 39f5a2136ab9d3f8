/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests that this ns-3 reproduces the figures of "TCP Westwood(+) Protocol Implementation in ns-3"
 * (Gangadhar et al., WNS3 2013). The paper's access link (10 Mb/s, 45 ms) and bottleneck are a
 * single link in this test. The protocols are those of the paper, without SACK. A run has 100 s
 * instead of 600 s. This is slow:
 *
 *   ./test.py --suite=ww-figures --fullness=TAKES_FOREVER
 */
#include "../model/ww-releases.h"
#include "ww-path.h"

#include "ns3/ww-tcp-helper.h"

#include <map>

using namespace ns3;

namespace
{

/// A point of a figure: Table 1 of the paper with the figure's change.
struct Point
{
    std::string protocol;
    double per = 0.005;
    double rate = 2;     // Mb/s
    double delay = 0.01; // of the bottleneck, ms
    uint32_t delayedAck = 2;
    uint32_t packet = 400; // bytes
};

/// The measurements at a point.
struct Result
{
    double throughput; // Mb/s
    double meanCwnd;   // segments
};

/// The mean of cwnd over time.
class MeanCwnd
{
  public:
    void Changed(uint32_t before, uint32_t)
    {
        m_sum += before * (Simulator::Now() - m_since).GetSeconds();
        m_since = Simulator::Now();
    }

    double Bytes() const
    {
        return m_sum / m_since.GetSeconds();
    }

  private:
    double m_sum = 0;
    Time m_since;
};

WwTcpHelper
Sender(const std::string& protocol)
{
    WwTcpHelper helper(protocol);
    if (protocol.find("westwood") == 0)
    {
        helper.SetRecovery("newreno");
    }
    return helper;
}

Result
Measure(const Point& point)
{
    const uint32_t mss = point.packet - 40;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(point.delayedAck));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    WwPath path(std::to_string(point.rate) + "Mbps", std::to_string(45 + point.delay) + "ms");
    path.LoseAtRandom(point.per);
    const WwTcpHelper sender = Sender(point.protocol);
    sender.Install(path.nodes.Get(0));
    MeanCwnd cwnd;
    path.SendBy(sender.GetSocketFactory())
        ->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&MeanCwnd::Changed, &cwnd));
    path.Run(Seconds(100));
    return {path.Received() * 8 / 100e6, cwnd.Bytes() / mss};
}

double
Throughput(const Point& point)
{
    return Measure(point).throughput;
}

} // namespace

/** \brief A figure. */
class WwFigureTestCase : public TestCase
{
  public:
    WwFigureTestCase(const std::string& name, void (WwFigureTestCase::*figure)())
        : TestCase(name),
          m_figure(figure)
    {
    }

    /** \brief Throughput over the packet error rate */
    void Figure5();
    /** \brief Throughput over the bottleneck's delay */
    void Figure6();
    /** \brief Throughput over the bottleneck's rate */
    void Figure7();
    /** \brief Throughput over the delayed ACK count */
    void Figure8();
    /** \brief Throughput over the packet size */
    void Figure9();
    /** \brief The congestion windows over time */
    void Figure10();
    /** \brief The estimate under ACK compression */
    void Figure11();

  private:
    void DoRun() override
    {
        (this->*m_figure)();
    }

    void (WwFigureTestCase::*m_figure)(); //!< the figure's checks
};

void
WwFigureTestCase::Figure5()
{
    std::map<std::string, double> last;
    for (const double per : {0.001, 0.005, 0.01, 0.05})
    {
        std::map<std::string, double> now;
        for (const std::string protocol : {"westwood-ns3", "westwood+-ns3", "newreno", "reno"})
        {
            now[protocol] = Throughput({protocol, per});
            if (!last.empty() &&
                per > 0.005) // "a decrease in throughput as the error rate is increased"
            {
                NS_TEST_EXPECT_MSG_LT(now[protocol], last[protocol], protocol << " at " << per);
            }
        }
        if (per >= 0.005) // "a huge performance improvement"; "the next best is Westwood+"
        {
            NS_TEST_EXPECT_MSG_GT(now["westwood-ns3"], 2 * now["newreno"], "at " << per);
            NS_TEST_EXPECT_MSG_GT(now["westwood-ns3"], 1.1 * now["westwood+-ns3"], "at " << per);
        }
        NS_TEST_EXPECT_MSG_GT(now["westwood+-ns3"], now["newreno"], "at " << per);
        // "the similarity in performance of TCP Reno and TCP NewReno"
        NS_TEST_EXPECT_MSG_EQ_TOL(now["reno"] / now["newreno"], 1, 0.25, "at " << per);
        last = now;
    }
}

void
WwFigureTestCase::Figure6()
{
    double first = 0;
    for (const double delay : {0.01, 50.0, 100.0, 250.0})
    {
        const double newReno = Throughput({"newreno", 0.005, 2, delay});
        const double westwood = Throughput({"westwood-ns3", 0.005, 2, delay});
        NS_TEST_EXPECT_MSG_GT(westwood, 2 * newReno, "at " << delay << " ms");
        NS_TEST_EXPECT_MSG_GT(Throughput({"westwood+-ns3", 0.005, 2, delay}),
                              newReno,
                              "at " << delay << " ms");
        first = std::max(first, westwood);
        if (delay == 250)
        {
            NS_TEST_EXPECT_MSG_LT(westwood, first, "a longer path has less throughput");
        }
    }
}

void
WwFigureTestCase::Figure7()
{
    double westwood = 0;
    std::vector<double> newReno;
    // The paper goes on to 8 Mb/s. There the unfiltered estimate overfills a queue of 100 packets,
    // in ns-3 as in the project's simulator; the paper does not state its queue's limit.
    for (const double rate : {1.0, 2.0, 4.0})
    {
        const double now = Throughput({"westwood-ns3", 0.005, rate});
        NS_TEST_EXPECT_MSG_GT(now, 1.2 * westwood, "the added bandwidth is used, at " << rate);
        westwood = now;
        newReno.push_back(Throughput({"newreno", 0.005, rate}));
        NS_TEST_EXPECT_MSG_GT(westwood, 1.5 * newReno.back(), "at " << rate << " Mb/s");
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(newReno.back() / newReno[1], 1, 0.2, "\"unaffected by the change\"");
}

void
WwFigureTestCase::Figure8()
{
    for (const std::string protocol : {"westwood-ns3", "reno"})
    {
        const double each = Throughput({protocol, 0.005, 2, 0.01, 1});
        const double eighth = Throughput({protocol, 0.005, 2, 0.01, 8});
        NS_TEST_EXPECT_MSG_GT(each, eighth, protocol << ": a delayed ACK count of 1 performs best");
        // "TCP Reno is sensitive to the delayed ACKs"
        const bool westwood = protocol == "westwood-ns3";
        NS_TEST_EXPECT_MSG_EQ((eighth / each > 0.6), westwood, protocol << ": " << eighth / each);
    }
}

void
WwFigureTestCase::Figure9()
{
    for (const std::string protocol : {"westwood-ns3", "westwood+-ns3", "reno"})
    {
        const double least = Throughput({protocol, 0.001, 2, 0.01, 2, 100});
        const double most = Throughput({protocol, 0.001, 2, 0.01, 2, 1500});
        NS_TEST_EXPECT_MSG_GT(most, least, protocol << ": an MTU of 1500 B performs best");
    }
}

void
WwFigureTestCase::Figure10()
{
    const double westwood = Measure({"westwood-ns3"}).meanCwnd;
    const double plus = Measure({"westwood+-ns3"}).meanCwnd;
    NS_TEST_EXPECT_MSG_GT(westwood, plus, "the congestion window of Westwood is the highest");
    NS_TEST_EXPECT_MSG_GT(plus, Measure({"reno"}).meanCwnd, "Westwood+ is second");
}

void
WwFigureTestCase::Figure11()
{
    std::map<std::string, double> highest; // in units of the link's rate
    for (const std::string protocol : {"westwood-ns3", "westwood+-ns3", "westwood+"})
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(360));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        WwPath path("500kbps", "45ms");
        const WwTcpHelper sender = Sender(protocol);
        sender.Install(path.nodes);
        PointerValue value;
        path.SendBy(sender.GetSocketFactory())->GetAttribute("CongestionOps", value);
        WwEstimates estimates;
        estimates.Connect(value.Get<TcpCongestionOps>());
        path.SendBack(sender.GetSocketFactory(), Seconds(2));
        path.Run(Seconds(20));
        for (const auto& [when, estimate] : estimates.all)
        {
            if (when > Seconds(3))
            {
                highest[protocol] = std::max(highest[protocol], estimate / 500e3);
            }
        }
    }
    // "the bandwidth is greatly overestimated to 8 Mb/s when the bottleneck bandwidth is only 500
    // kb/s"
    NS_TEST_EXPECT_MSG_GT(highest["westwood-ns3"], 5, "Westwood overestimates");
    // "the maximum estimated bandwidth is only slightly higher than 500 kb/s": true with the filter
    // that the protocol was published with. Without it, as in the paper's text, the burst at the
    // end of a recovery shows in the estimate, as in the simulator (docs/claims.md, ns3.fig11).
    NS_TEST_EXPECT_MSG_LT(highest["westwood+"], 1.1, "Westwood+ does not");
    NS_TEST_EXPECT_MSG_LT(highest["westwood+-ns3"],
                          highest["westwood-ns3"] / 2,
                          "less, without its filter");
}

/** \brief The suite. */
class WwFiguresTestSuite : public TestSuite
{
  public:
    WwFiguresTestSuite()
        : TestSuite("ww-figures", Type::SYSTEM)
    {
        using Case = WwFigureTestCase;
        const auto add = [this](const std::string& name, void (Case::*figure)()) {
            AddTestCase(new Case(name, figure), TakesForever<TestCase>(0));
        };
        add("Figure 5: throughput over the packet error rate", &Case::Figure5);
        add("Figure 6: over the bottleneck's delay", &Case::Figure6);
        add("Figure 7: over the bottleneck's rate", &Case::Figure7);
        add("Figure 8: over the delayed ACK count", &Case::Figure8);
        add("Figure 9: over the packet size", &Case::Figure9);
        add("Figure 10: congestion windows", &Case::Figure10);
        add("Figure 11: the estimate under ACK compression", &Case::Figure11);
    }
};

static WwFiguresTestSuite g_wwFiguresTestSuite; //!< registers itself
