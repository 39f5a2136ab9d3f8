// SPDX-License-Identifier: BSD-3-Clause
//
// Runs networks whose controls are in Python.
#pragma once

#include <memory>

#include "bindings.hpp"

namespace ww::bindings {

// Keeps the instances of controls in Python that a run of this thread makes, and the first exception. Make and
// destroy it with the interpreter lock.
class PythonRun {
  public:
    PythonRun();
    ~PythonRun();
    PythonRun(const PythonRun&) = delete;
    PythonRun& operator=(const PythonRun&) = delete;

    // Returns whether a control of this thread's run has raised an exception, which is to end the run.
    static bool failed();
    // Throws RuntimeError with the call, from what the control raised, if it did.
    void rethrow() const;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
    void* before_;
};

void bind_python_control(nb::module_& m);

}  // namespace ww::bindings
