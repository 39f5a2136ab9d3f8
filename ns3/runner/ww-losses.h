/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs the losses of a plan: uniform ones by ns-3's own error model, other models that only count
 * packets by the simulator's. Those lose the same packets in both engines.
 */
#ifndef WW_LOSSES_H
#define WW_LOSSES_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/network-module.h"

#include <utility>
#include <variant>

namespace ns3
{

constexpr int64_t LOSS_STREAMS = 100; //!< first random number stream of directions

/// Loses packets by a loss model of the simulator that only counts them.
template <class Model>
class CountedLosses : public ErrorModel
{
  public:
    explicit CountedLosses(Model model)
        : m_model(std::move(model)),
          m_untilDue(m_model.packets_until_due())
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        if (m_untilDue-- > 0)
        {
            return false;
        }
        const bool isLost = m_model.decide(0);
        m_untilDue = m_model.packets_until_due();
        return isLost;
    }

    void DoReset() override
    {
    }

    Model m_model;
    uint64_t m_untilDue; //!< packets that pass before the next decision
};

/// Makes ns-3's error model of uniform losses.
inline Ptr<ErrorModel>
UniformErrorModel(double rate, uint32_t pipe)
{
    auto uniform = CreateObject<UniformRandomVariable>();
    uniform->SetStream(LOSS_STREAMS + pipe);
    auto errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(rate);
    errors->SetRandomVariable(uniform);
    return errors;
}

/**
 * \brief Makes the error model of a direction's far end
 * \param loss the plan's
 * \param pipe the direction's number: twice the link's, plus one for the backward direction
 * \return nullptr if nothing is lost
 */
inline Ptr<ErrorModel>
ErrorModelOf(const ww::sim::Loss& loss, uint32_t pipe)
{
    namespace sim = ww::sim;
    if (std::holds_alternative<std::monostate>(loss))
    {
        return nullptr;
    }
    if (const auto* uniform = std::get_if<sim::Uniform>(&loss))
    {
        return uniform->rate > 0 ? UniformErrorModel(uniform->rate, pipe) : nullptr;
    }
    const uint64_t seed = RngSeedManager::GetRun();
    const auto stream = pipe % 2 == 0 ? sim::Stream::loss_forward : sim::Stream::loss_backward;
    const sim::LossPlace place{sim::Random(seed, stream, pipe / 2),
                               sim::Random(seed, sim::Stream::link_state, pipe / 2)};
    return std::visit(
        [](const auto& model) -> Ptr<ErrorModel> {
            return CreateObject<CountedLosses<std::decay_t<decltype(model)>>>(model);
        },
        std::visit(sim::LossModelMaker{place}, loss));
}

} // namespace ns3

#endif /* WW_LOSSES_H */
