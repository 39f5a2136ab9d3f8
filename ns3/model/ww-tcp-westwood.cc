/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-tcp-westwood.h"

#include "core/westwood.h"
#include "ww-catalogue.h"
#include "ww-phase.h"
#include "ww-releases.h"
#include "ww-settings.h"

#include "ns3/abort.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-state.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WwTcpWestwood");
NS_OBJECT_ENSURE_REGISTERED(WwTcpWestwood);

namespace
{

double
BitsPerSecond(uint64_t bandwidth)
{
    return static_cast<double>(bandwidth) * 8.0 / static_cast<double>(1u << WW_BW_FRACTION);
}

uint64_t
NowUs()
{
    return static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
}

/// Makes the core's window, in segments, of the socket's, in bytes.
ww_window
WindowOf(Ptr<const TcpSocketState> tcb)
{
    const uint32_t mss = tcb->m_segmentSize;
    ww_window window;
    window.cwnd = std::min(std::max(tcb->m_cWnd.Get() / mss, 1u), WW_CWND_MAX);
    window.ssthresh = std::min(tcb->m_ssThresh.Get() / mss, WW_SSTHRESH_INFINITE);
    window.pacing = 0;
    return window;
}

} // namespace

struct WwTcpWestwood::Core
{
    WwSettings settings;
    ww_config config{};
    ww_state state{};
};

TypeId
WwTcpWestwood::GetTypeId()
{
    static TypeId tid = WwSettings::AddAttributes(
        TypeId("ns3::WwTcpWestwood")
            .SetParent<TcpCongestionOps>()
            .SetGroupName("Internet")
            .AddConstructor<WwTcpWestwood>()
            .AddAttribute(
                "Protocol",
                "Which member of the family: " + WwSettings::ProtocolNames(),
                StringValue("westwood+"),
                MakeStringAccessor(&WwTcpWestwood::SetProtocol, &WwTcpWestwood::GetProtocol),
                WwSettings::ProtocolChecker())
            .AddAttribute("RttSource",
                          "What RTTmin is the minimum of",
                          EnumValue(SAMPLES),
                          EnumAccessor<RttSource>(&WwTcpWestwood::m_rttSource),
                          MakeEnumChecker(SAMPLES, "Samples", SMOOTHED, "Smoothed"))
            .AddTraceSource("EstimatedBW",
                            "The filtered estimate (bit/s), once a sample",
                            MakeTraceSourceAccessor(&WwTcpWestwood::m_estimatedBw),
                            "ns3::TracedValueCallback::Double")
            .AddTraceSource("SampleBW",
                            "The last raw sample (bit/s)",
                            MakeTraceSourceAccessor(&WwTcpWestwood::m_sampleBw),
                            "ns3::TracedValueCallback::Double")
            .AddTraceSource("RttMin",
                            "The smallest round trip seen",
                            MakeTraceSourceAccessor(&WwTcpWestwood::m_rttMin),
                            "ns3::TracedValueCallback::Time"),
        SettingsOf);
    return tid;
}

WwTcpWestwood::WwTcpWestwood()
    : m_core(std::make_unique<Core>())
{
    NS_LOG_FUNCTION(this);
}

WwTcpWestwood::WwTcpWestwood(const WwTcpWestwood& sock)
    : TcpCongestionOps(sock),
      m_rttSource(sock.m_rttSource),
      m_core(std::make_unique<Core>())
{
    NS_LOG_FUNCTION(this << &sock);
    m_core->settings = sock.m_core->settings;
    Configure();
}

WwTcpWestwood::~WwTcpWestwood()
{
    if (m_watched)
    {
        m_watched->m_lastRtt.DisconnectWithoutContext(
            MakeCallback(&WwTcpWestwood::SmoothedRttChanged, this));
    }
}

void
WwTcpWestwood::NotifyConstructionCompleted()
{
    TcpCongestionOps::NotifyConstructionCompleted();
    Configure();
}

std::string
WwTcpWestwood::GetName() const
{
    return "WwTcpWestwood";
}

Ptr<TcpCongestionOps>
WwTcpWestwood::Fork()
{
    return CopyObject<WwTcpWestwood>(this);
}

void
WwTcpWestwood::SetProtocol(std::string name)
{
    const auto& family = WwFamily();
    NS_ABORT_MSG_IF(std::find(family.begin(), family.end(), name) == family.end(),
                    "protocol \"" << name << "\": expected a name of WwFamily()");
    m_core->settings.protocol = name;
}

std::string
WwTcpWestwood::GetProtocol() const
{
    return m_core->settings.protocol;
}

WwSettings&
WwTcpWestwood::SettingsOf(const ObjectBase& object)
{
    return static_cast<const WwTcpWestwood&>(object).m_core->settings;
}

void
WwTcpWestwood::Configure()
{
    m_core->config = m_core->settings.Configuration();
    ww_init(&m_core->config, &m_core->state);
}

void
WwTcpWestwood::Init(Ptr<TcpSocketState> tcb)
{
    NS_LOG_FUNCTION(this << tcb);
    Configure(); // attributes may have changed since construction
    if (!KeepsRttSamples<TcpSocketState>::value)
    {
        const auto changed = MakeCallback(&WwTcpWestwood::SmoothedRttChanged, this);
        if (m_watched)
        {
            m_watched->m_lastRtt.DisconnectWithoutContext(changed);
        }
        m_watched = tcb;
        m_watched->m_lastRtt.ConnectWithoutContext(changed);
        m_rtt = tcb->m_lastRtt;
    }
}

void
WwTcpWestwood::SmoothedRttChanged(Time before, Time now)
{
    // RFC 6298 has now = 7/8 before + 1/8 sample. What was rounded there is less than half a
    // microsecond.
    const Time exact = before + 8 * (now - before);
    const Time sample = MicroSeconds((exact.GetNanoSeconds() + 500) / 1000);
    m_rtt = before.IsZero() || !sample.IsStrictlyPositive() ? now : sample;
}

Time
WwTcpWestwood::Rtt(Ptr<const TcpSocketState> tcb) const
{
    if (m_rttSource == SMOOTHED)
    {
        return m_smoothedRtt;
    }
    return KeepsRttSamples<TcpSocketState>::value ? tcb->m_lastRtt.Get() : m_rtt;
}

void
WwTcpWestwood::OnAck(Ptr<const TcpSocketState> tcb)
{
    const uint32_t mss = tcb->m_segmentSize;
    const int32_t bytes = tcb->m_lastAckedSeq - m_acked;
    ww_sample sample = {};
    sample.now_us = NowUs();
    sample.mss = mss;
    sample.acked_segments = bytes > 0 ? (static_cast<uint32_t>(bytes) + mss - 1) / mss : 0;
    sample.is_dupack = bytes <= 0;
    // FlightSize, which m_bytesInFlight is not: that leaves out what was SACKed or is held for
    // lost.
    const int32_t flight = tcb->m_highTxMark.Get() - tcb->m_lastAckedSeq;
    sample.in_flight = flight > 0 ? static_cast<uint32_t>(flight) / mss : 0;
    sample.phase = static_cast<uint8_t>(WwPhaseOf(tcb->m_congState));
    const Time rtt = Rtt(tcb);
    // Karn's rule forbids samples in recovery, where ACKs for new data cover retransmissions: ns-3
    // measures some of them.
    if (!sample.is_dupack && sample.phase <= WW_DISORDER && rtt.IsStrictlyPositive())
    {
        sample.rtt_us = static_cast<uint32_t>(rtt.GetMicroSeconds());
    }
    m_acked = std::max(m_acked, tcb->m_lastAckedSeq);

    ww_window window = WindowOf(tcb);
    const uint32_t before = window.cwnd;
    sample.is_cwnd_limited = tcb->m_bytesInFlight.Get() / mss + sample.acked_segments >= before;
    ww_on_ack(&m_core->config, &m_core->state, &window, &sample);
    m_grown = window.cwnd != before ? window.cwnd : 0;
    Trace();
}

void
WwTcpWestwood::Trace()
{
    const ww_observation seen = ww_observe(&m_core->config, &m_core->state, NowUs());
    if (seen.rtt_min_us != UINT32_MAX)
    {
        m_rttMin = MicroSeconds(seen.rtt_min_us);
    }
    if (seen.samples != m_samples)
    {
        m_samples = seen.samples;
        m_sampleBw = BitsPerSecond(seen.raw);
        m_estimatedBw = BitsPerSecond(seen.bandwidth);
        NS_LOG_LOGIC("Sample " << m_sampleBw << " bit/s, estimate " << m_estimatedBw
                               << " bit/s, RTTmin " << m_rttMin.Get());
    }
}

void
WwTcpWestwood::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt)
{
    NS_LOG_FUNCTION(this << tcb << segmentsAcked << rtt);
    m_smoothedRtt = rtt; // ns-3 passes the smoothed one
    if (m_ackSeen)
    {
        m_ackSeen = false; // it caused the recovery, and the core heard of it then
        const uint32_t inflation = tcb->m_cWndInfl.Get() - tcb->m_cWnd.Get();
        tcb->m_cWnd = m_inRecovery * tcb->m_segmentSize;
        tcb->m_cWndInfl = tcb->m_cWnd.Get() + inflation;
        return;
    }
    OnAck(tcb);
}

uint32_t
WwTcpWestwood::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    NS_LOG_FUNCTION(this << tcb << bytesInFlight);
    const uint32_t mss = tcb->m_segmentSize;
    ww_window window = WindowOf(tcb);
    const uint32_t flight = bytesInFlight / mss;
    const bool isEcho = tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD &&
                        tcb->m_congState <= TcpSocketState::CA_DISORDER;
    if (m_entering)
    {
        m_entering = false; // if it is asked again in this recovery, that is for a timeout
        OnAck(tcb);         // ns-3 reports the third duplicate ACK after this
        m_ackSeen = true;
        m_grown = 0;
    }
    else if (!isEcho)
    {
        ww_on_rto(&m_core->config, &m_core->state, &window, NowUs(), flight, mss, false);
        Trace(); // the timer of a sample may have run out meanwhile
        NS_LOG_LOGIC("Timeout: ssthresh " << window.ssthresh);
        return window.ssthresh * mss;
    }
    const uint32_t before = window.cwnd;
    ww_on_loss(&m_core->config, &m_core->state, &window, NowUs(), flight, mss);
    m_afterLoss = std::max(window.cwnd, 1u);
    m_inRecovery = std::min(m_afterLoss, before); // a window raised here would send a burst
    NS_LOG_LOGIC("Loss with " << flight << " segments in flight: ssthresh " << window.ssthresh);
    return window.ssthresh * mss;
}

void
WwTcpWestwood::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    NS_LOG_FUNCTION(this << tcb << segmentsAcked);
    const uint32_t mss = tcb->m_segmentSize;
    if (m_leaving)
    {
        m_leaving = false;
        tcb->m_cWnd = m_afterLoss * mss; // the socket has set it to ssthresh
        return;
    }
    if (tcb->m_lastAckedSeq > m_acked)
    {
        OnAck(tcb); // ns-3 leaves PktsAcked out for some ACKs that end disorder
    }
    if (m_grown != 0)
    {
        tcb->m_cWnd = m_grown * mss;
        m_grown = 0;
    }
}

void
WwTcpWestwood::CongestionStateSet(Ptr<TcpSocketState> tcb,
                                  const TcpSocketState::TcpCongState_t newState)
{
    NS_LOG_FUNCTION(this << tcb << newState);
    if (m_congState == TcpSocketState::CA_RECOVERY && newState == TcpSocketState::CA_OPEN)
    {
        ww_window window = WindowOf(tcb);
        window.cwnd = m_afterLoss; // the recovery has changed the socket's
        ww_on_recovery_exit(&m_core->config, &m_core->state, &window, NowUs(), tcb->m_segmentSize);
        m_afterLoss = window.cwnd;
        tcb->m_ssThresh = window.ssthresh * tcb->m_segmentSize;
        m_leaving = true;
    }
    m_entering = newState == TcpSocketState::CA_RECOVERY;
    m_congState = newState;
}

} // namespace ns3
