// Status lines for people about tool calls, written by a quick model call while the tool runs (L15). Nothing waits for
// them: a line that is not there in time is not told.
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

namespace mcpbx::daemon {

class status_writer {
 public:
  static constexpr milliseconds time_limit{2'000};
  static constexpr std::int64_t max_tokens = 20;
  static constexpr std::size_t max_open = 4;  ///< lines that are being written at the same time

  struct line {
    std::string call;
    std::string text;                       ///< one clean line; "": there is none
    std::optional<providers::usage> usage;  ///< absent when the model gave no reply and used nothing up
    std::int64_t ms = 0;
  };
  using teller = std::function<void(line)>;

  /// `tell` comes once for each begun call that is not dropped, never from inside begin(); drop() the call then.
  status_writer(std::shared_ptr<providers::model> model, time_source& time, teller tell);
  ~status_writer();
  status_writer(const status_writer&) = delete;
  status_writer& operator=(const status_writer&) = delete;

  /// Has a line written about this call. False when too many are being written already.
  bool begin(std::string call, std::string_view tool, const raw_json& arguments);
  /// The call has ended, or its line has been taken: no line comes any more. What the line used up that is dropped
  /// before it was told, an estimate.
  providers::usage drop(std::string_view call);
  void drop_all();
  /// What the open lines have used up so far, an estimate.
  providers::usage spent() const;
  std::size_t open() const noexcept { return open_.size(); }

 private:
  class writing;
  std::shared_ptr<providers::model> model_;
  time_source& time_;
  teller tell_;
  std::list<std::unique_ptr<writing>> open_;
};

}  // namespace mcpbx::daemon
