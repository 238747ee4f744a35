// Status lines for people about tool calls, written by a short model call while the tool runs (docs/requirements.md,
// L15). Nothing waits for them: a line that is not finished in time is dropped.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon::run {

/// Belongs to one run.
class status_writer {
 public:
  static constexpr milliseconds time_limit{2'000};  ///< for one line
  static constexpr std::int64_t max_tokens = 20;    ///< of one line
  static constexpr std::size_t max_open = 4;        ///< largest number of lines in work at the same time

  /// A finished line, or the failure to write one.
  struct line {
    std::string call;                       ///< id of the tool call
    std::string text;                       ///< one line without control characters; "": the model wrote none
    std::optional<providers::usage> usage;  ///< absent if the model gave no reply and used no tokens
    std::int64_t ms = 0;                    ///< time since begin()
  };
  using teller = std::function<void(line)>;

  /// Calls `tell` once for each begun line that is not dropped, never from inside begin(). Call drop() after that.
  /// `time` must outlive this object. `trace` is that of the run.
  status_writer(std::shared_ptr<providers::model> model, time_source& time, trace::trace_context trace, teller tell);
  ~status_writer();
  status_writer(const status_writer&) = delete;
  status_writer& operator=(const status_writer&) = delete;

  /// Begins a line about this call; `tool`: name or title of its tool. Returns false if max_open lines are in work.
  bool begin(std::string call, std::string_view tool, const json::raw_json& arguments);
  /// Drops the line of a call, finished or not. Returns an estimate of the tokens that an unfinished line has used.
  providers::usage drop(std::string_view call);
  /// Drops all lines.
  void drop_all();
  /// Returns an estimate of the tokens that the unfinished lines have used so far.
  providers::usage spent() const;
  /// Returns the number of lines that were begun and not dropped.
  std::size_t open() const noexcept { return open_.size(); }

 private:
  class writing;
  std::shared_ptr<providers::model> model_;
  time_source& time_;
  trace::trace_context trace_;
  teller tell_;
  std::list<std::unique_ptr<writing>> open_;
};

}  // namespace mcpbx::daemon::run
