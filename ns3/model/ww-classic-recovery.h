/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WW_CLASSIC_RECOVERY_H
#define WW_CLASSIC_RECOVERY_H

#include "ww-releases.h"

#include "ns3/tcp-recovery-ops.h"

namespace ns3
{

/**
 * \ingroup recoveryOps
 *
 * \brief ns-3's classic recovery, without raising cwnd on entering it
 *
 * TcpClassicRecovery sets cwnd to ssthresh. With Westwood ssthresh may be above cwnd, but a loss
 * must not raise cwnd (Mascolo et al. 2001: "if (cwin > ssthresh) cwin = ssthresh").
 */
class WwClassicRecovery : public WwEntering<TcpClassicRecovery>
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    std::string GetName() const override;
    Ptr<TcpRecoveryOps> Fork() override;

  protected:
    void Entered(Ptr<TcpSocketState> tcb, uint32_t cwndBefore) override;
};

} // namespace ns3

#endif /* WW_CLASSIC_RECOVERY_H */
