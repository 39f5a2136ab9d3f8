/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Follows each segment of a WwTcpSocket, for controls that hear of each segment sent or lost. Users
 * of the module don't need this header.
 */
#ifndef WW_SEGMENTS_H
#define WW_SEGMENTS_H

#include "core/delivery.h"
#include "ww-releases.h"

#include "ns3/callback.h"
#include "ns3/nstime.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-rate-ops.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/tcp-tx-buffer.h"

#include <cstdint>
#include <deque>
#include <map>

namespace ns3
{

/**
 * \brief Follows the segments of a socket, and computes the delivery rate part of ww_sample
 *
 * It takes the place of the socket's TcpRateLinux, which it calls for every segment. The equations
 * are those of core/delivery.h, in nanoseconds and segments. All of it is exact: each segment has
 * the values of its last transmission, and the losses are those of the socket's scoreboard.
 */
class WwSegments : public WwNamed<WwSegments, TcpRateLinux>
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * \brief Follow a socket
     * \param tcb the socket's state
     * \param buffer the socket's segments
     */
    void Follow(Ptr<const TcpSocketState> tcb, Ptr<const TcpTxBuffer> buffer);
    /**
     * \brief Choose who hears of each segment that is sent or found lost
     * \param sent called before a segment is sent
     * \param lost called for a lost segment
     */
    void SetListeners(Callback<void, const ww_sent&> sent, Callback<void, const ww_lost&> lost);

    void SkbSent(TcpTxItem* item, bool isStartOfTransmission) override;
    void SkbDelivered(TcpTxItem* item) override;

    /** \brief Note that an ACK has arrived, which the socket has not processed yet. */
    void AckArrives();
    /** \brief Report the segments that the scoreboard has marked lost since the last call. */
    void FindLosses();
    /** \brief Report everything that was not delivered as lost, after a timeout. */
    void TimeOut();
    /**
     * \brief Fill in what an ACK delivered, and begin the next sample
     * \param sample the ACK's sample; its rtt_us is set
     */
    void Fill(ww_sample& sample);

  private:
    /// A segment's last transmission.
    struct Segment
    {
        SequenceNumber32 start;
        ww_delivery_record record{};
        bool isOutAgain = false; //!< the scoreboard counts this retransmission
    };

    /**
     * \brief Get the segments in flight
     * \param excluded segments to leave out
     * \return the number
     */
    uint32_t Pipe(uint32_t excluded) const;
    /**
     * \brief Tell the socket's control of a segment that is about to leave
     * \param pipe segments in flight without it
     */
    void ReportSent(uint32_t pipe);
    /**
     * \brief Count and report a lost segment
     * \param segment the segment
     */
    void ReportLost(const Segment& segment);
    /**
     * \brief Check whether the application limits the sender, by ns-3's rule
     * \return whether it does
     */
    bool IsLimited();

    Ptr<const TcpSocketState> m_tcb;           //!< the socket's state
    Ptr<const TcpTxBuffer> m_buffer;           //!< the socket's segments
    Callback<void, const ww_sent&> m_onSent;   //!< hears of each segment sent
    Callback<void, const ww_lost&> m_onLost;   //!< hears of each segment lost
    std::map<const TcpTxItem*, Segment> m_out; //!< the segments sent and not acknowledged
    std::deque<const TcpTxItem*> m_order;      //!< the same by sequence number
    ww_delivery m_delivery{};                  //!< what was delivered and found lost
    Time m_minRtt{Time::Max()};                //!< the smallest RTT
    uint32_t m_sentInAck{0};                   //!< segments sent since the ACK arrived
    SequenceNumber32 m_lostBelow{0};           //!< losses below this were found
    SequenceNumber32 m_lastLost{0};            //!< end of the last segment found lost
};

} // namespace ns3

#endif /* WW_SEGMENTS_H */
