// Parts that readers of requests share, whatever their dialect: members with their faults, model, tools, and the
// identity of a conversation. Pure.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::dialects {

/// Reads one request. The first fault is kept. `body` and `defaults` must outlive it.
class dialect_reader {
 public:
  dialect_reader(const json::raw_json& body, const chat::chat_defaults& defaults) : body_(body), defaults_(defaults) {}

 protected:
  static constexpr std::size_t most_listed = 10'000;  ///< names and texts of one list

  json::raw_json given(std::string_view key) const;
  void wrong(std::string param, std::string_view form, const json::raw_json& got);
  void fault(std::string param, const std::string& what, int status = 400, std::string code = "");
  void take(request_fault f) {
    if (!fault_) fault_ = std::move(f);
  }

  // Each of these functions returns the member's value if it is present and valid.
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least);
  /// Returns a number from 0 to `most` as it is written. Endpoints refuse others, and then the fault looks like theirs.
  std::string number(std::string_view key, int most);
  /// Reads up to `most` texts that are not empty into the settings' `stop`; `text_too`: a string stands for one.
  void read_stop(std::string_view key, std::size_t most, bool text_too);
  /// Reads the effort of reasoning from `key` of `object`; `place` is the object's place with a dot, or "".
  void read_effort(const json::raw_json& object, std::string_view key, std::string_view place);
  /// Reads the format of the final answer, in the form of Chat Completions.
  void read_format(const json::raw_json& format, std::string_view place);

  /// Reads the model, the profile's start values included.
  void read_model();
  /// Calls `read(tool, place)` for each element of `tools`.
  template <class Read>
  void read_tools(Read&& read);
  /// Takes a tool of the caller at `place`. An absent schema permits any arguments.
  void add_tool(const std::string& name, const json::raw_json& description, json::raw_json schema, bool strict,
                const std::string& place);
  /// Restricts the tools of both the caller and the daemon to the names in `list`, found at `place`. The name is the
  /// member `name` of an element, or of its member `inside`.
  void keep_only(const json::raw_json& list, const std::string& place, std::string_view inside = {});
  /// Demands a call of this tool, named at `place`, in the first round.
  void demand_tool(std::string name, std::string_view place, const json::raw_json& got);
  /// Takes the word of OpenAI's `tool_choice`. A demand for a call binds the first round only; otherwise the model
  /// could never answer.
  void take_tool_choice(std::string_view word, const json::raw_json& choice);
  /// Returns true if the list of tools has been refused as too long.
  bool too_many_tools(std::size_t index);

  /// Ends the reading: sets what no request over HTTP decides, and finds the results at the end of the messages.
  std::expected<dialect_request, request_fault> finish();

  const json::raw_json& body_;
  const chat::chat_defaults& defaults_;
  dialect_request out_;
  std::optional<request_fault> fault_;

 private:
  void take_fault(mcp::server::param_reader& in, std::string_view place);
  std::uint64_t conversation_of(std::size_t messages) const;
  void find_results();

  text_set names_;  // names of the caller's tools
};

template <class Read>
void dialect_reader::read_tools(Read&& read) {
  const auto list = given("tools");
  if (!list) return;
  if (!list.is_array()) return wrong("tools", "an array", list);
  std::size_t index = 0;
  json::for_each_element(list, [&](const json::raw_json& tool) {
    if (too_many_tools(index)) return false;
    read(tool, "tools[" + std::to_string(index++) + "]");
    return !fault_;
  });
}

}  // namespace mcpbx::daemon::dialects
