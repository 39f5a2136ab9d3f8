/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Replays to a socket the ACKs that the simulator's sender once received, at the same times. On
 * each the socket must decide as the simulator did (tests/golden/acks, which
 * tests/engine/replay_test.cpp also replays to the simulator).
 */
#include "../model/ww-phase.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/ww-releases.h"
#include "ns3/ww-tcp-helper.h"
#include "ns3/ww-tcp-westwood.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1000;
constexpr uint32_t SEGMENTS = 180;

/// Segments [first, second).
using Block = std::pair<uint32_t, uint32_t>;

/// A sender's decision on an ACK.
struct Decision
{
    std::string phase;
    double cwnd, ssthresh;   // segments
    double estimate, sample; // byte/s
    double rttMin;           // us

    /// Compares everything except the window during recovery, which depends on the host: one
    /// inflates it (RFC 6582), another counts separately.
    ///
    /// A paced sender's hosts differ in when they send: ns-3's begins a nanosecond later, and sends
    /// the first retransmission of a recovery between two paced segments. So its estimate of the
    /// bandwidth and its window differ by up to 5 %.
    bool Matches(const Decision& other, bool isPaced) const
    {
        if (isPaced)
        {
            const auto alike = [](double a, double b) { return std::abs(a - b) <= 0.05 * b; };
            return phase == other.phase && ssthresh == other.ssthresh && alike(cwnd, other.cwnd) &&
                   alike(estimate, other.estimate) && std::abs(rttMin - other.rttMin) <= 1;
        }
        const auto near = [](double a, double b, double most) { return std::abs(a - b) <= most; };
        return phase == other.phase && near(ssthresh, other.ssthresh, 0) &&
               near(estimate, other.estimate, 1) && near(sample, other.sample, 1) &&
               near(rttMin, other.rttMin, 0) && (phase == "recovery" || near(cwnd, other.cwnd, 0));
    }
};

std::ostream&
operator<<(std::ostream& out, const Decision& d)
{
    return out << d.phase << " " << d.cwnd << " " << d.ssthresh << " " << d.estimate << " "
               << d.sample << " " << d.rttMin;
}

/// A recorded ACK and the decision on it.
struct Ack
{
    Time at;
    uint32_t segment; // the next expected
    std::vector<Block> sacked;
    Decision decided;
};

std::vector<Ack>
ReadAcks(const std::string& name)
{
    std::ifstream file(WW_ACKS "/" + name + ".txt");
    std::vector<Ack> acks;
    for (std::string line; std::getline(file, line);)
    {
        if (line.empty() || line[0] == '#')
        {
            continue;
        }
        const auto bar = line.find('|');
        std::istringstream words(line.substr(0, bar));
        Ack ack{};
        uint64_t us;
        words >> us >> ack.segment;
        ack.at = MicroSeconds(us);
        for (Block block; words >> block.first;)
        {
            words.ignore(1, '-');
            words >> block.second;
            ack.sacked.push_back(block);
        }
        Decision& d = ack.decided;
        std::istringstream(line.substr(bar + 1)) >> d.phase >> d.cwnd >> d.ssthresh >> d.estimate >>
            d.sample >> d.rttMin;
        acks.push_back(ack);
    }
    return acks;
}

/// A socket with a scripted peer, whose packets are discarded.
class ScriptedPeer
{
  public:
    ScriptedPeer(const std::string& protocol, bool sack)
        : m_sack(sack)
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(10 * MSS));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(SEGMENTS * MSS));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));

        auto node = CreateObject<Node>();
        InternetStackHelper().Install(node);
        auto device = CreateObject<SimpleNetDevice>();
        device->SetChannel(CreateObject<SimpleChannel>());
        node->AddDevice(device);
        m_source = Ipv4AddressHelper("10.0.0.0", "255.0.0.0")
                       .Assign(NetDeviceContainer(device))
                       .GetAddress(0);
        m_tcp = node->GetObject<TcpL4Protocol>();
        m_tcp->SetDownTarget(MakeCallback(&ScriptedPeer::Sent, this));
        WwTcpHelper helper(protocol);
        helper.SetRecovery(sack ? "sack" : "newreno");
        helper.Install(node);
        m_socket = DynamicCast<TcpSocketBase>(
            Socket::CreateSocket(node, TypeId::LookupByName(helper.GetSocketFactory())));
        PointerValue value;
        m_socket->GetAttribute("CongestionOps", value);
        const auto ops = value.Get<WwTcpWestwood>();
        ops->TraceConnectWithoutContext("EstimatedBW", MakeCallback(&ScriptedPeer::Estimate, this));
        ops->TraceConnectWithoutContext("SampleBW", MakeCallback(&ScriptedPeer::Sample, this));
        ops->TraceConnectWithoutContext("RttMin", MakeCallback(&ScriptedPeer::RttMin, this));
        m_socket->TraceConnectWithoutContext("CongestionWindow",
                                             MakeCallback(&ScriptedPeer::Cwnd, this));
        m_socket->TraceConnectWithoutContext("SlowStartThreshold",
                                             MakeCallback(&ScriptedPeer::Ssthresh, this));
        m_socket->TraceConnectWithoutContext("CongState", MakeCallback(&ScriptedPeer::Phase, this));
        m_socket->SetConnectCallback(MakeCallback(&ScriptedPeer::Connected, this),
                                     MakeNullCallback<void, Ptr<Socket>>());
        m_socket->Bind();
        m_socket->Connect(InetSocketAddress(m_peer, PORT));
    }

    ~ScriptedPeer()
    {
        Simulator::Destroy();
        Config::Reset();
    }

    /// Delivers an ACK and returns the socket's decision.
    Decision On(const Ack& ack)
    {
        // The socket sends an application's data a nanosecond later; the simulator sent it
        // immediately.
        Simulator::Stop(ack.at - Simulator::Now() - (m_established ? TimeStep(0) : TimeStep(1)));
        Simulator::Run();
        TcpHeader header;
        header.SetSourcePort(PORT);
        header.SetDestinationPort(m_port);
        header.SetWindowSize(SEGMENTS * MSS / 4);
        const bool isFirst = !std::exchange(m_established, true);
        header.SetSequenceNumber(SequenceNumber32(isFirst ? 0 : 1));
        header.SetAckNumber(Number(ack.segment));
        header.SetFlags(isFirst ? TcpHeader::SYN | TcpHeader::ACK : TcpHeader::ACK);
        if (isFirst)
        {
            auto scale = CreateObject<TcpOptionWinScale>();
            scale->SetScale(2);
            header.AppendOption(scale);
            if (m_sack)
            {
                header.AppendOption(CreateObject<TcpOptionSackPermitted>());
            }
        }
        if (!ack.sacked.empty())
        {
            auto option = CreateObject<TcpOptionSack>();
            for (const auto& [start, end] : ack.sacked)
            {
                option->AddSackBlock({Number(start), Number(end)});
            }
            header.AppendOption(option);
        }
        auto packet = Create<Packet>();
        packet->AddHeader(header);
        Ipv4Header ip;
        ip.SetSource(m_peer);
        ip.SetDestination(m_source);
        ip.SetProtocol(TcpL4Protocol::PROT_NUMBER);
        ip.SetPayloadSize(packet->GetSize());
        m_tcp->Receive(packet, ip, nullptr);
        return m_now;
    }

  private:
    static constexpr uint16_t PORT = 5000;

    static SequenceNumber32 Number(uint32_t segment)
    {
        return SequenceNumber32(1 + segment * MSS);
    }

    void Sent(Ptr<Packet> packet, Ipv4Address, Ipv4Address, uint8_t, Ptr<Ipv4Route>)
    {
        TcpHeader header;
        packet->PeekHeader(header);
        m_port = header.GetSourcePort();
    }

    void Connected(Ptr<Socket> socket)
    {
        socket->Send(Create<Packet>(SEGMENTS * MSS));
    }

    void Cwnd(uint32_t, uint32_t bytes)
    {
        m_now.cwnd = bytes / MSS;
    }

    void Ssthresh(uint32_t, uint32_t bytes)
    {
        m_now.ssthresh = bytes / MSS;
    }

    void Phase(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t phase)
    {
        static const char* const names[] = {"open", "disorder", "recovery", "loss"};
        m_now.phase = names[WwPhaseOf(phase)];
    }

    void Estimate(double, double bps)
    {
        m_now.estimate = std::floor(bps / 8);
    }

    void Sample(double, double bps)
    {
        m_now.sample = std::floor(bps / 8);
    }

    void RttMin(Time, Time rtt)
    {
        m_now.rttMin = static_cast<double>(rtt.GetMicroSeconds());
    }

    const bool m_sack;
    const Ipv4Address m_peer{"10.0.0.2"};
    Ipv4Address m_source;
    Ptr<TcpL4Protocol> m_tcp;
    Ptr<TcpSocketBase> m_socket;
    uint16_t m_port = 0;
    bool m_established = false;
    Decision m_now{"open", 10, 10, 0, 0, 0};
};

} // namespace

/** \brief The socket decides as recorded. */
class WwAcksTestCase : public TestCase
{
  public:
    WwAcksTestCase(const std::string& protocol, const std::string& recording, bool sack)
        : TestCase(recording),
          m_protocol(protocol),
          m_recording(recording),
          m_sack(sack)
    {
    }

  private:
    void DoRun() override
    {
        const auto acks = ReadAcks(m_recording);
        NS_TEST_ASSERT_MSG_GT(acks.size(), SEGMENTS, "recorded, and found");
        ScriptedPeer peer(m_protocol, m_sack);
        for (const Ack& ack : acks)
        {
            const Decision seen = peer.On(ack);
            std::ostringstream difference;
            difference << ack.at.GetMicroSeconds() << " us, ACK of " << ack.segment << ": " << seen
                       << " instead of " << ack.decided;
            NS_TEST_EXPECT_MSG_EQ(seen.Matches(ack.decided, m_protocol == "bbr3"),
                                  true,
                                  difference.str());
        }
    }

    std::string m_protocol;
    std::string m_recording;
    bool m_sack;
};

/** \brief Has one case for each recording. */
class WwAcksTestSuite : public TestSuite
{
  public:
    WwAcksTestSuite()
        : TestSuite("ww-acks", Type::UNIT)
    {
        for (const std::string protocol :
             {"westwood", "westwood+", "westwoodnr+", "westwood+-linux"})
        {
            for (const std::string recovery : {"newreno", "sack"})
            {
                for (const std::string losses : {"four-drops", "timeout"})
                {
                    AddTestCase(new WwAcksTestCase(protocol,
                                                   protocol + "-" + recovery + "-" + losses,
                                                   recovery == "sack"));
                }
            }
        }
        if (!KeepsRttSamples<TcpSocketState>::value)
        {
            return; // in 3.37 samples of a second recovery are missing; the cause is unknown
        }
        for (const std::string losses : {"four-drops", "timeout"})
        {
            AddTestCase(new WwAcksTestCase("bbr3", "bbr3-sack-" + losses, true));
        }
    }
};

static WwAcksTestSuite g_wwAcksTestSuite;
