// SPDX-License-Identifier: BSD-3-Clause
//
// A report is what a separate host program prints about a run, under the names of the declarations
// (engine/columns.hpp):
//
//   flow SOURCE NAME VALUE ...            for each connection: WW_FLOW_COLUMNS
//   link forward|backward NAME VALUE ...  for each direction of each link: WW_DIRECTION_COLUMNS
//   message NAME VALUE ...                for each message of an application: WW_MESSAGE_COLUMNS
//   end CPU_SECONDS
//
// A host may print further lines of its own between them. If the plan asks for a trace, its files get three
// tables, each with a line of names first: windows (WW_WINDOW_COLUMNS), queues (WW_QUEUE_COLUMNS) and drops
// (WW_DROP_COLUMNS). Rows of the first two begin with their connection or their direction of a link. A missing
// number is "nan".
#pragma once

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

#include "../engine/network.hpp"
#include "words.hpp"

namespace ww::wire {

inline void print(std::FILE* file, std::uint64_t count) { std::fprintf(file, "%" PRIu64, count); }

inline void print(std::FILE* file, double number) {
    if (std::isnan(number))
        std::fputs("nan", file);  // because printf may print -nan
    else
        std::fprintf(file, "%.9g", number);
}

#define WW_PRINT_COLUMN(type, name, ...) \
    std::fputs(" " #name " ", file);     \
    print(file, WW_COLUMN_TYPE_##type{result.name});

inline void print(std::FILE* file, const sim::FlowResult& result) {
    std::fprintf(file, "flow %" PRIu32, result.source);
    WW_FLOW_COLUMNS(WW_PRINT_COLUMN)
    std::fputs("\n", file);
}

inline void print(std::FILE* file, const sim::DirectionResult& result, bool is_forward) {
    std::fputs(is_forward ? "link forward" : "link backward", file);
    WW_DIRECTION_COLUMNS(WW_PRINT_COLUMN)
    std::fputs("\n", file);
}

inline void print(std::FILE* file, const sim::Message& result) {
    std::fputs("message", file);
    WW_MESSAGE_COLUMNS(WW_PRINT_COLUMN)
    std::fputs("\n", file);
}

inline void print_end(std::FILE* file, double cpu_s) { std::fprintf(file, "end %.6f\n", cpu_s); }

// A row of the windows and one of the queues; numbers that a host does not set are NaN.
#define WW_ROW_MEMBER(type, name, what) WW_TRACE_TYPE_##type name = WW_ROW_START_##type;
#define WW_ROW_START_SECONDS std::numeric_limits<double>::quiet_NaN()
#define WW_ROW_START_NUMBER std::numeric_limits<double>::quiet_NaN()
#define WW_ROW_START_CODE 0
#define WW_ROW_START_SIZE 0
struct WindowRow {
    WW_WINDOW_COLUMNS(WW_ROW_MEMBER)
};
struct QueueRow {
    WW_QUEUE_COLUMNS(WW_ROW_MEMBER)
};

// A table of a trace: a file of comma-separated lines.
class Table {
  public:
    explicit Table(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
        if (!file_) throw PlanError("trace " + path + ": " + std::strerror(errno));
    }

    void word(const char* text) { std::fputs(text, next()); }
    void seconds(double time) {
        if (std::isnan(time))
            word("nan");
        else
            std::fprintf(next(), "%.9f", time);
    }
    void number(double value) { print(next(), value); }
    void whole(std::uint32_t value) { std::fprintf(next(), "%" PRIu32, value); }
    void end_row() {
        std::fputs("\n", file_.get());
        is_first_ = true;
    }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    // Returns the file, ready for the next cell.
    std::FILE* next() {
        if (!is_first_) std::fputs(",", file_.get());
        is_first_ = false;
        return file_.get();
    }

    std::unique_ptr<std::FILE, Close> file_;
    bool is_first_ = true;
};

#define WW_WRITE_NAME(type, name, what) #name,
#define WW_WRITE_CELL(type, name, what) table.WW_WRITE_##type(row.name);
#define WW_WRITE_SECONDS(value) seconds(value)
#define WW_WRITE_NUMBER(value) number(value)
#define WW_WRITE_CODE(value) whole(static_cast<std::uint32_t>(value))
#define WW_WRITE_SIZE(value) whole(value)

// The files for the tables of a trace: all three or none.
struct TraceFiles {
    std::string windows, queues, drops;
};

// Writes the tables of a run's trace, if the plan asks for them.
class Trace {
  public:
    explicit Trace(const TraceFiles& files) {
        if (files.windows.empty()) return;
        tables_ = std::make_unique<Tables>(files);
        write_heads();
    }

    explicit operator bool() const { return tables_ != nullptr; }

    void write_window(std::uint32_t connection, const WindowRow& row) {
        if (!tables_) return;
        Table& table = tables_->windows;
        table.whole(connection);
        WW_WINDOW_COLUMNS(WW_WRITE_CELL)
        table.end_row();
    }

    void write_queue(std::uint32_t channel, const QueueRow& row) {
        if (!tables_) return;
        Table& table = tables_->queues;
        table.whole(channel);
        WW_QUEUE_COLUMNS(WW_WRITE_CELL)
        table.end_row();
    }

    void write_queues(std::uint32_t channel, const sim::QueueTrace& rows) {
#define WW_ROW_AT(type, name, what) rows.name[i],
        for (std::size_t i = 0; i < rows.bytes.size(); i++)
            write_queue(channel, QueueRow{WW_QUEUE_COLUMNS(WW_ROW_AT)});
#undef WW_ROW_AT
    }

    void write_drop(const sim::Drop& row) {
        if (!tables_) return;
        Table& table = tables_->drops;
        WW_DROP_COLUMNS(WW_WRITE_CELL)
        table.end_row();
    }

  private:
    struct Tables {
        explicit Tables(const TraceFiles& files)
            : windows(files.windows), queues(files.queues), drops(files.drops) {}
        Table windows, queues, drops;
    };

    void write_heads() {
        write_head(tables_->windows, {"connection", WW_WINDOW_COLUMNS(WW_WRITE_NAME)});
        write_head(tables_->queues, {"channel", WW_QUEUE_COLUMNS(WW_WRITE_NAME)});
        write_head(tables_->drops, {WW_DROP_COLUMNS(WW_WRITE_NAME)});
    }

    static void write_head(Table& table, std::initializer_list<const char*> names) {
        for (const char* name : names) table.word(name);
        table.end_row();
    }

    std::unique_ptr<Tables> tables_;
};

}  // namespace ww::wire
