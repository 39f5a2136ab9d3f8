/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Compares the simulator's queue disciplines with ns-3's own under the same packets. At each of 12
 * points (rate, load, share of ECN-capable packets) both get the same arrivals, and send one packet
 * after the other. A row has the drops, marks and mean wait of the simulator, of ns-3, and their
 * ratio.
 *
 *   ww-queue-compare [KIND]
 *
 * Exit code: 1 if drops or waits differ by over 5 % at a point without ECN.
 */
#include "../runner/ww-queue-disc.h"
#include "engine/link/held_packets.hpp"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using ww::sim::Verdict;

namespace
{

constexpr uint32_t BYTES = 1500; // of an IP packet
constexpr uint32_t HEADER = 20;  // bytes of IPv4
constexpr uint32_t FLOWS = 10;
constexpr int64_t LIMIT = 20000;      // packets, never reached
constexpr std::size_t COUNT = 200000; // packets of a point

struct Point
{
    int64_t rateBps;
    double load;     // mean, of the rate
    double ecnShare; // of the packets
};

struct Arrival
{
    ww::sim::Time at;
    uint32_t flow;
    bool isEcnCapable;
};

struct Outcome
{
    uint64_t drops = 0;
    uint64_t marks = 0;
    uint64_t sent = 0;
    double waited = 0; // s

    double MeanWait() const
    {
        return waited / static_cast<double>(sent);
    }
};

/// Makes Poisson arrivals. For two seconds the load is a fifth above its mean, for two a fifth
/// below.
std::vector<Arrival>
Arrivals(const Point& point)
{
    std::mt19937_64 bits(7);
    std::vector<Arrival> arrivals;
    const double sending = 8.0 * BYTES / static_cast<double>(point.rateBps);
    double now = 0;
    while (arrivals.size() < COUNT)
    {
        const double load = point.load * (std::fmod(now, 4) < 2 ? 1.2 : 0.8);
        now += std::exponential_distribution<double>(load / sending)(bits);
        const auto at = static_cast<ww::sim::Time>(now * 1e9) * 1000; // ns-3 counts nanoseconds
        const double draw = std::uniform_real_distribution<double>(0, 1)(bits);
        arrivals.push_back({at, static_cast<uint32_t>(bits() % FLOWS), draw < point.ecnShare});
    }
    return arrivals;
}

ww::sim::Time
Sending(const Point& point)
{
    return static_cast<ww::sim::Time>(BYTES) * 8 * ww::sim::kSecond / point.rateBps;
}

/// The simulator's discipline before a transmitter.
template <class Queue>
class Ours
{
  public:
    Ours(Queue queue, ww::sim::Time sending)
        : m_queue(std::move(queue)),
          m_sending(sending)
    {
    }

    Outcome Run(const std::vector<Arrival>& arrivals)
    {
        for (const Arrival& arrival : arrivals)
        {
            SendUntil(arrival.at);
            Arrive(arrival);
        }
        SendUntil(ww::sim::kNever);
        return m_outcome;
    }

  private:
    void Arrive(const Arrival& arrival)
    {
        const uint32_t line = m_queue.line_of({arrival.flow});
        const ww::sim::Backlog backlog{m_held.size(), m_free, m_held.ip_bytes(line), line};
        const Verdict verdict = m_queue.enqueue(arrival.at, backlog, arrival.isEcnCapable);
        if (verdict == Verdict::drop || !m_held.has_room(BYTES))
        {
            m_outcome.drops++;
            return;
        }
        m_outcome.marks += verdict == Verdict::mark;
        ww::sim::HeldPacket packet;
        packet.packet.flow = arrival.flow;
        packet.packet.flags = arrival.isEcnCapable ? ww::sim::kEct : 0;
        packet.arrival = arrival.at;
        packet.ip_bytes = BYTES;
        m_queue.join(line);
        m_held.push(packet, line);
        m_free = std::max(m_free, arrival.at);
        SendUntil(arrival.at);
    }

    void SendUntil(ww::sim::Time now)
    {
        while (!m_held.empty() && m_free <= now)
        {
            const uint32_t line = m_queue.next_line(m_free, m_held);
            const Verdict verdict = m_queue.dequeue(m_free, m_held.head(line));
            const ww::sim::HeldPacket packet = m_held.pop(line);
            if (verdict == Verdict::drop)
            {
                m_outcome.drops++;
                continue;
            }
            m_outcome.marks += verdict == Verdict::mark;
            m_outcome.sent++;
            m_outcome.waited += SecondsOf(m_free - packet.arrival);
            m_free += m_sending;
        }
    }

    Queue m_queue;
    ww::sim::Time m_sending;
    ww::sim::HeldPackets m_held{LIMIT, ww::sim::kUnlimited, 0, m_queue.lines()};
    ww::sim::Time m_free = 0; //!< when the transmitter is free
    Outcome m_outcome;
};

/// ns-3's queue disc before a transmitter.
class Theirs
{
  public:
    Theirs(Ptr<QueueDisc> disc, ww::sim::Time sending)
        : m_disc(disc),
          m_sending(PicoSeconds(sending))
    {
    }

    Outcome Run(const std::vector<Arrival>& arrivals)
    {
        m_arrivals = &arrivals;
        m_disc->Initialize();
        Simulator::Schedule(TimeOf(arrivals[0].at), &Theirs::Arrive, this);
        Simulator::Run();
        const auto stats = m_disc->GetStats();
        m_outcome.drops = stats.nTotalDroppedPackets;
        m_outcome.marks = stats.nTotalMarkedPackets;
        m_disc->Dispose();
        Simulator::Destroy();
        return m_outcome;
    }

  private:
    void Arrive()
    {
        const Arrival& arrival = (*m_arrivals)[m_next++];
        Ipv4Header header;
        header.SetSource(Ipv4Address("10.0.0.1"));
        header.SetDestination(Ipv4Address(Ipv4Address("10.1.0.0").Get() + arrival.flow));
        header.SetProtocol(255);
        header.SetPayloadSize(BYTES - HEADER);
        header.SetEcn(arrival.isEcnCapable ? Ipv4Header::ECN_ECT0 : Ipv4Header::ECN_NotECT);
        const auto packet = Create<Packet>(BYTES - HEADER);
        m_disc->Enqueue(Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, header));
        if (!m_isBusy)
        {
            Send();
        }
        if (m_next == m_arrivals->size())
        {
            Simulator::Stop(Seconds(60)); // PIE's timer never ends
            return;
        }
        const Time next = TimeOf((*m_arrivals)[m_next].at);
        Simulator::Schedule(next - Simulator::Now(), &Theirs::Arrive, this);
    }

    void Send()
    {
        const Ptr<QueueDiscItem> item = m_disc->Dequeue();
        m_isBusy = item != nullptr;
        if (m_isBusy)
        {
            m_outcome.sent++;
            m_outcome.waited += (Simulator::Now() - item->GetTimeStamp()).GetSeconds();
            Simulator::Schedule(m_sending, &Theirs::Send, this);
        }
    }

    Ptr<QueueDisc> m_disc;
    Time m_sending;
    const std::vector<Arrival>* m_arrivals = nullptr;
    std::size_t m_next = 0;
    bool m_isBusy = false;
    Outcome m_outcome;
};

Outcome
RunTheirs(const ww::sim::Direction& settings,
          const std::vector<Arrival>& arrivals,
          ww::sim::Time sending)
{
    ObjectFactory factory("ns3::" + QueueDiscOf(settings.queue_kind));
    const auto disc = factory.Create<QueueDisc>();
    disc->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, LIMIT));
    SetUpQueueDisc(disc, settings, 1);
    return Theirs(disc, sending).Run(arrivals);
}

template <class Settings>
void
SetEcn(Settings& settings, bool ecn)
{
    settings.ecn = ecn;
}

/// CAKE and DualPI2 always mark.
void
SetEcn(ww::sim::Cake&, bool)
{
}

void
SetEcn(ww::sim::DualPi2&, bool)
{
}

double
Ratio(double ours, double theirs)
{
    return theirs > 0 ? ours / theirs : 1;
}

double
Ratio(uint64_t ours, uint64_t theirs)
{
    return Ratio(static_cast<double>(ours), static_cast<double>(theirs));
}

void
Print(const char* kind, const Point& point, const Outcome& ours, const Outcome& theirs)
{
    std::printf("%-9s %5.0f %5.2f %4.1f  %6lu %6lu %6.3f  %6lu %6lu %6.3f  %7.3f %7.3f %6.3f\n",
                kind,
                static_cast<double>(point.rateBps) / 1e6,
                point.load,
                point.ecnShare,
                ours.drops,
                theirs.drops,
                Ratio(ours.drops, theirs.drops),
                ours.marks,
                theirs.marks,
                Ratio(ours.marks, theirs.marks),
                1e3 * ours.MeanWait(),
                1e3 * theirs.MeanWait(),
                Ratio(ours.MeanWait(), theirs.MeanWait()));
}

bool
IsNear(double ratio)
{
    return ratio > 0.95 && ratio < 1.05;
}

/// Returns whether both agree at the points without ECN.
template <class Queue, class Settings>
bool
Compare(ww::sim::QueueKind kind, const char* name, Settings ww::sim::Direction::*settings)
{
    bool areNear = true;
    for (const int64_t mbps : {5, 20, 100})
    {
        for (const double load : {0.95, 1.05})
        {
            for (const double ecnShare : {0.0, 0.5})
            {
                const Point point{mbps * 1000000, load, ecnShare};
                ww::sim::Direction direction;
                direction.rate_bps = point.rateBps;
                direction.queue_kind = kind;
                SetEcn(direction.*settings, ecnShare > 0);
                const auto arrivals = Arrivals(point);
                const ww::sim::Time sending = Sending(point);
                const ww::sim::Place place{[](uint32_t) { return ww::sim::kMicrosecond; },
                                           ww::sim::Random(1, ww::sim::Stream::queue, 0)};
                const Outcome ours =
                    Ours<Queue>(Queue(direction.*settings, place), sending).Run(arrivals);
                const Outcome theirs = RunTheirs(direction, arrivals, sending);
                Print(name, point, ours, theirs);
                areNear &= ecnShare > 0 || (IsNear(Ratio(ours.drops, theirs.drops)) &&
                                            IsNear(Ratio(ours.MeanWait(), theirs.MeanWait())));
            }
        }
    }
    return areNear;
}

} // namespace

int
main(int argc, char** argv)
{
    using ww::sim::Direction, ww::sim::QueueKind;
    bool areNear = true;
    const std::string only = argc > 1 ? argv[1] : "";
    std::printf("%-9s %5s %5s %4s  %20s  %20s  %22s\n",
                "kind",
                "Mb/s",
                "load",
                "ECN",
                "drops",
                "marks",
                "mean wait, ms");
#define WW_QUEUE(name, Settings, Queue, ...)                                                       \
    if (ww::sim::Queue::kHolds && !QueueDiscOf(QueueKind::name).empty() &&                         \
        (only.empty() || only == #name))                                                           \
    {                                                                                              \
        areNear &= Compare<ww::sim::Queue>(QueueKind::name, #name, &Direction::name);              \
    }
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    return areNear ? 0 : 1;
}
