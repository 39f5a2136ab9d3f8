/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests WwTcpHelper and what it installs: the socket factories, their recoveries, and settings per
 * node.
 */
#include "ww-path.h"

#include "ns3/ww-catalogue.h"
#include "ns3/ww-tcp-helper.h"
#include "ns3/ww-tcp-socket.h"
#include "ns3/ww-tcp-westwood.h"

using namespace ns3;

namespace
{

/// Finds the congestion control of a socket.
Ptr<TcpCongestionOps>
CongestionOf(Ptr<Socket> socket)
{
    PointerValue value;
    socket->GetAttribute("CongestionOps", value);
    return value.Get<TcpCongestionOps>();
}

/// Reads an attribute of the congestion control as text.
std::string
Setting(Ptr<Socket> socket, const std::string& name)
{
    StringValue value;
    CongestionOf(socket)->GetAttribute(name, value);
    return value.Get();
}

Ptr<Socket>
Make(Ptr<Node> node, const WwTcpHelper& helper)
{
    return Socket::CreateSocket(node, TypeId::LookupByName(helper.GetSocketFactory()));
}

} // namespace

/** \brief The factories work per node, do not affect ns-3's own sockets, and can be installed
 * again. */
class WwInstallTestCase : public TestCase
{
  public:
    WwInstallTestCase()
        : TestCase("Install: settings per node, without changing existing sockets")
    {
    }

  private:
    void DoRun() override
    {
        NodeContainer nodes(2);
        InternetStackHelper().Install(nodes);
        WwTcpHelper slow("westwood");
        slow.SetAttribute("Tau", TimeValue(Seconds(1)));
        slow.Install(nodes.Get(0));
        WwTcpHelper other("westwoodnr+");
        other.SetRecovery("newreno");
        other.Install(nodes.Get(0));
        WwTcpHelper("westwood").Install(nodes.Get(1));
        Ptr<Socket> first = Make(nodes.Get(0), slow);
        NS_TEST_EXPECT_MSG_EQ(first->GetInstanceTypeId(), WwTcpSocket::GetTypeId(), "its class");
        NS_TEST_EXPECT_MSG_EQ(Setting(first, "Protocol"), "westwood", "protocol");
        NS_TEST_EXPECT_MSG_EQ(Setting(first, "Tau"), "+1e+09ns", "its own setting");
        NS_TEST_EXPECT_MSG_EQ(Setting(Make(nodes.Get(1), slow), "Tau"),
                              "+5e+08ns",
                              "another node's");
        Ptr<Socket> second = Make(nodes.Get(0), other);
        NS_TEST_EXPECT_MSG_EQ(Setting(second, "Protocol"), "westwoodnr+", "another recovery's");
        Ptr<Socket> standard = Socket::CreateSocket(nodes.Get(0), TcpSocketFactory::GetTypeId());
        NS_TEST_EXPECT_MSG_EQ((standard->GetInstanceTypeId() == WwTcpSocket::GetTypeId()),
                              false,
                              "ns-3's own factory is unchanged");
        WwTcpHelper("ns3::TcpCubic").Install(nodes.Get(0));
        NS_TEST_EXPECT_MSG_EQ(CongestionOf(Make(nodes.Get(0), slow))->GetInstanceTypeId().GetName(),
                              "ns3::TcpCubic",
                              "a second Install changes the node's SACK sockets");
        NS_TEST_EXPECT_MSG_EQ(Setting(first, "Protocol"), "westwood", "but not existing ones");
        Simulator::Destroy();
    }
};

/** \brief Each protocol and recovery transfers data over a lossy link. */
class WwTransferTestCase : public TestCase
{
  public:
    WwTransferTestCase(const std::string& protocol, const std::string& recovery)
        : TestCase("A transfer: " + protocol + " " + recovery),
          m_protocol(protocol),
          m_recovery(recovery)
    {
    }

  private:
    void DoRun() override
    {
        WwTcpHelper helper(m_protocol);
        if (!m_recovery.empty())
        {
            helper.SetRecovery(m_recovery);
        }
        WwPath path("2Mbps", "45ms");
        path.LoseAtRandom(0.001);
        helper.Install(path.nodes.Get(0));
        path.SendBy(helper.GetSocketFactory());
        path.Run(Seconds(20));
        NS_TEST_EXPECT_MSG_GT(path.Received() * 8 / 20.0, 0.5e6, "goodput");
        NS_TEST_EXPECT_MSG_GT(path.retransmitted, 0, "something was lost");
    }

    std::string m_protocol; //!< protocol
    std::string m_recovery; //!< loss recovery; empty: the protocol's
};

/** \brief Each recovery's reaction to three duplicate ACKs, and to a slow start that overfills the
 * queue. */
class WwRecoveryTestCase : public TestCase
{
  public:
    explicit WwRecoveryTestCase(const std::string& recovery)
        : TestCase("Recovery as " + recovery),
          m_recovery(recovery)
    {
    }

  private:
    void State(TcpSocketState::TcpCongState_t before, TcpSocketState::TcpCongState_t after)
    {
        m_recoveries += after == TcpSocketState::CA_RECOVERY;
        m_losses += after == TcpSocketState::CA_LOSS;
        m_undisturbed += before == TcpSocketState::CA_RECOVERY && after == TcpSocketState::CA_OPEN;
    }

    uint64_t Transfer(const std::vector<uint32_t>& lost)
    {
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(360));
        if (!lost.empty()) // leave slow start early, so that nothing else is lost
        {
            Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                               UintegerValue(30 * 360));
        }
        m_recoveries = m_losses = m_undisturbed = 0;
        WwTcpHelper helper(m_recovery);
        WwPath path("2Mbps", "45ms");
        path.Lose(lost);
        helper.Install(path.nodes.Get(0));
        path.SendBy(helper.GetSocketFactory())
            ->TraceConnectWithoutContext("CongState",
                                         MakeCallback(&WwRecoveryTestCase::State, this));
        path.Run(Seconds(20));
        return path.Received();
    }

    void DoRun() override
    {
        Transfer({400, 402});
        NS_TEST_EXPECT_MSG_EQ(m_losses, (m_recovery == "tahoe" ? 1 : 0), "Tahoe goes back");
        // Reno leaves at the first ACK for new data, and the second loss starts another recovery.
        const int entries = m_recovery == "tahoe" ? 0 : m_recovery == "reno" ? 2 : 1;
        NS_TEST_EXPECT_MSG_EQ(m_recoveries, entries, "two losses in a window");
        NS_TEST_EXPECT_MSG_EQ(m_undisturbed, entries, "recovery ends");
        const double goodput = Transfer({}) * 8 / 20e6;
        NS_TEST_EXPECT_MSG_GT(goodput, 1.2, "after a slow start that overfilled the queue");
    }

    std::string m_recovery; //!< loss recovery
    int m_recoveries = 0;   //!< fast recoveries
    int m_losses = 0;       //!< timeouts, or Tahoe's go-backs
    int m_undisturbed = 0;  //!< recoveries that ended without a timeout
};

/** \brief The suite. */
class WwTcpHelperTestSuite : public TestSuite
{
  public:
    WwTcpHelperTestSuite()
        : TestSuite("ww-tcp-helper", Type::SYSTEM)
    {
        AddTestCase(new WwInstallTestCase);
        for (const std::string recovery : {"tahoe", "reno", "newreno", "sack"})
        {
            AddTestCase(new WwRecoveryTestCase(recovery));
            AddTestCase(new WwTransferTestCase(recovery, ""));
            AddTestCase(new WwTransferTestCase("westwood+", recovery));
        }
        for (const std::string& protocol : WwFamily())
        {
            AddTestCase(new WwTransferTestCase(protocol, ""));
        }
        AddTestCase(new WwTransferTestCase("cubic", ""));
        AddTestCase(new WwTransferTestCase("ns3::TcpCubic", "newreno"));
    }
};

static WwTcpHelperTestSuite g_wwTcpHelperTestSuite; //!< registers itself
