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

/**
 * \ingroup tcp
 *
 * \brief A socket that recovers as Tahoe, as Reno, as NewReno or by SACK
 *
 * Mainline has had no Tahoe and no Reno since 3.25, and without SACK its scoreboard of what
 * duplicate ACKs stand for is cleared by a timeout only: later ACKs mark the new head lost, and
 * retransmissions cascade. Here the marks go when their reason goes: on the ACK that ends disorder
 * or recovery.
 *
 *   Tahoe    the third duplicate ACK is answered as a timeout, but the timer is not backed off
 *            (Fall and Floyd 1996, 2.1)
 *   Reno     any ACK for new data ends fast recovery (RFC 5681, 3.2)
 *   NewReno  partial ACKs retransmit the next hole (RFC 6582), as they do in mainline
 *   SACK     mainline's scoreboard tells the holes (RFC 6675); if the peer has no SACK, as NewReno
 */
class WwTcpSocket : public WwNamed<WwTcpSocket, TcpSocketBase>
{
  public:
    /** \brief How it recovers from losses. */
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
     * \brief Choose how it recovers, which turns SACK on or off
     * \param recovery how
     */
    void SetRecovery(Recovery recovery);

  protected:
    Ptr<TcpSocketBase> Fork() override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& tcpHeader) override;
    void ReTxTimeout() override;

  private:
    /** \brief Tahoe's answer to the third duplicate ACK. */
    void GoBack();

    Recovery m_recovery;         //!< how it recovers
    SequenceNumber32 m_goneBack; //!< what had been sent when it went back the last time
};

/**
 * \ingroup tcp
 *
 * \brief Makes WwTcpSockets; aggregate one to a node to use it, as WwTcpHelper does
 */
class WwTcpSocketFactory
    : public SocketFactory // no TcpSocketFactory: a node asked for one has its own
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * \brief Choose the congestion control of the sockets; otherwise it is TcpL4Protocol's
     * SocketType \param congestion what makes one
     */
    void SetCongestion(const ObjectFactory& congestion);

    Ptr<Socket> CreateSocket() override;

  protected:
    /**
     * \brief How the sockets recover
     * \return how
     */
    virtual WwTcpSocket::Recovery Kind() const = 0;

  private:
    ObjectFactory m_congestion;  //!< makes the congestion control
    bool m_hasCongestion{false}; //!< it was chosen
};

/** \brief Makes Tahoe sockets. */
class WwTcpTahoeFactory : public WwTcpSocketFactory
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

  protected:
    WwTcpSocket::Recovery Kind() const override;
};

/** \brief Makes Reno sockets. */
class WwTcpRenoFactory : public WwTcpSocketFactory
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

  protected:
    WwTcpSocket::Recovery Kind() const override;
};

/** \brief Makes NewReno sockets. */
class WwTcpNewRenoFactory : public WwTcpSocketFactory
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

  protected:
    WwTcpSocket::Recovery Kind() const override;
};

/** \brief Makes SACK sockets. */
class WwTcpSackFactory : public WwTcpSocketFactory
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

  protected:
    WwTcpSocket::Recovery Kind() const override;
};

} // namespace ns3

#endif /* WW_TCP_SOCKET_H */
