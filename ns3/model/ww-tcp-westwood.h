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

struct ww_control_ops;
struct ww_lost;
struct ww_sample;
struct ww_sent;

namespace ns3
{

class WwSegments;
class WwSettings;

/**
 * \ingroup congestionOps
 *
 * \brief TCP Westwood and its family, BBRv3 and users' controls, with the arithmetic of
 * core/westwood.h
 *
 * The same code runs in the project's simulator. The socket keeps its scoreboard, timers and
 * recovery. This class reports each ACK to the core and passes the core's windows to the socket:
 *
 *   PktsAcked            passes the ACK, duplicate or not, to ww_on_ack
 *   GetSsThresh          calls ww_on_loss when recovery begins, and ww_on_rto on a timeout. Before
 *                        ww_on_loss it passes on the duplicate ACK, which ns-3 reports only later
 *   CongestionStateSet   calls ww_on_recovery_exit when recovery ends
 *   IncreaseWindow       sets cwnd to the core's window
 *
 * A control that needs delivery rates, or sets cwnd in recovery itself (the traits of
 * core/westwood.h), receives all calls in CongControl, at the end of an ACK's processing: ww_on_ack
 * with the data of ww-deliveries.h, then ww_on_loss or ww_on_recovery_exit if the ACK began or
 * ended a recovery. For these controls cwnd, ssthresh and the pacing rate are the core's in every
 * phase. A control that also hears of each segment sent or lost needs a socket of WwTcpHelper,
 * whose segments ww-segments.h follows.
 *
 * This class does not use ns-3's segment counts, which are unreliable on duplicate ACKs and in
 * disorder. An ACK acknowledges the increase of m_lastAckedSeq, and its RTT is the socket's last
 * sample. Releases such as 3.37 keep only a smoothed RTT, so the sample is derived from its change,
 * with the Alpha of 1/8 of RttMeanDeviation.
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

    /** \brief The RTTs whose minimum is RTTmin. */
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
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& rc,
                     const TcpRateOps::TcpRateSample& rs) override;
    Ptr<TcpCongestionOps> Fork() override;

    /**
     * \brief Choose a member of the family, as the attribute Protocol does
     * \param name its name in core/catalogue.h, such as "westwood+"
     */
    void SetProtocol(std::string name);
    /**
     * \brief Get the member of the family
     * \return its name
     */
    std::string GetProtocol() const;
    /**
     * \brief Add a user's control (core/loaded.h), which the attribute Control then accepts
     * \param name the name that the attribute has
     * \param ops the control's table, which must stay
     */
    static void AddControl(const std::string& name, const ww_control_ops* ops);
    /**
     * \brief Check whether the control hears of each segment sent or lost
     * \return whether it does; then its socket must be one of WwTcpHelper
     */
    bool FollowsPackets() const;
    /**
     * \brief Follow the segments of a socket, for a control that has FollowsPackets
     * \param segments the socket's rate operations
     */
    void SetSegments(Ptr<WwSegments> segments);

  protected:
    void NotifyConstructionCompleted() override;

  private:
    /**
     * \brief Tell the core about an ACK
     * \param tcb the socket's state; m_lastAckedSeq is the ACK's number
     */
    void OnAck(Ptr<const TcpSocketState> tcb);
    /**
     * \brief Tell the core of a segment that is about to leave
     * \param sent the segment
     */
    void OnSent(const ww_sent& sent);
    /**
     * \brief Tell the core of a segment that was found lost
     * \param lost the segment
     */
    void OnLost(const ww_lost& lost);
    /**
     * \brief Handle CongestionStateSet for a control that has CongControl
     * \param tcb the socket's state
     * \param state the new one
     */
    void OnState(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCongState_t state);
    /**
     * \brief Describe an ACK, without its deliveries
     * \param tcb the socket's state; m_lastAckedSeq is the ACK's number
     * \param phase the core's phase in which the ACK arrived
     * \return the sample
     */
    ww_sample SampleOf(Ptr<const TcpSocketState> tcb, uint8_t phase);
    /**
     * \brief Get the RTT that this ACK measured
     * \param tcb the socket's state
     * \return its sample, or the smoothed RTT if RttSource says so
     */
    Time Rtt(Ptr<const TcpSocketState> tcb) const;
    /**
     * \brief Derive the sample from a change of the smoothed RTT, for releases without m_lastRtt
     * \param before its old value
     * \param now its new value
     */
    void SmoothedRttChanged(Time before, Time now);
    /**
     * \brief Watch the changes of a socket's state that no hook reports
     * \param tcb the socket's state; nullptr: stop watching
     */
    void Watch(Ptr<TcpSocketState> tcb);
    /** \brief Fire the trace sources if there is a new sample. */
    void Trace();
    /**
     * \brief Choose a user's control, as the attribute Control does
     * \param name a name of AddControl; empty: the control of the attribute Protocol
     */
    void SetControl(std::string name);
    /**
     * \brief Get the user's control
     * \return its name, or an empty one
     */
    std::string GetControl() const;
    /** \brief Configure the core by the attributes, and start its state. */
    void Configure();
    /**
     * \brief Get the settings of an object's attributes
     * \param object a WwTcpWestwood
     * \return its settings
     */
    static WwSettings& SettingsOf(const ObjectBase& object);

    struct Core; //!< settings, configuration and state; hides the core's headers from users

    RttSource m_rttSource;    //!< attribute RttSource
    std::string m_parameters; //!< attribute Parameters

    TracedValue<double> m_estimatedBw; //!< filtered estimate, bit/s
    TracedValue<double> m_sampleBw;    //!< last raw sample, bit/s
    TracedValue<Time> m_rttMin;        //!< RTTmin
    uint32_t m_samples{0};             //!< bandwidth samples traced so far
    Time m_smoothedRtt;                //!< RTT of the last PktsAcked
    Time m_rtt;                        //!< last sample, if the socket does not keep it
    Ptr<TcpSocketState> m_watched;     //!< the state that is being watched

    std::unique_ptr<Core> m_core; //!< the core's data
    uint32_t m_grown{0};          //!< cwnd after the last ACK by the core, segments; 0: unchanged
    uint32_t m_answered{0};       //!< ssthresh that it set on that ACK, segments; 0: none
    uint32_t m_afterLoss{0};      //!< cwnd that the core set on the last loss, segments
    uint32_t m_inRecovery{0};     //!< m_afterLoss, but at most the cwnd before the loss
    SequenceNumber32 m_acked{1};  //!< highest ACK that the core has seen; the SYN has number 0
    bool m_ackSeen{false};        //!< the ACK being processed was reported already
    bool m_entering{false};       //!< recovery has begun, but GetSsThresh was not called yet
    bool m_leaving{false};        //!< the ACK being processed ends recovery
    /// The state of the last CongestionStateSet.
    TcpSocketState::TcpCongState_t m_congState{TcpSocketState::CA_OPEN};
};

} // namespace ns3

#endif /* WW_TCP_WESTWOOD_H */
