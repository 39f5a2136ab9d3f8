// SPDX-License-Identifier: BSD-3-Clause
//
// wire/report.hpp writes every declared column under its name, and the tables of a trace.
#include "wire/report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace ww::wire::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns what `write` writes to a file.
template <class Write>
std::string written(Write write) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* file = ::open_memstream(&text, &size);
    write(file);
    std::fclose(file);
    const std::string all(text, size);
    std::free(text);
    return all;
}

// Splits a line into its first two words and the values by name.
struct Line {
    explicit Line(const std::string& text) {
        std::istringstream words(text);
        words >> kind >> about;
        for (std::string name, value; words >> name >> value;) values[name] = value;
    }
    std::string kind, about;
    std::map<std::string, std::string> values;
};

TEST(WireReport, HasEveryColumnOfAFlowUnderItsName) {
    sim::FlowResult result;
    result.source = 7;
    std::uint64_t next = 1'000'000'000'000'000'000;
#define WW_ROW(type, name, ...) result.name = static_cast<decltype(result.name)>(next++);
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
    result.min_rtt_s = 0.0123456789012;
    result.completed_s = -kNan;
    const std::string text = written([&](std::FILE* file) { print(file, result); });
    EXPECT_EQ(text.back(), '\n');
    const Line line(text);
    EXPECT_EQ(line.kind + " " + line.about, "flow 7");
    std::size_t columns = 0;
#define WW_SHOWN_COUNT(value) std::to_string(value)
#define WW_SHOWN_NUMBER(value) written([&](std::FILE* file) { print(file, value); })
#define WW_ROW(type, name, ...)                                     \
    EXPECT_EQ(line.values.at(#name), WW_SHOWN_##type(result.name)); \
    columns++;
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
    EXPECT_EQ(line.values.size(), columns);
    EXPECT_EQ(line.values.at("delivered_bytes"), "1000000000000000000");
    EXPECT_EQ(line.values.at("min_rtt_s"), "0.0123456789");
    EXPECT_EQ(line.values.at("completed_s"), "nan");
}

TEST(WireReport, HasEveryColumnOfADirectionUnderItsName) {
    sim::DirectionResult result;
    std::uint64_t next = 11;
#define WW_ROW(type, name, ...) result.name = static_cast<decltype(result.name)>(next++);
    WW_DIRECTION_COLUMNS(WW_ROW)
#undef WW_ROW
    for (const bool is_forward : {true, false}) {
        const Line line(written([&](std::FILE* file) { print(file, result, is_forward); }));
        EXPECT_EQ(line.kind + " " + line.about, is_forward ? "link forward" : "link backward");
        next = 11;
#define WW_ROW(type, name, ...) EXPECT_EQ(line.values.at(#name), std::to_string(next++)) << #name;
        WW_DIRECTION_COLUMNS(WW_ROW)
#undef WW_ROW
        EXPECT_EQ(line.values.size(), next - 11);
    }
    EXPECT_EQ(written([](std::FILE* file) { print_end(file, 1.5); }), "end 1.500000\n");
}

class WireTrace : public ::testing::Test {
  protected:
    WireTrace() {
        char name[] = "/tmp/ww-wire-XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    ~WireTrace() override { std::filesystem::remove_all(folder_); }

    std::string content(const char* file) const {
        std::ifstream stream(folder_ + "/" + file);
        std::ostringstream all;
        all << stream.rdbuf();
        return all.str();
    }

    static TraceFiles files(const std::string& folder) {
        return {folder + "/windows.csv", folder + "/queues.csv", folder + "/drops.csv"};
    }

    std::string folder_;
};

TEST_F(WireTrace, HasThreeTablesWithTheirColumnsNames) {
    {
        Trace trace(files(folder_));
        EXPECT_TRUE(trace);
        WindowRow window;
        window.time_s = 1.0 / 3;
        window.cwnd = 10.25;
        window.rtt_s = 0.1234567891234;
        window.in_flight = 9;
        window.phase = WW_RECOVERY;
        trace.write_window(4, window);
        trace.write_queue(3, {1.25, 2.5, 1500});
        trace.write_drop({0.5, 2, 1, sim::DropKind::wire, sim::PacketKind::ack});
        trace.write_drop({0.75, 0, 0, sim::DropKind::queue, sim::PacketKind::data});
    }
    EXPECT_EQ(content("windows.csv"),
              "connection,time_s,cwnd,ssthresh,estimate_bps,sample_bps,rtt_s,srtt_s,rto_s,"
              "in_flight,phase\n"
              "4,0.333333333,10.25,nan,nan,nan,0.123456789,nan,nan,9,2\n");
    EXPECT_EQ(content("queues.csv"),
              "channel,arrival_s,start_s,bytes\n3,1.250000000,2.500000000,1500\n");
    EXPECT_EQ(content("drops.csv"),
              "time_s,channel,flow,kind,packet\n0.500000000,2,1,2,1\n0.750000000,0,0,0,0\n");
}

TEST_F(WireTrace, IsNotWrittenUnlessAskedFor) {
    Trace trace({});
    EXPECT_FALSE(trace);
    trace.write_window(0, {});
    trace.write_queue(0, {});
    trace.write_drop({});
}

TEST_F(WireTrace, NamesAFileThatCannotBeWritten) {
    try {
        Trace trace(files(folder_ + "/missing"));
        FAIL();
    } catch (const PlanError& error) {
        EXPECT_EQ(error.what(),
                  "trace " + folder_ + "/missing/windows.csv: No such file or directory");
    }
}

}  // namespace
}  // namespace ww::wire::test
