/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WW_TCP_SOCKET_H
#define WW_TCP_SOCKET_H

#include "ww-releases.h"

#include "ns3/object-factory.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-base.h"

namespace ns3
{

class WwSegments;

/**
 * \ingroup tcp
 *
 * \brief A socket with Tahoe's, Reno's, NewReno's or SACK's loss recovery
 *
 * Mainline has had no Tahoe and no Reno since 3.25. Without SACK only a timeout clears the marks
 * that duplicate ACKs leave on its scoreboard: later ACKs mark the new head lost, and
 * retransmissions cascade. This class clears the marks when their reason ends: on the ACK that ends
 * disorder or recovery.
 *
 *   Tahoe    treats the third duplicate ACK as a timeout, but without back-off of the timer
 *            (Fall and Floyd 1996, 2.1)
 *   Reno     ends fast recovery on any ACK for new data (RFC 5681, 3.2)
 *   NewReno  retransmits the next hole on partial ACKs (RFC 6582), as in mainline
 *   SACK     finds holes by mainline's scoreboard (RFC 6675); without SACK at the peer: NewReno
 */
class WwTcpSocket : public WwNamed<WwTcpSocket, TcpSocketBase>
{
  public:
    /** \brief The kind of loss recovery. */
    enum Recovery
    {
        TAHOE,
        RENO,
        NEWRENO,
        SACK
    };

    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    WwTcpSocket();
    /**
     * \brief Copy constructor
     * \param sock the object to copy
     */
    WwTcpSocket(const WwTcpSocket& sock);

    /**
     * \brief Choose the loss recovery; this turns SACK on or off
     * \param recovery the recovery
     */
    void SetRecovery(Recovery recovery);
    /** \brief Follow each segment, if the congestion control hears of them. */
    void FollowSegments();

  protected:
    Ptr<TcpSocketBase> Fork() override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& tcpHeader) override;
    void ReTxTimeout() override;

  private:
    /** \brief Go back to the first unacknowledged segment: Tahoe's third duplicate ACK. */
    void GoBack();

    Recovery m_recovery;         //!< the loss recovery
    Ptr<WwSegments> m_segments;  //!< the segments that are followed; nullptr: none
    SequenceNumber32 m_goneBack; //!< highest sequence number sent at the last GoBack
};

/**
 * \ingroup tcp
 *
 * \brief Makes WwTcpSockets; must be aggregated to a node, as WwTcpHelper does
 */
class WwTcpSocketFactory : public SocketFactory // not a TcpSocketFactory: a node already has one
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * \brief Choose the congestion control of the sockets; the default is TcpL4Protocol's
     * SocketType \param congestion the factory of the congestion control
     */
    void SetCongestion(const ObjectFactory& congestion);

    Ptr<Socket> CreateSocket() override;

  protected:
    /**
     * \brief Get the sockets' loss recovery
     * \return the recovery
     */
    virtual WwTcpSocket::Recovery Kind() const = 0;

  private:
    ObjectFactory m_congestion;  //!< the factory of the congestion control
    bool m_hasCongestion{false}; //!< whether it was chosen
};

/** \brief Makes sockets with a loss recovery. \tparam R the recovery */
template <WwTcpSocket::Recovery R>
class WwTcpRecoveryFactory : public WwTcpSocketFactory
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

  protected:
    WwTcpSocket::Recovery Kind() const override
    {
        return R;
    }
};

using WwTcpTahoeFactory = WwTcpRecoveryFactory<WwTcpSocket::TAHOE>;     //!< makes Tahoe sockets
using WwTcpRenoFactory = WwTcpRecoveryFactory<WwTcpSocket::RENO>;       //!< makes Reno sockets
using WwTcpNewRenoFactory = WwTcpRecoveryFactory<WwTcpSocket::NEWRENO>; //!< makes NewReno sockets
using WwTcpSackFactory = WwTcpRecoveryFactory<WwTcpSocket::SACK>;       //!< makes SACK sockets

} // namespace ns3

#endif /* WW_TCP_SOCKET_H */
