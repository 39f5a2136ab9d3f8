// SPDX-License-Identifier: BSD-3-Clause
//
// Controls of users (core/control.h) on the page. Each is a WebAssembly module with a memory of its own, so that it can't
// damage the engine. The page copies a frame (core/frame.h) between the two memories for each call.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/frame.h"
#include "../plan/controls.hpp"
#include "../plan/section.hpp"
#include "../wire/control.hpp"

#define WW_PAGE(name) extern "C" __attribute__((import_module("page"), import_name(#name)))

// Makes a call of the control with this number on the frame.
WW_PAGE(call) void page_call(std::uint32_t control, std::uint32_t call, const char* name);
// Ends the run: the control has broken a rule in this call.
WW_PAGE(refuse)
void page_refuse(std::uint32_t control, const char* call, const char* problem);

namespace ww::lab {

// Of the call that is being made; the engine makes one at a time.
inline ww_frame frame;

class OwnControls {
  public:
    // Adds a control, which scenarios find by its name. Its number is the count of those added before.
    void add(const plan::Table& facts) {
        const plan::Section given(facts, "control");
        Own& control = all_.emplace_back();
        control.name = given.need("name").text("a name");
        control.label = given.need("label").text("a label");
        ww_control_ops& ops = control.ops;
        ops.version = WW_CONTROL_VERSION;
        ops.state_bytes = number(given.need("state_bytes"));
        ops.traits = number(given.need("traits"));
        ops.like = number(given.need("like"));
        ops.label = control.label.c_str();
        ops.context = &control;
        ops.refuse = refuse;
        control.number = static_cast<std::uint32_t>(all_.size() - 1);
        for (const plan::Value& value : given.need("calls").list("calls"))
            set(ops, *std::get_if<std::string>(&value.is));
        for (const plan::Value& value : given.need("parameters").list("parameters"))
            control.add_parameter({*std::get_if<plan::Table>(&value.is), "parameters"});
        ops.parameter_count = static_cast<std::uint32_t>(control.parameters.size());
        ops.parameters = control.parameters.data();
        ops.quantity_count = number(given.need("quantity_count"));
        plan::add_control(control.name, ops);
    }

  private:
    struct Own {
        ww_control_ops ops = {};
        std::uint32_t number = 0;
        std::string name, label;
        std::deque<std::string> names;  // of the parameters
        std::vector<ww_parameter> parameters;

        void add_parameter(const plan::Section& given) {
            const char* name = names.emplace_back(given.need("name").text("a name")).c_str();
            parameters.push_back({name, "", OwnControls::number(given.need("fallback")),
                                  OwnControls::number(given.need("least")),
                                  OwnControls::number(given.need("most"))});
        }
    };

    static std::uint32_t number(const plan::Item& item) {
        return static_cast<std::uint32_t>(item.whole(0, UINT32_MAX));
    }

    static const Own& own_of(const ww_control_ops* ops) {
        return *static_cast<const Own*>(ops->context);
    }

    static void refuse(const ww_control_ops* ops, const char* call, const ww_window* window) {
        page_refuse(own_of(ops).number, call, wire::problem_of(*window).c_str());
    }

    // Gives the table the operation with this name.
    static void set(ww_control_ops& ops, std::string_view name) {
#define WW_ROW(call) \
    if (name == #call) ops.call = call;
        WW_OPERATIONS(WW_ROW)
#undef WW_ROW
    }

#define WW_ROW(call) #call,
    static constexpr const char* kNames[] = {WW_OPERATIONS(WW_ROW)};
#undef WW_ROW

    static void run(ww_operation call, const ww_config* config) {
        frame.config = *config;
        page_call(own_of(config->control).number, call, kNames[call]);
    }

    // The state has the size of ww_loaded_state, whatever the control keeps in it.
    static void read(const void* state) { std::memcpy(&frame.state, state, sizeof frame.state); }

    static void change(ww_operation call, const ww_config* config, void* state) {
        read(state);
        run(call, config);
        std::memcpy(state, &frame.state, sizeof frame.state);
    }

    static void change(ww_operation call, const ww_config* config, void* state, ww_window* window) {
        frame.window = *window;
        change(call, config, state);
        *window = frame.window;
    }

    static void lose(ww_operation call, const ww_config* config, void* state, ww_window* window,
                     std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss) {
        frame.now_us = now_us;
        frame.in_flight = in_flight;
        frame.mss = mss;
        change(call, config, state, window);
    }

    // The operations.
    static void init(const ww_config* config, void* state) {
        change(WW_OPERATION_init, config, state);
    }
    static void on_ack(const ww_config* config, void* state, ww_window* window,
                       const ww_sample* ack) {
        frame.ack = *ack;
        change(WW_OPERATION_on_ack, config, state, window);
    }
    static void on_loss(const ww_config* config, void* state, ww_window* window,
                        std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss) {
        lose(WW_OPERATION_on_loss, config, state, window, now_us, in_flight, mss);
    }
    static void on_mark(const ww_config* config, void* state, ww_window* window,
                        std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss) {
        lose(WW_OPERATION_on_mark, config, state, window, now_us, in_flight, mss);
    }
    static void on_recovery_exit(const ww_config* config, void* state, ww_window* window,
                                 std::uint64_t now_us, std::uint32_t mss) {
        lose(WW_OPERATION_on_recovery_exit, config, state, window, now_us, 0, mss);
    }
    static void on_rto(const ww_config* config, void* state, ww_window* window,
                       std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss,
                       bool repeated) {
        frame.repeated = repeated;
        lose(WW_OPERATION_on_rto, config, state, window, now_us, in_flight, mss);
    }
    static void on_undo(const ww_config* config, void* state, ww_window* window) {
        change(WW_OPERATION_on_undo, config, state, window);
    }
    static void on_restart(const ww_config* config, void* state, std::uint64_t now_us) {
        frame.now_us = now_us;
        change(WW_OPERATION_on_restart, config, state);
    }
    static void on_packet_sent(const ww_config* config, void* state, ww_window* window,
                               const ww_sent* sent) {
        frame.sent = *sent;
        change(WW_OPERATION_on_packet_sent, config, state, window);
    }
    static void on_packet_lost(const ww_config* config, void* state, ww_window* window,
                               const ww_lost* lost) {
        frame.lost = *lost;
        change(WW_OPERATION_on_packet_lost, config, state, window);
    }
    static std::uint32_t ssthresh(const ww_config* config, const void* state, std::uint64_t now_us,
                                  std::uint32_t in_flight, std::uint32_t mss) {
        read(state);
        frame.now_us = now_us;
        frame.in_flight = in_flight;
        frame.mss = mss;
        run(WW_OPERATION_ssthresh, config);
        return frame.segments;
    }
    static std::uint32_t quantum(const ww_config* config, const ww_window* window,
                                 std::uint32_t mss) {
        frame.window = *window;
        frame.mss = mss;
        run(WW_OPERATION_quantum, config);
        return frame.segments;
    }
    static ww_observation estimate(const ww_config* config, const void* state,
                                   std::uint64_t now_us) {
        read(state);
        frame.now_us = now_us;
        run(WW_OPERATION_estimate, config);
        return frame.estimate;
    }
    static void observe(const ww_config* config, const void* state, std::uint64_t now_us,
                        std::uint64_t* quantities) {
        read(state);
        frame.now_us = now_us;
        std::memset(frame.quantities, 0, sizeof frame.quantities);
        run(WW_OPERATION_observe, config);
        std::memcpy(quantities, frame.quantities, sizeof frame.quantities);
    }

    std::deque<Own> all_;  // whose addresses stay
};

}  // namespace ww::lab
