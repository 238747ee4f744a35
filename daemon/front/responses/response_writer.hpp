// Writer of answers in the form of OpenAI's Responses API. No I/O.
#pragma once
#include "daemon/front/dialects/answer_writer.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::responses {

/// Writes each round's text as an output item of its own. Calls of the caller's own tools stand at the end, as
/// function_call items.
class response_writer final : public dialects::answer_writer {
 public:
  /// `echo`: the members that each response object repeats (response_request::echo). `shows_reasoning`: reasoning
  /// becomes items with a summary; otherwise it is left out.
  response_writer(std::string echo, bool shows_reasoning) : echo_(std::move(echo)), shows_reasoning_(shows_reasoning) {}

  std::string_view id_prefix() const override { return "resp_"; }
  void begin(std::string& out) override;
  void text(std::string& out, std::string_view part, bool new_round) override;
  void reasoning(std::string& out, std::string_view part) override;
  void keep_alive(std::string& out) override;
  void end(std::string& out, const dialects::run_outcome& o) override;
  void broken(std::string& out, const dialects::request_fault& f) override;
  std::string body(dialects::said_text said, const dialects::run_outcome& o) override;
  std::string error_body(const dialects::request_fault& f) const override;

  const std::string& id() const noexcept { return head_.id; }
  /// Takes the items of the answer with their ids, after its end.
  std::vector<std::pair<std::string, json::raw_json>> take_items() { return std::move(items_); }

 private:
  enum class item : std::uint8_t { none, message, reasoning };
  class event;

  std::string item_id(std::string_view kind) const;
  void open(std::string& out, item kind);
  void close(std::string& out);
  void add_item(json::raw_json json);
  void say(std::string& out, std::string_view type, std::string_view key, std::string_view value);
  void refuse(std::string& out, const std::string& why);
  void call(std::string& out, const dialects::run_outcome::call& c);
  void write_response(json::json_writer& w, std::string_view status, const dialects::run_outcome* o,
                      const dialects::request_fault* f) const;

  std::string echo_;
  bool shows_reasoning_;
  std::int64_t sequence_ = 0;
  item open_ = item::none;                                     // the present item
  std::string id_, text_;                                      // its id, and all its text
  std::vector<std::pair<std::string, json::raw_json>> items_;  // those before it
};

}  // namespace mcpbx::daemon::responses
