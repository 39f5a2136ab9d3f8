// SPDX-License-Identifier: BSD-3-Clause
//
// The state of a connection's congestion control: within the sender, or for a loaded control where its host wants it
// (new_state in core/loaded.h).
#pragma once

#include <utility>

#include "../../core/westwood.h"

namespace ww::sim {

class ControlState {
  public:
    explicit ControlState(const ww_config& cc) {
        if (cc.algorithm != WW_ALG_LOADED || cc.control->new_state == nullptr) return;
        host_ = cc.control;
        apart_ = static_cast<ww_state*>(host_->new_state(host_));
    }
    ControlState(ControlState&& other) noexcept
        : within_(other.within_),
          apart_(std::exchange(other.apart_, nullptr)),
          host_(other.host_) {}
    ControlState& operator=(ControlState&& other) noexcept {
        within_ = other.within_;
        std::swap(apart_, other.apart_);
        std::swap(host_, other.host_);
        return *this;
    }
    ~ControlState() {
        if (apart_ != nullptr) host_->end_state(host_, apart_);
    }

    ww_state* get() { return apart_ != nullptr ? apart_ : &within_; }
    const ww_state* get() const { return apart_ != nullptr ? apart_ : &within_; }
    // That of a built-in control.
    ww_state* within() { return &within_; }

  private:
    ww_state within_;
    ww_state* apart_ = nullptr;
    const ww_control_ops* host_ = nullptr;
};

}  // namespace ww::sim
