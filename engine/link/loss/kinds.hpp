// SPDX-License-Identifier: BSD-3-Clause
//
// The kinds of losses. A row makes a loss model known to scenarios, plans, bindings, the laboratory, ns-3 and the
// tests over all kinds:
//
//   X(name, settings, class, PREFIX, "title")
//
// `name` is the kind's word everywhere. The model's file declares WW_PREFIX_SETTINGS(X), its settings, as in
// engine/settings.hpp. A link without losses, and a list of lost packets, have no row: they have no settings.
#pragma once

#include <variant>

#include "bits.hpp"
#include "gilbert.hpp"
#include "script.hpp"
#include "states.hpp"
#include "uniform.hpp"

#define WW_LOSS_KINDS(X)                                     \
    X(uniform, Uniform, UniformLoss, UNIFORM, "loss")        \
    X(bits, Bits, BitErrors, BITS, "bit errors")             \
    X(gilbert, Gilbert, GilbertLoss, GILBERT, "loss bursts") \
    X(markov, Markov, StateLoss, MARKOV, "fading")           \
    X(blackout, Blackout, BlackoutLoss, BLACKOUT, "blackouts")

namespace ww::sim {

// The settings of a direction's loss model; std::monostate: nothing is lost.
#define WW_LOSS(name, Settings, ...) Settings,
using Loss = std::variant<std::monostate, WW_LOSS_KINDS(WW_LOSS) LossList>;
#undef WW_LOSS

#define WW_LOSS(name, Settings, Model, ...) Model,
using AnyLossModel = std::variant<LossModel, WW_LOSS_KINDS(WW_LOSS) ScriptedLoss>;
#undef WW_LOSS

// Makes the model of a loss.
struct LossModelMaker {
    LossPlace place;
    AnyLossModel operator()(std::monostate) const { return LossModel(); }
    AnyLossModel operator()(const LossList& settings) const {
        return ScriptedLoss(settings, place);
    }
#define WW_LOSS(name, Settings, Model, ...) \
    AnyLossModel operator()(const Settings& settings) const { return Model(settings, place); }
    WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
};

// A kind's word, and whether its model only counts packets; by its place in Loss.
#define WW_LOSS(name, ...) #name,
inline constexpr const char* kLossKinds[] = {"none", WW_LOSS_KINDS(WW_LOSS) "script"};
#undef WW_LOSS
#define WW_LOSS(name, Settings, Model, ...) Model::kCounts,
inline constexpr bool kLossCounts[] = {true, WW_LOSS_KINDS(WW_LOSS) true};
#undef WW_LOSS

}  // namespace ww::sim
