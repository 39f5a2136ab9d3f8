/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-catalogue.h"
#include "ww-phase.h"
#include "ww-releases.h"
#include "ww-tcp-westwood-core.h"

#include "ns3/abort.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/string.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WwTcpWestwood");
NS_OBJECT_ENSURE_REGISTERED(WwTcpWestwood);

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
                "Member of the family: " + WwSettings::ProtocolNames(),
                StringValue("westwood+"),
                MakeStringAccessor(&WwTcpWestwood::SetProtocol, &WwTcpWestwood::GetProtocol),
                WwSettings::ProtocolChecker())
            .AddAttribute(
                "Control",
                "A user's control, by its name in AddControl; empty: the one of Protocol",
                StringValue(""),
                MakeStringAccessor(&WwTcpWestwood::SetControl, &WwTcpWestwood::GetControl),
                MakeStringChecker())
            .AddAttribute("Parameters",
                          "Parameters of the user's control, as many whole numbers as it has; "
                          "empty: their defaults",
                          StringValue(""),
                          MakeStringAccessor(&WwTcpWestwood::m_parameters),
                          MakeStringChecker())
            .AddAttribute("RttSource",
                          "RTTs whose minimum is RTTmin",
                          EnumValue(SAMPLES),
                          EnumAccessor<RttSource>(&WwTcpWestwood::m_rttSource),
                          MakeEnumChecker(SAMPLES, "Samples", SMOOTHED, "Smoothed"))
            .AddTraceSource("EstimatedBW",
                            "The filtered estimate (bit/s), once for each sample",
                            MakeTraceSourceAccessor(&WwTcpWestwood::m_estimatedBw),
                            "ns3::TracedValueCallback::Double")
            .AddTraceSource("SampleBW",
                            "The last raw sample (bit/s)",
                            MakeTraceSourceAccessor(&WwTcpWestwood::m_sampleBw),
                            "ns3::TracedValueCallback::Double")
            .AddTraceSource("RttMin",
                            "The smallest RTT so far",
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
      m_parameters(sock.m_parameters),
      m_core(std::make_unique<Core>())
{
    NS_LOG_FUNCTION(this << &sock);
    m_core->settings = sock.m_core->settings;
    Configure();
}

WwTcpWestwood::~WwTcpWestwood()
{
    Watch(nullptr);
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
WwTcpWestwood::AddControl(const std::string& name, const ww_control_ops* ops)
{
    WwSettings::Controls()[name] = ops;
}

void
WwTcpWestwood::SetControl(std::string name)
{
    NS_ABORT_MSG_IF(!name.empty() && WwSettings::Controls().count(name) == 0,
                    "control \"" << name << "\": expected a name of WwTcpWestwood::AddControl");
    m_core->settings.control = name;
}

std::string
WwTcpWestwood::GetControl() const
{
    return m_core->settings.control;
}

void
WwTcpWestwood::Configure()
{
    m_core->config = m_core->settings.Configuration(m_parameters);
    ww_init(&m_core->config, &m_core->state);
}

void
WwTcpWestwood::Init(Ptr<TcpSocketState> tcb)
{
    NS_LOG_FUNCTION(this << tcb);
    Configure(); // attributes may have been set after construction
    m_rtt = tcb->m_lastRtt;
    Watch(tcb);
}

void
WwTcpWestwood::Watch(Ptr<TcpSocketState> tcb)
{
    const auto rtt = MakeCallback(&WwTcpWestwood::SmoothedRttChanged, this);
    const auto pipe = MakeCallback(&WwDeliveries::PipeChanged, &m_core->deliveries);
    const auto highest = MakeCallback(&WwDeliveries::HighestChanged, &m_core->deliveries);
    if (m_watched)
    {
        m_watched->m_lastRtt.DisconnectWithoutContext(rtt);
        m_watched->m_bytesInFlight.DisconnectWithoutContext(pipe);
        m_watched->m_highTxMark.DisconnectWithoutContext(highest);
    }
    m_watched = tcb;
    if (tcb && !KeepsRttSamples<TcpSocketState>::value)
    {
        tcb->m_lastRtt.ConnectWithoutContext(rtt);
    }
    if (tcb && HasCongControl())
    {
        tcb->m_bytesInFlight.ConnectWithoutContext(pipe);
        tcb->m_highTxMark.ConnectWithoutContext(highest);
    }
}

void
WwTcpWestwood::SmoothedRttChanged(Time before, Time now)
{
    // RFC 6298: now = 7/8 before + 1/8 sample. The rounding error there is less than half a
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
WwTcpWestwood::CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event)
{
    // ns-3 also reports the first transmission, and the first one after a timeout.
    const bool isIdle = m_acked > SequenceNumber32(1) && m_acked == tcb->m_highTxMark.Get();
    if (event == TcpSocketState::CA_EVENT_TX_START && isIdle)
    {
        ww_on_restart(&m_core->config, &m_core->state, NowUs());
    }
}

ww_sample
WwTcpWestwood::SampleOf(Ptr<const TcpSocketState> tcb, uint8_t phase)
{
    const uint32_t mss = tcb->m_segmentSize;
    const int32_t bytes = tcb->m_lastAckedSeq - m_acked;
    ww_sample sample = {};
    sample.now_us = NowUs();
    sample.mss = mss;
    sample.acked_segments = bytes > 0 ? (static_cast<uint32_t>(bytes) + mss - 1) / mss : 0;
    sample.is_dupack = bytes <= 0;
    // FlightSize. m_bytesInFlight differs: it leaves out segments that were SACKed or marked
    // lost.
    const int32_t flight = tcb->m_highTxMark.Get() - tcb->m_lastAckedSeq;
    sample.in_flight = flight > 0 ? static_cast<uint32_t>(flight) / mss : 0;
    sample.phase = phase;
    sample.srtt_us = SmoothedRttUs(*tcb);
    const Time rtt = Rtt(tcb);
    // Karn's rule forbids samples in recovery, where ACKs for new data cover retransmissions. ns-3
    // measures some of them nevertheless.
    if (!sample.is_dupack && sample.phase <= WW_DISORDER && rtt.IsStrictlyPositive())
    {
        sample.rtt_us = static_cast<uint32_t>(rtt.GetMicroSeconds());
    }
    m_acked = std::max(m_acked, tcb->m_lastAckedSeq);
    return sample;
}

void
WwTcpWestwood::OnAck(Ptr<const TcpSocketState> tcb)
{
    const uint32_t mss = tcb->m_segmentSize;
    ww_sample sample = SampleOf(tcb, WwPhaseOf(tcb->m_congState));
    ww_window window = WindowOf(tcb);
    const ww_window before = window;
    sample.is_cwnd_limited =
        tcb->m_bytesInFlight.Get() / mss + sample.acked_segments >= before.cwnd;
    ww_on_ack(&m_core->config, &m_core->state, &window, &sample);
    m_grown = window.cwnd != before.cwnd ? window.cwnd : 0;
    const bool answers = window.ssthresh != before.ssthresh && sample.phase <= WW_DISORDER;
    m_answered = answers ? window.ssthresh : 0;
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
    // A filter's estimate decays between samples. A maximum stays, and may change within a round.
    if (seen.samples != m_samples || (HasCongControl() && seen.samples != 0))
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
    m_smoothedRtt = rtt;  // ns-3 passes the smoothed RTT
    if (HasCongControl()) // CongControl follows
    {
        const bool recovers = tcb->m_congState == TcpSocketState::CA_RECOVERY;
        if (recovers && (m_entering || tcb->m_lastAckedSeq > m_acked))
        {
            m_core->deliveries.MaySendAgain(); // the head
        }
        return;
    }
    if (m_ackSeen)
    {
        m_ackSeen = false; // the core has seen it already: it caused the recovery
        const uint32_t inflation = tcb->m_cWndInfl.Get() - tcb->m_cWnd.Get();
        tcb->m_cWnd = m_inRecovery * tcb->m_segmentSize;
        tcb->m_cWndInfl = tcb->m_cWnd.Get() + inflation;
        return;
    }
    OnAck(tcb);
    SetSsThresh(tcb, std::exchange(m_answered, 0));
}

uint32_t
WwTcpWestwood::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    NS_LOG_FUNCTION(this << tcb << bytesInFlight);
    if (HasCongControl())
    {
        m_core->pipe = std::max(bytesInFlight / tcb->m_segmentSize, 1u);
        m_core->isMarked = !m_entering;
        return tcb->m_ssThresh; // OnState and CongControl set it later
    }
    const uint32_t mss = tcb->m_segmentSize;
    ww_window window = WindowOf(tcb);
    const uint32_t flight = bytesInFlight / mss;
    const bool isEcho = tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD &&
                        tcb->m_congState <= TcpSocketState::CA_DISORDER;
    if (m_entering)
    {
        m_entering = false; // another call in this recovery is for a timeout
        OnAck(tcb);         // ns-3 reports the third duplicate ACK only later
        m_ackSeen = true;
        m_grown = m_answered = 0;
    }
    else if (!isEcho)
    {
        ww_on_rto(&m_core->config, &m_core->state, &window, NowUs(), flight, mss, false);
        Trace(); // a sample's time may have ended in between
        NS_LOG_LOGIC("Timeout: ssthresh " << window.ssthresh);
        return window.ssthresh * mss;
    }
    const uint32_t before = window.cwnd;
    const auto answer = isEcho ? ww_on_mark : ww_on_loss;
    answer(&m_core->config, &m_core->state, &window, NowUs(), flight, mss);
    m_afterLoss = std::max(window.cwnd, 1u);
    m_inRecovery = std::min(m_afterLoss, before); // raising the window would send a burst
    NS_LOG_LOGIC("Loss with " << flight << " segments in flight: ssthresh " << window.ssthresh);
    return window.ssthresh * mss;
}

void
WwTcpWestwood::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    NS_LOG_FUNCTION(this << tcb << segmentsAcked);
    if (HasCongControl())
    {
        return; // CongControl follows
    }
    const uint32_t mss = tcb->m_segmentSize;
    if (m_leaving)
    {
        m_leaving = false;
        tcb->m_cWnd = m_afterLoss * mss; // the socket has set it to ssthresh
        return;
    }
    if (tcb->m_lastAckedSeq > m_acked)
    {
        OnAck(tcb); // ns-3 does not call PktsAcked for some ACKs that end disorder
        SetSsThresh(tcb, std::exchange(m_answered, 0));
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
    if (HasCongControl())
    {
        OnState(tcb, newState);
        return;
    }
    if (m_congState == TcpSocketState::CA_RECOVERY && newState == TcpSocketState::CA_OPEN)
    {
        ww_window window = WindowOf(tcb);
        window.cwnd = m_afterLoss; // recovery has changed the socket's cwnd
        ww_on_recovery_exit(&m_core->config, &m_core->state, &window, NowUs(), tcb->m_segmentSize);
        m_afterLoss = window.cwnd;
        tcb->m_ssThresh = window.ssthresh * tcb->m_segmentSize;
        m_leaving = true;
    }
    m_entering = newState == TcpSocketState::CA_RECOVERY;
    m_congState = newState;
}

} // namespace ns3
