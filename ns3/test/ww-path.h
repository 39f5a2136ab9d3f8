/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Builds a path on which a congestion control is tried.
 */
#ifndef WW_PATH_H
#define WW_PATH_H

#include "ww-subject.h"

#include "ns3/applications-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/ww-releases.h"

namespace ns3
{

/** \brief Mainline's socket, with a view of its state. */
class WwProbeSocket : public WwNamed<WwProbeSocket, TcpSocketBase>
{
  public:
    static TypeId GetTypeId();
    /**
     * \brief The state of the connection
     * \return it
     */
    Ptr<TcpSocketState> State() const;
    /**
     * \brief The congestion control
     * \return it
     */
    Ptr<TcpCongestionOps> Ops() const;

  protected:
    Ptr<TcpSocketBase> Fork() override;
};

/**
 * \brief Two nodes and a link, on which a sender's congestion control is watched
 *
 * There are no queue discs: the device's queue is the only one. Destroying it ends the simulation.
 */
class WwPath
{
  public:
    /**
     * \brief Two nodes with stacks and a link
     * \param rate the link's
     * \param delay the link's
     * \param packets the queue's limit
     */
    WwPath(const std::string& rate, const std::string& delay, uint32_t packets = 100);
    ~WwPath();

    /**
     * \brief Lose packets on the way to the receiver
     * \param rate a packet's probability
     */
    void LoseAtRandom(double rate);
    /**
     * \brief Lose data segments of the flow, counted from 0 as they are sent
     * \param which which, and a retransmission is another
     */
    void Lose(const std::vector<uint32_t>& which);
    /**
     * \brief Start a connection whose sender always has data
     * \param subject its congestion control
     * \param port where it connects to
     * \return its socket, which connects when the simulation runs
     */
    Ptr<WwProbeSocket> Send(const WwSubject& subject, uint16_t port = 5000);
    /**
     * \brief Send with a socket that a factory of the sender's node makes
     * \param factory name of its TypeId
     * \return its socket
     */
    Ptr<TcpSocketBase> SendBy(const std::string& factory);
    /**
     * \brief Start a connection in the other direction
     * \param factory name of the TypeId of a factory of the receiver's node
     * \param start when it begins
     */
    void SendBack(const std::string& factory, Time start);
    /**
     * \brief Run the simulation
     * \param until when to stop
     */
    void Run(Time until);
    /**
     * \brief Bytes that the receiver's application got
     * \return the number
     */
    uint64_t Received() const;

    NodeContainer nodes;               //!< sender and receiver
    NetDeviceContainer devices;        //!< theirs
    Ipv4InterfaceContainer interfaces; //!< theirs
    uint32_t sent = 0;                 //!< data segments
    uint32_t retransmitted = 0;        //!< data segments that had been sent before

  private:
    void Start(Ptr<TcpSocketBase> socket, uint16_t port);
    void Fill(Ptr<Socket> socket, uint32_t);
    void Transmit(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>);

    Ptr<PacketSink> m_sink;            //!< the receiver
    Ptr<ReceiveListErrorModel> m_list; //!< what Lose names
    SequenceNumber32 m_highest{1};     //!< end of what was sent so far
};

} // namespace ns3

#endif /* WW_PATH_H */
