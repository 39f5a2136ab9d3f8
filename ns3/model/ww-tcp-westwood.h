/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WW_TCP_WESTWOOD_H
#define WW_TCP_WESTWOOD_H

#include "ns3/nstime.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <memory>

namespace ns3
{

/**
 * \ingroup congestionOps
 *
 * \brief TCP Westwood and its family, by the arithmetic of core/westwood.h
 *
 * The same code runs in the project's simulator. The socket keeps its scoreboard, timers and
 * recovery; this class tells the core what each ACK brought and hands its windows to the socket:
 *
 *   PktsAcked            the ACK, duplicate or not, to ww_on_ack
 *   GetSsThresh          ww_on_loss on entering recovery (after the duplicate ACK that caused it,
 *                        which ns-3 reports later), ww_on_rto on a timeout
 *   CongestionStateSet   the end of recovery, to ww_on_recovery_exit
 *   IncreaseWindow       the window the core said becomes cwnd
 *
 * ns-3's segment counts are not used: they are unreliable on duplicate ACKs and in disorder. What
 * an ACK acknowledges is the difference of m_lastAckedSeq, and its RTT the socket's last sample.
 * Releases that keep a smoothed RTT only (3.37): the sample is what changed it, at
 * RttMeanDeviation's own Alpha of 1/8.
 *
 * Sources: Mascolo et al., MOBICOM 2001; Gangadhar et al., WNS3 2013; Dell'Aera et al. 2003; see
 * core/westwood_family.h for the equations.
 */
class WwTcpWestwood : public TcpCongestionOps
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    WwTcpWestwood();
    /**
     * \brief Copy constructor: a forked socket starts with the parent's settings and a new state
     * \param sock object to copy
     */
    WwTcpWestwood(const WwTcpWestwood& sock);
    ~WwTcpWestwood() override;

    /** \brief Which rules and estimator; names as in the project's scenario files. */
    enum Protocol
    {
        WESTWOOD,           //!< a sample an ACK, time-varying Tustin filter (2001)
        WESTWOOD_PLUS,      //!< a sample a round trip of at least 50 ms, 7/8 filter
        WESTWOODNR_PLUS,    //!< Westwood with a plateau after a loss
        WESTWOOD_NS3,       //!< as the 2013 ns-3 paper describes Westwood
        WESTWOOD_PLUS_NS3,  //!< and Westwood+
        WESTWOOD_PLUS_LINUX //!< as Linux' tcp_westwood
    };

    /** \brief The filter of the samples. */
    enum Filter
    {
        PROTOCOL_DEFAULT, //!< the protocol's
        NONE,             //!< the last sample
        EWMA,             //!< 7/8 and 1/8
        TUSTIN_CONSTANT,  //!< pole Alpha
        TUSTIN,           //!< time constant Tau, virtual null samples
        EWMA_TWICE        //!< two of EWMA, one behind the other
    };

    /** \brief What RTTmin is the minimum of. */
    enum RttSource
    {
        SAMPLES, //!< RTT samples
        SMOOTHED //!< smoothed RTTs, as in mainline
    };

    std::string GetName() const override;
    void Init(Ptr<TcpSocketState> tcb) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override;
    Ptr<TcpCongestionOps> Fork() override;

  protected:
    void NotifyConstructionCompleted() override;

  private:
    /**
     * \brief Tell the core about an ACK
     * \param tcb the socket's state, m_lastAckedSeq being the ACK's number
     */
    void OnAck(Ptr<const TcpSocketState> tcb);
    /**
     * \brief The RTT that this ACK brought
     * \param tcb the socket's state
     * \return its sample, or the smoothed one if RttSource says so
     */
    Time Rtt(Ptr<const TcpSocketState> tcb) const;
    /**
     * \brief In releases whose m_lastRtt is the smoothed RTT: find the sample that changed it
     * \param before its old value
     * \param now its new value
     */
    void SmoothedRttChanged(Time before, Time now);
    /** \brief Fire the trace sources if there is a new sample. */
    void Trace();
    /** \brief The core's settings from the attributes. */
    void Configure();

    struct Core; //!< the core's settings and state: its headers are no part of this one

    Protocol m_protocol;   //!< attribute Protocol
    Filter m_filter;       //!< attribute Filter
    RttSource m_rttSource; //!< attribute RttSource
    double m_alpha;        //!< attribute Alpha
    Time m_tau;            //!< attribute Tau
    uint8_t m_virtual;     //!< attribute VirtualSamples
    Time m_minInterval;    //!< attribute MinInterval
    double m_cte;          //!< attribute PlateauCte
    bool m_byteCounting;   //!< attribute ByteCounting

    TracedValue<double> m_estimatedBw; //!< filtered estimate, bit/s
    TracedValue<double> m_sampleBw;    //!< last raw sample, bit/s
    TracedValue<Time> m_rttMin;        //!< RTTmin
    uint32_t m_samples{0};             //!< bandwidth samples traced so far
    Time m_smoothedRtt;                //!< as PktsAcked said last
    Time m_rtt;                        //!< last sample, where the socket does not keep it
    Ptr<TcpSocketState> m_watched;     //!< there, whose smoothed RTT is listened to

    std::unique_ptr<Core> m_core; //!< settings and state
    uint32_t m_grown{0};          //!< cwnd after the last ACK by the core, segments; 0: unchanged
    uint32_t m_afterLoss{0};      //!< cwnd the core set on the last loss, segments
    uint32_t m_inRecovery{0};     //!< the same, if that is no more than before
    SequenceNumber32 m_acked{1};  //!< highest ACK the core has seen; the SYN takes number 0
    bool m_ackSeen{false};        //!< the ACK being processed was reported already
    bool m_entering{false};       //!< recovery has begun, and ssthresh has not been asked for
    bool m_leaving{false};        //!< the ACK being processed ends recovery
    /// As CongestionStateSet said last.
    TcpSocketState::TcpCongState_t m_congState{TcpSocketState::CA_OPEN};
};

} // namespace ns3

#endif /* WW_TCP_WESTWOOD_H */
