// The counters of the daemon as Prometheus reads them (text format 0.0.4).
#pragma once
#include "daemon/front/exchange/exchange.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::api_door {

/// Builds a page of samples, family by family.
class metrics_page {
 public:
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Begins a family; its samples follow. A counter's name ends with `_total`. `help` is one line.
  void begin(std::string_view name, std::string_view type, std::string_view help);
  /// Adds a sample of the family. Values of labels may be any text.
  void sample(std::int64_t value, labels of = {});
  /// Adds a sample in seconds, given in microseconds.
  void seconds(std::int64_t microseconds, labels of = {});
  /// Adds a family with one sample.
  void one(std::string_view name, std::string_view type, std::string_view help, std::int64_t value);

  const std::string& text() const noexcept { return text_; }

 private:
  void line(std::string_view value, labels of);
  std::string text_, family_;
};

/// Answers GET /metrics. Labels are names of configured tool servers, their states, and the reasons for which runs
/// stop: nothing that a caller, a model or a tool server chooses, and no texts.
void handle_metrics(const std::shared_ptr<routes::exchange>& x);

}  // namespace mcpbx::daemon::api_door
