// Counts of runs, tokens and calls, by model, server, tool and day, from the records of runs. No I/O.
#pragma once
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/sessions.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::stored {

struct usage_counts {
  std::int64_t runs = 0;
  std::int64_t failed_runs = 0;  ///< runs that ended without an answer
  std::int64_t model_calls = 0, failed_model_calls = 0;
  std::int64_t input_tokens = 0, output_tokens = 0, cached_tokens = 0;
  std::int64_t calls = 0;         ///< of tools
  std::int64_t failed_calls = 0;  ///< with an error, or without an answer
  usage_counts& operator+=(const usage_counts& other);
};

/// A part of the journal, as mcpbx/stats shows it.
struct usage_report {
  /// Largest number of names in a group. More are counted under the name "(others)".
  static constexpr std::size_t most_names = 1000;
  using tool_name = std::pair<std::string, std::string>;  ///< exposed name, server or ""

  usage_counts total;
  std::map<std::string, usage_counts> models;   ///< by configured name
  std::map<std::string, usage_counts> servers;  ///< calls only; "": tools that belong to no server
  std::map<tool_name, usage_counts> tools;      ///< calls only
  std::map<std::string, usage_counts> days;     ///< by the run's start in UTC: "2026-11-21"

  usage_report& operator+=(const usage_report& other);
};

/// Counts one run into a report. Feed it all records of the run in order.
class run_usage {
 public:
  explicit run_usage(const run_row& row) : row_(row), model_(row.model) {}
  /// Takes a record as stored text. Records that count nothing, and those that cannot be read, are skipped.
  void add(std::string_view text);
  void count_into(usage_report& report) const;

 private:
  void take(const run_record& r);
  usage_counts& of_model() { return models_[model_]; }
  const run_row& row_;
  std::string model_;  ///< of the present round
  std::map<std::string, usage_counts> models_;
  std::map<usage_report::tool_name, usage_counts> tools_;
  std::map<std::string, usage_report::tool_name> calls_;  ///< by id
};

}  // namespace mcpbx::daemon::stored
