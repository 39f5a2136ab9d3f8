/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Builds a path for testing a congestion control.
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

/** \brief Mainline's socket, with access to its state. */
class WwProbeSocket : public WwNamed<WwProbeSocket, TcpSocketBase>
{
  public:
    static TypeId GetTypeId();
    /**
     * \brief Get the state of the connection
     * \return the state
     */
    Ptr<TcpSocketState> State() const;
    /**
     * \brief Get the congestion control
     * \return the congestion control
     */
    Ptr<TcpCongestionOps> Ops() const;

  protected:
    Ptr<TcpSocketBase> Fork() override;
};

/**
 * \brief Two nodes and a link, to observe a sender's congestion control
 *
 * There are no queue discs: the device's queue is the only one. Destroying the path ends the
 * simulation.
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
     * \brief Lose packets towards the receiver
     * \param rate the probability for each packet
     */
    void LoseAtRandom(double rate);
    /**
     * \brief Lose data segments of the flow, counted from 0 in order of transmission
     * \param which the numbers; a retransmission has a number of its own
     */
    void Lose(const std::vector<uint32_t>& which);
    /**
     * \brief Start a connection whose sender always has data
     * \param subject its congestion control
     * \param port the destination port
     * \return its socket, which connects when the simulation runs
     */
    Ptr<WwProbeSocket> Send(const WwSubject& subject, uint16_t port = 5000);
    /**
     * \brief Send with a socket from a factory of the sender's node
     * \param factory name of the factory's TypeId
     * \return the socket
     */
    Ptr<TcpSocketBase> SendBy(const std::string& factory);
    /**
     * \brief Start a connection in the other direction
     * \param factory name of the TypeId of a factory at the receiver's node
     * \param start when it begins
     */
    void SendBack(const std::string& factory, Time start);
    /**
     * \brief Run the simulation
     * \param until when to stop
     */
    void Run(Time until);
    /**
     * \brief Get the number of bytes that the receiver's application got
     * \return the number
     */
    uint64_t Received() const;

    NodeContainer nodes;               //!< sender and receiver
    NetDeviceContainer devices;        //!< their devices
    Ipv4InterfaceContainer interfaces; //!< their interfaces
    uint32_t sent = 0;                 //!< data segments sent
    uint32_t retransmitted = 0;        //!< data segments retransmitted

  private:
    void Start(Ptr<TcpSocketBase> socket, uint16_t port);
    void Fill(Ptr<Socket> socket, uint32_t);
    void Transmit(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>);

    Ptr<PacketSink> m_sink;            //!< the receiver
    Ptr<ReceiveListErrorModel> m_list; //!< the packets to lose
    SequenceNumber32 m_highest{1};     //!< end of the data sent so far
};

} // namespace ns3

#endif /* WW_PATH_H */
