// Writer of answers in the form of Anthropic's Messages API. No I/O.
#pragma once
#include "daemon/front/dialects/answer_writer.hpp"
#include "mcp/json/json_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::daemon::messages {

/// Writes each round's text as a content block of its own. Calls of the caller's own tools stand at the end, as
/// tool_use.
class message_writer final : public dialects::answer_writer {
 public:
  /// `shows_thinking`: reasoning becomes thinking blocks; otherwise it is left out.
  explicit message_writer(bool shows_thinking) : shows_thinking_(shows_thinking) {}

  std::string_view id_prefix() const override { return "msg_"; }
  std::string_view request_id_header() const override { return "request-id"; }
  void begin(std::string& out) override;
  void text(std::string& out, std::string_view part, bool new_round) override;
  void reasoning(std::string& out, std::string_view part) override;
  void keep_alive(std::string& out) override;
  void end(std::string& out, const dialects::run_outcome& o) override;
  void broken(std::string& out, const dialects::request_fault& f) override;
  std::string body(dialects::said_text said, const dialects::run_outcome& o) override;
  std::string error_body(const dialects::request_fault& f) const override;

 private:
  enum class block : std::uint8_t { none, text, thinking };

  void open(std::string& out, block kind);
  void close(std::string& out);

  bool shows_thinking_;
  std::size_t index_ = 0;     // of the present content block, or the next one
  block open_ = block::none;  // the present content block
};

}  // namespace mcpbx::daemon::messages
