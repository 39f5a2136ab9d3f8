/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests what a socket of WwTcpHelper reports about each segment (ww-segments.h).
 */
#include "../model/ww-segments.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1000;

} // namespace

/** \brief Each segment sent or lost is reported with its flight, as BBRv3 needs it. */
class WwSegmentsTestCase : public TestCase
{
  public:
    WwSegmentsTestCase()
        : TestCase("Each segment sent or lost is reported with the flight at its sending")
    {
    }

  private:
    void Sent(const ww_sent& sent)
    {
        m_sent.push_back(sent);
    }

    void Lost(const ww_lost& lost)
    {
        m_lost.push_back(lost);
    }

    void Deliver(uint32_t segment)
    {
        const SequenceNumber32 start(1 + segment * MSS);
        m_segments->AckArrives();
        m_buffer->Update({{start, start + MSS}},
                         MakeCallback(&TcpRateOps::SkbDelivered, m_segments));
        m_segments->FindLosses();
    }

    void DoRun() override
    {
        m_tcb->m_segmentSize = MSS;
        m_buffer->SetSegmentSize(MSS);
        m_buffer->SetDupAckThresh(3);
        m_buffer->SetHeadSequence(SequenceNumber32(1));
        m_tcb->m_highTxMark = SequenceNumber32(1);
        m_segments->Follow(m_tcb, m_buffer);
        m_segments->SetListeners(MakeCallback(&WwSegmentsTestCase::Sent, this),
                                 MakeCallback(&WwSegmentsTestCase::Lost, this));
        m_buffer->Add(Create<Packet>(10 * MSS));
        for (uint32_t i = 0; i < 6; i++)
        {
            Send(i);
        }
        NS_TEST_ASSERT_MSG_EQ(m_sent.size(), 6, "each segment");
        NS_TEST_EXPECT_MSG_EQ(m_sent[5].pipe, 5, "without this one");
        for (const uint32_t segment : {2, 3, 4})
        {
            Deliver(segment);
        }
        NS_TEST_ASSERT_MSG_EQ(m_lost.size(), 2, "below three delivered ones");
        NS_TEST_EXPECT_MSG_EQ(m_lost[0].prior_pipe, 1, "with this one");
        NS_TEST_EXPECT_MSG_EQ(m_lost[1].prior_pipe, 2, "with this one");
        NS_TEST_EXPECT_MSG_EQ(m_lost[1].lost_since, 2, "this one included");
        NS_TEST_EXPECT_MSG_EQ(m_lost[1].continues, true, "it follows the first");
        NS_TEST_EXPECT_MSG_EQ(m_lost[1].pipe, 1, "the last one");
        ww_sample sample = {};
        m_segments->Fill(sample);
        NS_TEST_EXPECT_MSG_EQ(sample.newly_lost, 2, "found on these ACKs");
        NS_TEST_EXPECT_MSG_EQ(sample.newly_delivered, 3, "by these ACKs");
        NS_TEST_EXPECT_MSG_EQ(sample.prior_pipe, 5, "when the newest of them was sent");
        NS_TEST_EXPECT_MSG_EQ(sample.lost_since, 2, "after it was sent");
        Send(0);
        NS_TEST_EXPECT_MSG_EQ(m_sent.back().pipe, 1, "the last one");
        m_buffer->SetSentListLost(false);
        m_segments->TimeOut();
        NS_TEST_EXPECT_MSG_EQ(m_lost.size(), 5, "two again, and the last one");
        NS_TEST_EXPECT_MSG_EQ(m_lost[2].lost_since, 1, "since it was sent again");
        Simulator::Destroy();
    }

    void Send(uint32_t segment)
    {
        const SequenceNumber32 start(1 + segment * MSS);
        m_segments->SkbSent(m_buffer->CopyFromSequence(MSS, start), m_sent.empty());
        m_tcb->m_highTxMark = std::max(m_tcb->m_highTxMark.Get(), start + MSS);
    }

    Ptr<TcpSocketState> m_tcb = CreateObject<TcpSocketState>();
    Ptr<TcpTxBuffer> m_buffer = CreateObject<TcpTxBuffer>();
    Ptr<WwSegments> m_segments = CreateObject<WwSegments>();
    std::vector<ww_sent> m_sent;
    std::vector<ww_lost> m_lost;
};

/** \brief The suite. */
class WwSegmentsTestSuite : public TestSuite
{
  public:
    WwSegmentsTestSuite()
        : TestSuite("ww-segments", Type::UNIT)
    {
        AddTestCase(new WwSegmentsTestCase);
    }
};

static WwSegmentsTestSuite g_wwSegmentsTestSuite; //!< registers itself
