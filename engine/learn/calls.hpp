// SPDX-License-Identifier: BSD-3-Clause
//
// Records the calls by which the simulator's sender asks a control, and the windows after each, in the text of
// core/calls.h, and repeats them. A recording is of one connection, the first that asks.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "../../core/westwood.h"

namespace ww::sim {

class CallRecorder {
  public:
    explicit CallRecorder(const ww_config& control);
    CallRecorder(const CallRecorder&) = delete;
    CallRecorder& operator=(const CallRecorder&) = delete;

    // Returns the configuration of a flow whose calls are recorded. The recorder must outlive its run.
    ww_config config() const;
    std::string text() const { return text_.str(); }

  private:
    friend struct RecordedCalls;

    ww_config control_;
    ww_control_ops calls_{};
    const void* state_ = nullptr;  // of the connection
    bool has_begun_ = false;
    ww_window last_{};  // after its last call
    std::ostringstream text_;
};

// Makes the calls of a recording again; returns a line with the windows after each.
std::string repeat_calls(const ww_config& control, const std::string& calls);

// Returns the words by which calls begin.
std::vector<std::string> call_words();

}  // namespace ww::sim
