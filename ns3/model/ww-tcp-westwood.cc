/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Length: in ns-3's style an attribute takes six lines, and there are a dozen.
 */
#include "ww-tcp-westwood.h"

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

// MakeEnumAccessor takes the enumeration as a template argument in newer releases, and must not in
// older ones: whichever of the two is there.
template <class E, class Field>
auto
ChooseEnumAccessor(Field field, int) -> decltype(MakeEnumAccessor<E>(field))
{
    return MakeEnumAccessor<E>(field);
}

template <class E, class Field>
auto
ChooseEnumAccessor(Field field, long) -> decltype(MakeEnumAccessor(field))
{
    return MakeEnumAccessor(field);
}

template <class E, class Field>
auto
EnumAccessor(Field field)
{
    return ChooseEnumAccessor<E>(field, 0);
}

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

} // namespace

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
    : m_estimatedBw(0.0),
      m_sampleBw(0.0),
      m_rttMin(Time(0)),
      m_samples(0),
      m_smoothedRtt(0),
      m_config(ww_preset(WW_PRESET_WESTWOOD_PLUS)),
      m_state(),
      m_grown(0),
      m_afterLoss(0),
      m_acked(1), // ns-3 numbers from 0, and the SYN takes a number
      m_ackSeen(false),
      m_leaving(false),
      m_congState(TcpSocketState::CA_OPEN)
{
    ww_init(&m_config, &m_state);
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
      m_estimatedBw(0.0),
      m_sampleBw(0.0),
      m_rttMin(Time(0)),
      m_samples(0),
      m_smoothedRtt(0),
      m_config(sock.m_config),
      m_state(),
      m_grown(0),
      m_afterLoss(0),
      m_acked(1), // ns-3 numbers from 0, and the SYN takes a number
      m_ackSeen(false),
      m_leaving(false),
      m_congState(TcpSocketState::CA_OPEN)
{
    ww_init(&m_config, &m_state);
}

WwTcpWestwood::~WwTcpWestwood()
{
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
    m_config = ww_preset(PresetOf(m_protocol));
    static const uint8_t filters[] = {WW_FILTER_NONE,
                                      WW_FILTER_EWMA,
                                      WW_FILTER_TUSTIN_CONSTANT,
                                      WW_FILTER_TUSTIN,
                                      WW_FILTER_EWMA_TWICE};
    if (m_filter != PROTOCOL_DEFAULT)
    {
        m_config.filter = filters[m_filter - NONE];
    }
    m_config.alpha_permille = static_cast<uint16_t>(std::lround(1000.0 * m_alpha));
    m_config.tau_us = static_cast<uint32_t>(m_tau.GetMicroSeconds());
    m_config.virtual_m = m_virtual == 1 ? 0 : m_virtual;
    m_config.min_interval_us = static_cast<uint32_t>(m_minInterval.GetMicroSeconds());
    if (m_cte >= 1.0)
    {
        m_config.cte_permille = static_cast<uint16_t>(std::lround(1000.0 * m_cte));
    }
    m_config.byte_counting = m_byteCounting;
    m_config.validate_cwnd = false; // ns-3 grows a window whether or not it is full
    ww_init(&m_config, &m_state);
}

void
WwTcpWestwood::Init(Ptr<TcpSocketState> tcb)
{
    NS_LOG_FUNCTION(this << tcb);
    Configure(); // attributes may have changed since construction
}

ww_window
WwTcpWestwood::WindowOf(Ptr<const TcpSocketState> tcb)
{
    const uint32_t mss = tcb->m_segmentSize;
    ww_window window;
    window.cwnd = std::min(std::max(tcb->m_cWnd.Get() / mss, 1u), WW_CWND_MAX);
    window.ssthresh = std::min(tcb->m_ssThresh.Get() / mss, WW_SSTHRESH_INFINITE);
    window.pacing = 0;
    return window;
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
    const Time rtt = m_rttSource == SAMPLES ? tcb->m_lastRtt.Get() : m_smoothedRtt;
    if (!sample.is_dupack && rtt.IsStrictlyPositive())
    {
        sample.rtt_us = static_cast<uint32_t>(rtt.GetMicroSeconds());
    }
    sample.phase = static_cast<uint8_t>(PhaseOf(tcb->m_congState));
    sample.is_cwnd_limited = true;
    m_acked = std::max(m_acked, tcb->m_lastAckedSeq);

    ww_window window = WindowOf(tcb);
    const uint32_t before = window.cwnd;
    ww_on_ack(&m_config, &m_state, &window, &sample);
    m_grown = window.cwnd != before ? window.cwnd : 0;
    Trace(sample.now_us);
}

void
WwTcpWestwood::Trace(uint64_t nowUs)
{
    const ww_observation seen = ww_observe(&m_config, &m_state, nowUs);
    if (seen.rtt_min_us != UINT32_MAX)
    {
        m_rttMin = MicroSeconds(seen.rtt_min_us);
    }
    if (seen.samples != m_samples)
    {
        m_samples = seen.samples;
        m_sampleBw = BitsPerSecond(seen.raw);
        m_estimatedBw = BitsPerSecond(seen.bandwidth);
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
    if (m_congState == TcpSocketState::CA_RECOVERY && tcb->m_congState == m_congState)
    {
        if (!m_ackSeen)
        {
            OnAck(tcb); // ns-3 reports the third duplicate ACK after this
            m_ackSeen = true;
            m_grown = 0;
        }
        ww_on_loss(&m_config, &m_state, &window, NowUs(), flight, mss);
        m_afterLoss = window.cwnd;
    }
    else
    {
        ww_on_rto(&m_config, &m_state, &window, NowUs(), flight, mss, false);
    }
    return window.ssthresh * mss;
}

void
WwTcpWestwood::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    NS_LOG_FUNCTION(this << tcb << segmentsAcked);
    const uint32_t mss = tcb->m_segmentSize;
    if (m_leaving)
    {
        m_leaving = false; // the socket has set cwnd to ssthresh, upwards, too
        if (!m_config.set_cwnd_on_loss && m_config.cte_permille == 0)
        {
            tcb->m_cWnd = std::min(tcb->m_cWnd.Get(), std::max(m_afterLoss, 1u) * mss);
        }
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
        ww_on_recovery_exit(&m_config, &m_state, &window, NowUs(), tcb->m_segmentSize);
        tcb->m_ssThresh = window.ssthresh * tcb->m_segmentSize;
        m_leaving = true;
    }
    m_congState = newState;
}

} // namespace ns3
