// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include "../../core/calls.h"
#include "../tcp/control_state.hpp"

namespace ww::sim {
namespace {

constexpr const char* kWords[] = {
#define WW_WORD(ID, word) word,
    WW_CALL_KINDS(WW_WORD)
#undef WW_WORD
};

bool are_equal(const ww_window& a, const ww_window& b) {
    return a.cwnd == b.cwnd && a.ssthresh == b.ssthresh && a.pacing == b.pacing;
}

ww_state* state_of(void* state) { return static_cast<ww_state*>(state); }

}  // namespace

#define WW_SAY(name, ...) line.say(from->name);

// The operations that a sender calls. Each makes the call of the control itself, in the sender's memory for its state.
struct RecordedCalls {
    static CallRecorder& recorder_of(const ww_config* config) {
        return *static_cast<CallRecorder*>(config->control->context);
    }

    // A call's line, which stays unwritten if it is another connection's.
    class Line {
      public:
        Line(const ww_config* config, const void* state, ww_call_kind kind, const ww_window& window)
            : recorder_(recorder_of(config)), written_(state == recorder_.state_) {
            if (!written_) return;
            if (!recorder_.has_begun_ || !are_equal(window, recorder_.last_)) begin(window);
            recorder_.text_ << kWords[kind];
        }
        void say(std::uint64_t argument) {
            if (written_) recorder_.text_ << " " << argument;
        }
        const ww_config* control() const { return &recorder_.control_; }
        void end(const ww_window& window) {
            if (!written_) return;
            recorder_.text_ << "|" << window.cwnd << " " << window.ssthresh << " " << window.pacing
                            << "\n";
            recorder_.last_ = window;
        }

      private:
        // The host has set the windows since the last call.
        void begin(const ww_window& window) {
            Line& line = *this;
            const ww_window* const from = &window;
            recorder_.text_ << kWords[recorder_.has_begun_ ? WW_CALL_HOST : WW_CALL_BEGIN];
            WW_WINDOW_RANGES(WW_SAY)
            end(window);
            recorder_.has_begun_ = true;
        }

        CallRecorder& recorder_;
        bool written_;
    };

    static void init(const ww_config* config, void* state) {
        CallRecorder& recorder = recorder_of(config);
        if (recorder.state_ == nullptr)
            recorder.state_ = state;
        else if (recorder.state_ == state)
            recorder.state_ = &recorder;  // its memory is another connection's now
        ww_init(&recorder.control_, state_of(state));
    }
    static void on_ack(const ww_config* config, void* state, ww_window* window,
                       const ww_sample* from) {
        Line line(config, state, WW_CALL_ACK, *window);
        WW_SAMPLE_RANGES(WW_SAY)
        ww_on_ack(line.control(), state_of(state), window, from);
        line.end(*window);
    }
    static void on_packet_sent(const ww_config* config, void* state, ww_window* window,
                               const ww_sent* from) {
        Line line(config, state, WW_CALL_SENT, *window);
        WW_SENT_RANGES(WW_SAY)
        ww_on_packet_sent(line.control(), state_of(state), window, from);
        line.end(*window);
    }
    static void on_packet_lost(const ww_config* config, void* state, ww_window* window,
                               const ww_lost* from) {
        Line line(config, state, WW_CALL_LOST, *window);
        WW_LOST_RANGES(WW_SAY)
        ww_on_packet_lost(line.control(), state_of(state), window, from);
        line.end(*window);
    }
    static void on_loss(const ww_config* config, void* state, ww_window* window,
                        std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss) {
        Line line(config, state, WW_CALL_LOSS, *window);
        for (const std::uint64_t number : {now_us, std::uint64_t{in_flight}, std::uint64_t{mss}})
            line.say(number);
        ww_on_loss(line.control(), state_of(state), window, now_us, in_flight, mss);
        line.end(*window);
    }
    static void on_mark(const ww_config* config, void* state, ww_window* window,
                        std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss) {
        Line line(config, state, WW_CALL_MARK, *window);
        for (const std::uint64_t number : {now_us, std::uint64_t{in_flight}, std::uint64_t{mss}})
            line.say(number);
        ww_on_mark(line.control(), state_of(state), window, now_us, in_flight, mss);
        line.end(*window);
    }
    static void on_recovery_exit(const ww_config* config, void* state, ww_window* window,
                                 std::uint64_t now_us, std::uint32_t mss) {
        Line line(config, state, WW_CALL_RECOVERY_EXIT, *window);
        line.say(now_us);
        line.say(mss);
        ww_on_recovery_exit(line.control(), state_of(state), window, now_us, mss);
        line.end(*window);
    }
    static void on_rto(const ww_config* config, void* state, ww_window* window,
                       std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss,
                       bool repeated) {
        Line line(config, state, WW_CALL_RTO, *window);
        for (const std::uint64_t number :
             {now_us, std::uint64_t{in_flight}, std::uint64_t{mss}, std::uint64_t{repeated}})
            line.say(number);
        ww_on_rto(line.control(), state_of(state), window, now_us, in_flight, mss, repeated);
        line.end(*window);
    }
    static void on_undo(const ww_config* config, void* state, ww_window* window) {
        Line line(config, state, WW_CALL_UNDO, *window);
        ww_on_undo(line.control(), state_of(state), window);
        line.end(*window);
    }
    static void on_restart(const ww_config* config, void* state, std::uint64_t now_us) {
        CallRecorder& recorder = recorder_of(config);
        const ww_window window = recorder.last_;  // which this call leaves alone
        if (recorder.has_begun_) {
            Line line(config, state, WW_CALL_RESTART, window);
            line.say(now_us);
            line.end(window);
        }
        ww_on_restart(&recorder.control_, state_of(state), now_us);
    }
    static std::uint32_t ssthresh(const ww_config* config, const void* state, std::uint64_t now_us,
                                  std::uint32_t in_flight, std::uint32_t mss) {
        return ww_ssthresh(&recorder_of(config).control_, static_cast<const ww_state*>(state),
                           now_us, in_flight, mss);
    }
    static std::uint32_t quantum(const ww_config* config, const ww_window* window,
                                 std::uint32_t mss) {
        return ww_quantum(&recorder_of(config).control_, window, mss);
    }

    // The state is where the control's host wants it.
    static const ww_control_ops* inner(const ww_control_ops* ops) {
        return static_cast<CallRecorder*>(ops->context)->control_.control;
    }
    static void* new_state(const ww_control_ops* ops) { return inner(ops)->new_state(inner(ops)); }
    static void end_state(const ww_control_ops* ops, void* state) {
        inner(ops)->end_state(inner(ops), state);
    }
};

CallRecorder::CallRecorder(const ww_config& control) : control_(control) {
    calls_.version = WW_CONTROL_VERSION;
    calls_.state_bytes = WW_OWN_STATE_MAX;
    calls_.traits = ww_traits(&control_) & ~std::uint32_t{WW_ESTIMATES | WW_SHOWS};
    calls_.label = "recorded";
    calls_.context = this;
    calls_.init = RecordedCalls::init;
    calls_.on_ack = RecordedCalls::on_ack;
    calls_.on_packet_sent = RecordedCalls::on_packet_sent;
    calls_.on_packet_lost = RecordedCalls::on_packet_lost;
    calls_.on_loss = RecordedCalls::on_loss;
    calls_.on_mark = RecordedCalls::on_mark;
    calls_.on_recovery_exit = RecordedCalls::on_recovery_exit;
    calls_.on_rto = RecordedCalls::on_rto;
    calls_.on_undo = RecordedCalls::on_undo;
    calls_.on_restart = RecordedCalls::on_restart;
    calls_.ssthresh = RecordedCalls::ssthresh;
    calls_.quantum = RecordedCalls::quantum;
    if (control_.algorithm != WW_ALG_LOADED || control_.control->new_state == nullptr) return;
    calls_.state_bytes = control_.control->state_bytes;
    calls_.new_state = RecordedCalls::new_state;
    calls_.end_state = RecordedCalls::end_state;
}

ww_config CallRecorder::config() const {
    ww_config config = control_;
    config.algorithm = WW_ALG_LOADED;
    config.control = &calls_;
    return config;
}

std::string repeat_calls(const ww_config& control, const std::string& calls) {
    std::istringstream lines(calls);
    std::ostringstream windows;
    ControlState state(control);
    ww_window window{};
    for (std::string line; std::getline(lines, line);) {
        const ww_call call = ww_read_call(line.c_str());
        ww_make_call(&control, state.get(), &window, &call);
        windows << window.cwnd << " " << window.ssthresh << " " << window.pacing << "\n";
    }
    return windows.str();
}

std::vector<std::string> call_words() { return {std::begin(kWords), std::end(kWords)}; }

}  // namespace ww::sim
