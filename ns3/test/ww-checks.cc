/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-checks.h"

#include "ns3/ww-tcp-helper.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <memory>
#include <sstream>

namespace ns3
{

namespace
{

/// Concatenates numbers and words into one text.
template <class... Parts>
std::string
Text(const Parts&... parts)
{
    std::ostringstream text;
    text << std::setprecision(3);
    (text << ... << parts);
    return text.str();
}

/// Ends a WwDriven's simulation.
class Ended
{
  public:
    ~Ended()
    {
        Simulator::Destroy();
    }
};

/// Finds the worst ratio of estimate to rate over streams of ACKs at several intervals, at an RTT
/// of 100 ms.
WwVerdict
SteadyStream(const WwSubject& subject)
{
    double worst = 1;
    for (const int spacing : {13, 40, 70, 90})
    {
        const Ended ended;
        WwDriven driven(subject.congestion);
        for (int i = 0; i < 30000 / spacing; i++)
        {
            driven.Ack(MilliSeconds(spacing));
        }
        const double rate = 8.0 * WwDriven::MSS / (spacing / 1e3);
        const double ratio = driven.estimates.all.back().second / rate;
        worst = std::abs(std::log(ratio)) > std::abs(std::log(worst)) ? ratio : worst;
    }
    return {worst > 0.95 && worst < 1.05, Text("estimate / rate = ", worst)};
}

/// Repeatedly acknowledges ten segments within 20 ms and then none for 180 ms.
WwVerdict
Gaps(const WwSubject& subject)
{
    const Ended ended;
    WwDriven driven(subject.congestion);
    for (int i = 0; i < 2000; i++)
    {
        driven.Ack(MilliSeconds(i % 10 == 0 ? 182 : 2));
    }
    const double ratio = driven.estimates.Mean(Seconds(10)) / (8.0 * WwDriven::MSS * 10 / 0.2);
    return {ratio > 0.95 && ratio < 1.05, Text("estimate / rate = ", ratio)};
}

/// Measures the intervals between samples with an ACK every millisecond and an RTT of 5 ms.
WwVerdict
Floor(const WwSubject& subject)
{
    const Ended ended;
    WwDriven driven(subject.congestion);
    driven.tcb->m_lastRtt = driven.tcb->m_minRtt = MilliSeconds(5);
    for (int i = 0; i < 5000; i++)
    {
        driven.Ack(MicroSeconds(1000 + i % 7)); // uneven, so that all samples differ
    }
    Time least = Time::Max();
    const auto& all = driven.estimates.all;
    for (std::size_t i = 1; i < all.size(); i++)
    {
        if (all[i].first > all[i - 1].first)
        {
            least = std::min(least, all[i].first - all[i - 1].first);
        }
    }
    return {least >= MilliSeconds(50), Text("samples ", least.GetSeconds() * 1e3, " ms apart")};
}

/// Counts how often the trace source EstimatedBW fires at the same time.
WwVerdict
OnceASample(const WwSubject& subject)
{
    const Ended ended;
    WwDriven driven(subject.congestion);
    for (int i = 0; i < 2000; i++)
    {
        driven.Ack(MilliSeconds(9 + i % 3));
    }
    std::size_t most = 0;
    const auto& all = driven.estimates.all;
    for (std::size_t i = 0, together = 0; i < all.size(); i++)
    {
        together = i > 0 && all[i].first == all[i - 1].first ? together + 1 : 1;
        most = std::max(most, together);
    }
    return {most == 1, Text(most, " values at the same time")};
}

/// Fills and frees memory, so that the next objects are made in memory that is not zero.
void
DirtyMemory()
{
    std::vector<std::unique_ptr<char[]>> blocks; // more than the allocator caches of each size
    for (std::size_t size = 64; size <= 512; size += 16)
    {
        for (int i = 0; i < 16; i++)
        {
            blocks.emplace_back(new char[size]);
            std::fill_n(static_cast<volatile char*>(blocks.back().get()), size, '\x25');
        }
    }
}

/// Checks the first estimate of a fork made in such memory.
WwVerdict
Fork(const WwSubject& subject)
{
    const Ended ended;
    WwDriven parent(subject.congestion);
    DirtyMemory();
    Ptr<TcpCongestionOps> fork = parent.ops->Fork();
    WwDriven driven(subject.congestion);
    driven.ops = fork;
    fork->Init(driven.tcb); // as the copy constructor of sockets does
    driven.estimates.all.clear();
    driven.estimates.Connect(fork);
    for (int i = 0; i < 100; i++)
    {
        driven.Ack(MilliSeconds(10));
    }
    const double first = driven.estimates.all.empty() ? 0 : driven.estimates.all.front().second;
    const double rate = 8.0 * WwDriven::MSS / 0.01;
    return {first > 0 && first < 2 * rate,
            Text("first estimate ", first / 1e6, " Mb/s of ", rate / 1e6)};
}

/// Runs one flow at a packet error rate of 0.005 (Table 1 of the 2013 paper), with SACK.
WwVerdict
CountedOnce(const WwSubject& subject)
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(360));
    WwPath path("2Mbps", "45ms");
    path.LoseAtRandom(0.005);
    WwEstimates estimates;
    Ptr<WwProbeSocket> socket = path.Send(subject);
    estimates.Connect(socket->Ops());
    path.Run(Seconds(100));
    const double goodput = path.Received() * 8 / 100.0;
    const double ratio = estimates.Mean(Seconds(2)) / goodput;
    return {ratio < 1.15,
            Text("mean estimate ",
                 estimates.Mean(Seconds(2)) / 1e6,
                 " Mb/s, delivered ",
                 goodput / 1e6)};
}

void
Remember(Time* last, Time, Time value)
{
    *last = value;
}

/// Sends one segment at a time over a path of 290 ms, which is 90 ms for half a second.
WwVerdict
RttMinOfSamples(const WwSubject& subject)
{
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(536));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    WwPath path("2Mbps", "145ms");
    Ptr<Channel> channel = path.devices.Get(0)->GetChannel();
    for (const auto& [when, delay] : {std::pair(10.0, 45), std::pair(10.5, 145)})
    {
        Simulator::Schedule(Seconds(when), [channel, delay = delay]() {
            channel->SetAttribute("Delay", TimeValue(MilliSeconds(delay)));
        });
    }
    Ptr<WwProbeSocket> socket = path.Send(subject);
    Time rttMin;
    const bool traced =
        socket->Ops()->TraceConnectWithoutContext("RttMin", MakeBoundCallback(&Remember, &rttMin));
    path.Run(Seconds(20));
    const double least = (traced ? rttMin : socket->State()->m_minRtt).GetSeconds();
    return {least > 0.09 && least < 0.1, Text("RTTmin ", least * 1e3, " ms of 92.6")};
}

/// Compares cwnd before and after the third duplicate ACK.
class Entries
{
  public:
    void Cwnd(uint32_t before, uint32_t after)
    {
        m_before = before;
        m_after = after;
        m_changed = Simulator::Now();
    }

    void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
    {
        if (state == TcpSocketState::CA_RECOVERY)
        {
            Simulator::ScheduleNow(&Entries::Entered, this);
        }
    }

    void Entered()
    {
        entries++;
        raised += m_changed == Simulator::Now() && m_after > m_before;
    }

    int entries = 0; ///< number of recoveries
    int raised = 0;  ///< those that raised cwnd

  private:
    uint32_t m_before = 0, m_after = 0;
    Time m_changed;
};

WwVerdict
EnteringRecovery(const WwSubject& subject)
{
    WwPath path("2Mbps", "45ms");
    path.LoseAtRandom(0.02);
    Ptr<WwProbeSocket> socket = path.Send(subject);
    Entries entries;
    socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Entries::Cwnd, &entries));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&Entries::State, &entries));
    path.Run(Seconds(100));
    return {entries.entries > 10 && entries.raised == 0,
            Text(entries.raised, " of ", entries.entries, " raise cwnd")};
}

/// Measures the cost of queue overflows, without errors and SACK, with an ACK per segment.
WwVerdict
RenoMarks(const WwSubject& subject)
{
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    WwPath path("2Mbps", "45ms");
    WwTcpHelper("newreno").Install(path.nodes.Get(0));
    path.SendBy(subject.newReno);
    path.Run(Seconds(50));
    const double goodput = path.Received() * 8 / 50.0;
    return {path.retransmitted < path.sent / 20,
            Text(goodput / 1e6, " Mb/s, ", path.retransmitted, " of ", path.sent, " sent again")};
}

void
CloseLater(Ptr<Socket> socket, const Address&)
{
    Simulator::Schedule(MilliSeconds(730), [socket]() { socket->Close(); });
}

/// Makes a receiver that closes with data unread, which ns-3 answers with RST.
Ptr<Socket>
ListenAndReset(WwPath& path, uint16_t port)
{
    auto listener = Socket::CreateSocket(path.nodes.Get(1), TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                MakeCallback(&CloseLater));
    return listener;
}

void
RememberNow(Time* when, Ptr<Socket>)
{
    *when = Simulator::Now();
}

/// Looks for samples after the connection was reset. They are visible because this check keeps the
/// congestion control alive; WwResetConnection does not.
WwVerdict
Reset(const WwSubject& subject)
{
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24)); // never full
    WwPath path("2Mbps", "45ms");
    const Ptr<Socket> listener = ListenAndReset(path, 5001);
    Time reset;
    WwEstimates estimates;
    Ptr<TcpCongestionOps> ops;
    {
        Ptr<WwProbeSocket> socket = path.Send(subject, 5001);
        const auto remember = MakeBoundCallback(&RememberNow, &reset);
        socket->SetCloseCallbacks(remember, remember);
        ops = socket->Ops();
        estimates.Connect(ops);
    }
    path.Run(Seconds(2));
    const auto later = std::count_if(estimates.all.begin(),
                                     estimates.all.end(),
                                     [&](const auto& estimate) { return estimate.first > reset; });
    return {reset.IsStrictlyPositive() && !estimates.all.empty() && later == 0,
            Text(later, " changes of the estimate after the reset at ", reset.GetSeconds(), " s")};
}

} // namespace

void
WwResetConnection(const WwSubject& subject)
{
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24)); // never full
    WwPath path("2Mbps", "45ms");
    const Ptr<Socket> listener = ListenAndReset(path, 5001);
    path.Send(subject, 5001);
    path.Run(Seconds(2));
}

const std::vector<WwCheck>&
WwChecks()
{
    static const std::vector<WwCheck> checks = {
        {"counted-once",
         "duplicate ACKs count once: the estimate does not exceed what arrives",
         CountedOnce},
        {"steady-stream", "the estimate of a steady stream of ACKs is its rate", SteadyStream},
        {"gaps", "the time between two samples belongs to one of them", Gaps},
        {"floor", "a sample spans at least 50 ms", Floor},
        {"once-a-sample", "EstimatedBW fires once per sample", OnceASample},
        {"rtt-min", "RTTmin is the smallest RTT, not the smallest smoothed RTT", RttMinOfSamples},
        {"fork", "a forked socket starts with a new state", Fork},
        {"reset", "a connection takes no samples after a reset", Reset},
        {"entering", "entering recovery does not raise cwnd", EnteringRecovery},
        {"reno-marks", "without SACK, duplicate ACKs leave no marks after recovery", RenoMarks},
    };
    return checks;
}

} // namespace ns3
