// SPDX-License-Identifier: BSD-3-Clause
//
// Measures the core alone: the time of an ACK (new data, a duplicate), and of a loss with the end
// of its recovery.
#include <benchmark/benchmark.h>

#include <array>

#include "../core/westwood.h"

namespace {

struct Named {
    ww_protocol id;
    const char* name;
};
#define WW_ROW(ID, name, ...) Named{WW_PROTOCOL_##ID, name},
constexpr std::array kProtocols = {WW_PROTOCOLS(WW_ROW)};
#undef WW_ROW

enum Mix { kNewData, kDuplicates, kLosses };

void run(benchmark::State& loop, ww_protocol id, Mix mix) {
    ww_config config = ww_configure(id);
    ww_state state{};
    ww_init(&config, &state);
    ww_window window{50, 40, 0};
    ww_sample sample{};
    sample.mss = 1460;
    sample.in_flight = 50;
    sample.is_dupack = mix == kDuplicates;
    sample.is_cwnd_limited = true;
    for (auto _ : loop) {
        sample.now_us += 1700;
        sample.acked_segments = mix == kDuplicates ? 0 : 2;
        sample.rtt_us = 90000 + (sample.now_us & 4095);
        benchmark::DoNotOptimize(config);
        ww_on_ack(&config, &state, &window, &sample);
        if (mix == kLosses) {
            ww_on_loss(&config, &state, &window, sample.now_us, 50, 1460);
            ww_on_recovery_exit(&config, &state, &window, sample.now_us, 1460);
        }
        if (window.cwnd > 1000) window.cwnd = 50;
        benchmark::DoNotOptimize(state);
        benchmark::DoNotOptimize(window);
    }
}

}  // namespace

int main(int argc, char** argv) {
    for (const Named& protocol : kProtocols) {
        const std::string name = protocol.name;
        const auto add = [&](const char* what, Mix mix) {
            benchmark::RegisterBenchmark(
                (name + "/" + what).c_str(),
                [id = protocol.id, mix](benchmark::State& loop) { run(loop, id, mix); });
        };
        add("new data", kNewData);
        add("duplicate", kDuplicates);
        add("ACK with loss", kLosses);
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
