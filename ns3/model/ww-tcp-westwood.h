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
#include <string>

struct ww_sample;

namespace ns3
{

class WwSettings;

/**
 * \ingroup congestionOps
 *
 * \brief TCP Westwood and its family, by the arithmetic of core/westwood.h
 *
 * The same code runs in the project's simulator. The socket keeps its scoreboard, timers and
 * recovery; this class tells the core what each ACK brought and hands its windows to the socket:
 *
 *   PktsAcked            hands the ACK, duplicate or not, to ww_on_ack
 *   GetSsThresh          calls ww_on_loss when recovery begins (after it has handed over the
 * duplicate ACK that caused it, which ns-3 reports later), and ww_on_rto on a timeout
 *   CongestionStateSet   calls ww_on_recovery_exit when recovery ends
 *   IncreaseWindow       sets cwnd to the window that the core said
 *
 * A control that needs delivery rates, or sets cwnd in recovery itself (the traits of
 * core/westwood.h), is told everything at the end of an ACK's processing, by CongControl: ww_on_ack
 * with what ww-deliveries.h says, then ww_on_loss or ww_on_recovery_exit if a recovery began or
 * ended with it. Then cwnd, ssthresh and the pacing rate are the core's, in every phase.
 *
 * ns-3's segment counts are not used: they are unreliable on duplicate ACKs and in disorder. What
 * an ACK acknowledges is the difference of m_lastAckedSeq, and its RTT is the socket's last sample.
 * Releases such as 3.37 keep a smoothed RTT only. There the sample is worked out from its change,
 * at the Alpha of 1/8 that RttMeanDeviation has.
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
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& rc,
                     const TcpRateOps::TcpRateSample& rs) override;
    Ptr<TcpCongestionOps> Fork() override;

    /**
     * \brief Choose a member of the family: attribute Protocol
     * \param name its name in core/catalogue.h, such as "westwood+"
     */
    void SetProtocol(std::string name);
    /**
     * \brief The member of the family
     * \return its name
     */
    std::string GetProtocol() const;

  protected:
    void NotifyConstructionCompleted() override;

  private:
    /**
     * \brief Tell the core about an ACK
     * \param tcb the socket's state, m_lastAckedSeq being the ACK's number
     */
    void OnAck(Ptr<const TcpSocketState> tcb);
    /**
     * \brief What CongestionStateSet does for a control that has CongControl
     * \param tcb the socket's state
     * \param state the new one
     */
    void OnState(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCongState_t state);
    /**
     * \brief What an ACK brought, without deliveries
     * \param tcb the socket's state, m_lastAckedSeq being the ACK's number
     * \param phase of the core, in which the ACK arrived
     * \return it
     */
    ww_sample SampleOf(Ptr<const TcpSocketState> tcb, uint8_t phase);
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
    /**
     * \brief Listen to the changes of a socket's state that no hook tells of
     * \param tcb the socket's state; nullptr: to none
     */
    void Watch(Ptr<TcpSocketState> tcb);
    /** \brief Fire the trace sources if there is a new sample. */
    void Trace();
    /** \brief Configure the core by the attributes, and start its state. */
    void Configure();
    /**
     * \brief Find what an object's attributes have set
     * \param object a WwTcpWestwood
     * \return its settings
     */
    static WwSettings& SettingsOf(const ObjectBase& object);

    struct Core; //!< settings, configuration and state: users need no header of the core

    RttSource m_rttSource; //!< attribute RttSource

    TracedValue<double> m_estimatedBw; //!< filtered estimate, bit/s
    TracedValue<double> m_sampleBw;    //!< last raw sample, bit/s
    TracedValue<Time> m_rttMin;        //!< RTTmin
    uint32_t m_samples{0};             //!< bandwidth samples traced so far
    Time m_smoothedRtt;                //!< what PktsAcked said last
    Time m_rtt;                        //!< last sample, if the socket does not keep it
    Ptr<TcpSocketState> m_watched;     //!< whose changes are listened to

    std::unique_ptr<Core> m_core; //!< what the core needs
    uint32_t m_grown{0};          //!< cwnd after the last ACK by the core, segments; 0: unchanged
    uint32_t m_afterLoss{0};      //!< cwnd the core set on the last loss, segments
    uint32_t m_inRecovery{0};     //!< m_afterLoss, but no more than cwnd was before
    SequenceNumber32 m_acked{1};  //!< highest ACK the core has seen; the SYN takes number 0
    bool m_ackSeen{false};        //!< the ACK being processed was reported already
    bool m_entering{false};       //!< recovery has begun, and ssthresh has not been asked for
    bool m_leaving{false};        //!< the ACK being processed ends recovery
    /// What CongestionStateSet said last.
    TcpSocketState::TcpCongState_t m_congState{TcpSocketState::CA_OPEN};
};

} // namespace ns3

#endif /* WW_TCP_WESTWOOD_H */
