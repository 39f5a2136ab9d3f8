/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tells the core what each ACK delivered and which losses it revealed, from ns-3's rate samples.
 * Users of the module don't need this header.
 */
#ifndef WW_DELIVERIES_H
#define WW_DELIVERIES_H

#include "core/contract.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-rate-ops.h"
#include "ns3/tcp-socket-state.h"

#include <cstdint>
#include <map>
#include <set>

namespace ns3
{

/**
 * \brief Computes the delivery rate part of ww_sample (core/contract.h) for a connection
 *
 * The equations are those of core/delivery.h; the segments' times and counts are ns-3's
 * (TcpRateLinux). These fields differ from ns-3's TcpRateSample:
 *
 *   interval  ends at this ACK. ns-3 keeps the interval of an earlier ACK if no segment of this one
 *             was sent after further deliveries, as for the second of two segments that one ACK
 *             released. Its rate is then too high
 *   minRtt    is the smallest RTT, and bounds the interval from below; in ns-3 it is the smallest
 *             smoothed RTT
 *   lost      counts what left the pipe undelivered. In ns-3 it is the unsigned change of the
 *             segments marked lost, so an ACK that repairs a loss reports one
 *   pipe      excludes what the socket retransmitted while it processed the ACK
 *   RTT       exists for SACKed segments, unlike in ns-3. It is the time since the newest delivered
 *             segment was sent, unless a segment was retransmitted at that time
 */
class WwDeliveries
{
  public:
    /**
     * \brief Record a change of the socket's pipe
     * \param before its old value, bytes
     * \param now its new value, bytes
     */
    void PipeChanged(uint32_t before, uint32_t now);
    /**
     * \brief Record a new highest sequence number sent
     * \param before the old one
     * \param now the new one
     */
    void HighestChanged(SequenceNumber32 before, SequenceNumber32 now);
    /** \brief Record a possible third transmission of a segment, which leaves the pipe unchanged.
     */
    void MaySendAgain();
    /**
     * \brief Record a timeout: everything in flight is considered lost
     */
    void TimedOut();
    /**
     * \brief Fill in what an ACK delivered
     * \param tcb the socket's state
     * \param rc ns-3's counts of the connection
     * \param rs ns-3's sample of the ACK
     * \param sample the ACK's sample; its rtt_us is set
     */
    void Fill(Ptr<const TcpSocketState> tcb,
              const TcpRateOps::TcpRateConnection& rc,
              const TcpRateOps::TcpRateSample& rs,
              ww_sample& sample);

  private:
    /** \brief Complete the counts for an instant of sending, if that instant is over. */
    void Account();
    /**
     * \brief Find when the newest segment delivered by an ACK was sent
     *
     * ns-3 takes the first of the segments that a pacer sent at the same delivery count.
     *
     * \param first ns-3's time
     * \param rttUs the newest segment's RTT, or 0 if it must not be measured
     * \return the time
     */
    Time NewestSent(Time first, uint32_t rttUs);
    /**
     * \brief Find NewestSent's result at the time when the newest delivered segment was sent
     * \param first ns-3's time then; earlier results are discarded
     * \return the time
     */
    Time BeganAt(Time first);
    /**
     * \brief Check for a retransmission
     * \param when the instant of sending; earlier ones are discarded
     * \return whether a segment was retransmitted then
     */
    bool WasSentAgain(Time when);

    uint32_t m_delivered{0};       //!< segments delivered up to the last ACK
    uint32_t m_prior{0};           //!< bytes delivered when the newest segment delivered was sent
    Time m_priorAt;                //!< when the last of those bytes was delivered
    Time m_minRtt{Time::Max()};    //!< the smallest RTT
    uint32_t m_base{0};            //!< pipe after the last ACK or timeout, bytes
    uint32_t m_sent{0};            //!< bytes sent since then
    Time m_accountOf;              //!< the instant of sending that is being counted
    uint32_t m_all{0};             //!< bytes sent at that instant
    uint32_t m_new{0};             //!< those of them that were sent for the first time
    std::set<Time> m_again;        //!< when retransmissions were sent
    std::map<Time, Time> m_newest; //!< NewestSent's results by ns-3's times
};

} // namespace ns3

#endif /* WW_DELIVERIES_H */
