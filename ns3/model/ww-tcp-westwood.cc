/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Length: in ns-3's style an attribute takes six lines, and there are a dozen.
 */
#include "ww-tcp-westwood.h"

#include "core/westwood.h"
#include "ww-releases.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

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

ww_preset_id
PresetOf(WwTcpWestwood::Protocol protocol)
{
    switch (protocol)
    {
    case WwTcpWestwood::WESTWOOD_PLUS:
        return WW_PRESET_WESTWOOD_PLUS;
    case WwTcpWestwood::WESTWOODNR_PLUS:
        return WW_PRESET_WESTWOODNR_PLUS;
    case WwTcpWestwood::WESTWOOD_NS3:
        return WW_PRESET_WESTWOOD_NS3;
    case WwTcpWestwood::WESTWOOD_PLUS_NS3:
        return WW_PRESET_WESTWOOD_PLUS_NS3;
    case WwTcpWestwood::WESTWOOD_PLUS_LINUX:
        return WW_PRESET_WESTWOOD_PLUS_LINUX;
    case WwTcpWestwood::WESTWOOD:
    default:
        return WW_PRESET_WESTWOOD;
    }
}

ww_phase
PhaseOf(TcpSocketState::TcpCongState_t state)
{
    switch (state)
    {
    case TcpSocketState::CA_DISORDER:
        return WW_DISORDER;
    case TcpSocketState::CA_CWR:
    case TcpSocketState::CA_RECOVERY:
        return WW_RECOVERY;
    case TcpSocketState::CA_LOSS:
        return WW_LOSS;
    default:
        return WW_OPEN;
    }
}

uint64_t
NowUs()
{
    return static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
}

/// The core's window, in segments, from the socket's, in bytes.
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
    ww_config config{};
    ww_state state{};
};

TypeId
WwTcpWestwood::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::WwTcpWestwood")
            .SetParent<TcpCongestionOps>()
            .SetGroupName("Internet")
            .AddConstructor<WwTcpWestwood>()
            .AddAttribute("Protocol",
                          "Which member of the family",
                          EnumValue(WESTWOOD_PLUS),
                          EnumAccessor<Protocol>(&WwTcpWestwood::m_protocol),
                          MakeEnumChecker(WESTWOOD,
                                          "Westwood",
                                          WESTWOOD_PLUS,
                                          "WestwoodPlus",
                                          WESTWOODNR_PLUS,
                                          "WestwoodNRPlus",
                                          WESTWOOD_NS3,
                                          "WestwoodNs3",
                                          WESTWOOD_PLUS_NS3,
                                          "WestwoodPlusNs3",
                                          WESTWOOD_PLUS_LINUX,
                                          "WestwoodPlusLinux"))
            .AddAttribute("Filter",
                          "Filter of the bandwidth samples",
                          EnumValue(PROTOCOL_DEFAULT),
                          EnumAccessor<Filter>(&WwTcpWestwood::m_filter),
                          MakeEnumChecker(PROTOCOL_DEFAULT,
                                          "Default",
                                          NONE,
                                          "None",
                                          EWMA,
                                          "Ewma",
                                          TUSTIN_CONSTANT,
                                          "TustinConstant",
                                          TUSTIN,
                                          "Tustin",
                                          EWMA_TWICE,
                                          "EwmaTwice"))
            .AddAttribute("Alpha",
                          "Pole of the constant Tustin filter",
                          DoubleValue(0.9),
                          MakeDoubleAccessor(&WwTcpWestwood::m_alpha),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Tau",
                          "Time constant of the time-varying Tustin filter",
                          TimeValue(MilliSeconds(500)),
                          MakeTimeAccessor(&WwTcpWestwood::m_tau),
                          MakeTimeChecker(MicroSeconds(1), Seconds(60)))
            .AddAttribute("VirtualSamples",
                          "m: a virtual null sample after each Tau / m without an ACK; 0: none",
                          UintegerValue(10),
                          MakeUintegerAccessor(&WwTcpWestwood::m_virtual),
                          MakeUintegerChecker<uint8_t>(0, WW_VIRTUAL_MAX))
            .AddAttribute("MinInterval",
                          "Shortest interval of a sample a round trip",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&WwTcpWestwood::m_minInterval),
                          MakeTimeChecker(Time(0), Seconds(60)))
            .AddAttribute("RttSource",
                          "What RTTmin is the minimum of",
                          EnumValue(SAMPLES),
                          EnumAccessor<RttSource>(&WwTcpWestwood::m_rttSource),
                          MakeEnumChecker(SAMPLES, "Samples", SMOOTHED, "Smoothed"))
            .AddAttribute("PlateauCte",
                          "cte of WestwoodNR+'s plateau, from 1; 0: the protocol's",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&WwTcpWestwood::m_cte),
                          MakeDoubleChecker<double>(0.0, 65.0))
            .AddAttribute("ByteCounting",
                          "Grow by what an ACK covers (RFC 3465), not once an ACK",
                          BooleanValue(false),
                          MakeBooleanAccessor(&WwTcpWestwood::m_byteCounting),
                          MakeBooleanChecker())
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
                            "ns3::TracedValueCallback::Time");
    return tid;
}

WwTcpWestwood::WwTcpWestwood()
    : m_core(std::make_unique<Core>())
{
    NS_LOG_FUNCTION(this);
    m_core->config = ww_preset(WW_PRESET_WESTWOOD_PLUS);
    ww_init(&m_core->config, &m_core->state);
}

WwTcpWestwood::WwTcpWestwood(const WwTcpWestwood& sock)
    : TcpCongestionOps(sock),
      m_protocol(sock.m_protocol),
      m_filter(sock.m_filter),
      m_rttSource(sock.m_rttSource),
      m_alpha(sock.m_alpha),
      m_tau(sock.m_tau),
      m_virtual(sock.m_virtual),
      m_minInterval(sock.m_minInterval),
      m_cte(sock.m_cte),
      m_byteCounting(sock.m_byteCounting),
      m_core(std::make_unique<Core>())
{
    NS_LOG_FUNCTION(this << &sock);
    m_core->config = sock.m_core->config;
    ww_init(&m_core->config, &m_core->state);
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
WwTcpWestwood::Configure()
{
    ww_config& config = m_core->config;
    config = ww_preset(PresetOf(m_protocol));
    static const uint8_t filters[] = {WW_FILTER_NONE,
                                      WW_FILTER_EWMA,
                                      WW_FILTER_TUSTIN_CONSTANT,
                                      WW_FILTER_TUSTIN,
                                      WW_FILTER_EWMA_TWICE};
    if (m_filter != PROTOCOL_DEFAULT)
    {
        config.filter = filters[m_filter - NONE];
    }
    config.alpha_permille = static_cast<uint16_t>(std::lround(1000.0 * m_alpha));
    config.tau_us = static_cast<uint32_t>(m_tau.GetMicroSeconds());
    config.virtual_m = m_virtual == 1 ? 0 : m_virtual;
    config.min_interval_us = static_cast<uint32_t>(m_minInterval.GetMicroSeconds());
    if (m_cte >= 1.0)
    {
        config.cte_permille = static_cast<uint16_t>(std::lround(1000.0 * m_cte));
    }
    config.byte_counting = m_byteCounting;
    config.validate_cwnd = false; // ns-3 grows a window whether or not it is full
    ww_init(&config, &m_core->state);
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
    // RFC 6298: now = 7/8 before + 1/8 sample; what was rounded there is less than half a
    // microsecond
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
    sample.in_flight = tcb->m_bytesInFlight.Get() / mss;
    sample.phase = static_cast<uint8_t>(PhaseOf(tcb->m_congState));
    const Time rtt = Rtt(tcb);
    // Karn: in recovery ACKs for new data cover retransmissions, and ns-3 measures some of them.
    if (!sample.is_dupack && sample.phase <= WW_DISORDER && rtt.IsStrictlyPositive())
    {
        sample.rtt_us = static_cast<uint32_t>(rtt.GetMicroSeconds());
    }
    sample.is_cwnd_limited = true;
    m_acked = std::max(m_acked, tcb->m_lastAckedSeq);

    ww_window window = WindowOf(tcb);
    const uint32_t before = window.cwnd;
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
    m_smoothedRtt = rtt; // is what ns-3 passes here
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
        m_entering = false; // asked once more in the same recovery, it is for a timeout
        OnAck(tcb);         // ns-3 reports the third duplicate ACK after this
        m_ackSeen = true;
        m_grown = 0;
    }
    else if (!isEcho)
    {
        ww_on_rto(&m_core->config, &m_core->state, &window, NowUs(), flight, mss, false);
        Trace(); // a sample whose timer has run out meanwhile
        NS_LOG_LOGIC("Timeout: ssthresh " << window.ssthresh);
        return window.ssthresh * mss;
    }
    const uint32_t before = window.cwnd;
    ww_on_loss(&m_core->config, &m_core->state, &window, NowUs(), flight, mss);
    m_afterLoss = std::max(window.cwnd, 1u);
    m_inRecovery = std::min(m_afterLoss, before); // a window raised here sends a burst
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
        window.cwnd = m_afterLoss; // without what the recovery has made of it
        ww_on_recovery_exit(&m_core->config, &m_core->state, &window, NowUs(), tcb->m_segmentSize);
        m_afterLoss = window.cwnd;
        tcb->m_ssThresh = window.ssthresh * tcb->m_segmentSize;
        m_leaving = true;
    }
    m_entering = newState == TcpSocketState::CA_RECOVERY;
    m_congState = newState;
}

} // namespace ns3
