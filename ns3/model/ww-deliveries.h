/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tells the core what each ACK delivered and what was found lost, from ns-3's rate samples. Users
 * of the module don't need this header.
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
 * \brief The delivery rate part of ww_sample (core/contract.h) for a connection
 *
 * The equations are those of engine/ratesample.hpp; the segments' times and counts are ns-3's
 * (TcpRateLinux). What is otherwise than ns-3 has it in TcpRateSample:
 *
 *   interval  ns-3 keeps that of an earlier ACK where no segment of this one was sent after more
 *             had been delivered, as of the second of two segments that one ACK let out, and there
 *             the rate comes out too high. Here the end of the interval is this ACK
 *   minRtt    no sample is shorter than the smallest RTT, which in ns-3 is the smallest mean
 *   lost      in ns-3 the change of what is held for lost, without its sign: an ACK that repairs
 *             a loss reports one. Here it is what left the pipe without having been delivered
 *   pipe      without what the socket sent again while it processed the ACK
 *   RTT       ns-3 has none of what SACK reports. Here it is the time since the newest segment
 *             delivered was sent, unless some segment was sent again at that time
 */
class WwDeliveries
{
  public:
    /**
     * \brief The socket's pipe has changed
     * \param before its old value, bytes
     * \param now its new value, bytes
     */
    void PipeChanged(uint32_t before, uint32_t now);
    /**
     * \brief There is a new highest sequence number that was sent
     * \param before the one before
     * \param now the new one
     */
    void HighestChanged(SequenceNumber32 before, SequenceNumber32 now);
    /** \brief The socket may have sent a segment for the third time, which leaves the pipe alone.
     */
    void MaySendAgain();
    /**
     * \brief The retransmission timer expired, and everything in flight is held for lost
     */
    void TimedOut();
    /**
     * \brief Say what an ACK delivered
     * \param tcb the socket's state
     * \param rc ns-3's counts of the connection
     * \param rs ns-3's sample of the ACK
     * \param sample what the ACK brought; its rtt_us is set
     */
    void Fill(Ptr<const TcpSocketState> tcb,
              const TcpRateOps::TcpRateConnection& rc,
              const TcpRateOps::TcpRateSample& rs,
              ww_sample& sample);

  private:
    /** \brief Close the account of what was sent at one time, if it is over. */
    void Account();
    /**
     * \brief When the newest segment that an ACK delivered was sent
     *
     * Of segments that a pacer sent after as much had been delivered ns-3 takes the first.
     *
     * \param first what ns-3 has
     * \param rttUs the RTT of the newest one, if it may be measured, or 0
     * \return the time
     */
    Time NewestSent(Time first, uint32_t rttUs);
    /**
     * \brief What NewestSent said when the newest segment delivered was sent
     * \param first what ns-3 had; what was before that is forgotten
     * \return the time
     */
    Time BeganAt(Time first);
    /**
     * \brief Say whether there was a retransmission
     * \param when at this time; what was before that is forgotten
     * \return it
     */
    bool WasSentAgain(Time when);

    uint32_t m_delivered{0};       //!< segments delivered up to the last ACK
    uint32_t m_prior{0};           //!< bytes delivered when the newest segment delivered was sent
    Time m_priorAt;                //!< when the last of those bytes was delivered
    Time m_minRtt{Time::Max()};    //!< the smallest RTT
    uint32_t m_base{0};            //!< pipe after the last ACK or timeout, bytes
    uint32_t m_sent{0};            //!< bytes sent since then
    Time m_accountOf;              //!< the time of the account that is open
    uint32_t m_all{0};             //!< bytes sent at that time
    uint32_t m_new{0};             //!< those of them that had not been sent before
    std::set<Time> m_again;        //!< when retransmissions were sent
    std::map<Time, Time> m_newest; //!< what NewestSent said, by what ns-3 has
};

} // namespace ns3

#endif /* WW_DELIVERIES_H */
