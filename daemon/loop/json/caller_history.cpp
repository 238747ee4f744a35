// Reads the messages in one pass. The calls of the latest assistant message stay open until all their results are read.
#include "daemon/loop/json/caller_history.hpp"

#include "mcp/support/keyed_hash.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::event_json {
namespace {

using providers::role;
using providers::tool_call_block;
using providers::tool_result_block;

// Returns true if the message has no blocks, or only empty texts.
bool is_silent(const providers::message& m) {
  return std::ranges::all_of(m.blocks, [](const auto& b) {
    const auto* text = std::get_if<providers::text_block>(&b);
    return text && text->text.empty();
  });
}

class history_maker {
 public:
  std::expected<std::vector<providers::message_ptr>, message_fault> make(
      const std::vector<providers::message_ptr>& said) {
    for (; at_ < said.size() && !fault_; ++at_) {
      const auto& m = said[at_];
      if (m->role == role::tool_results) {
        take_results(*m);
        continue;
      }
      if (!open_.empty()) {
        wrong(".role",
              "\"tool\", with the tool_result of the call " + json::json_quoted(next_open()) + " of messages[" +
                  std::to_string(caller_) + "], because each call needs its result before anything else is said",
              json::json_quoted(role_word(m->role)));
        break;
      }
      if (m->role != role::user && is_silent(*m)) continue;
      if (m->role == role::assistant) open_calls(*m);
      made_.push_back(m);
    }
    if (!fault_ && !open_.empty()) {
      at_ = caller_;
      wrong("", "the result of its call " + json::json_quoted(next_open()) + " in a message of role \"tool\" behind it",
            {});
    }
    if (fault_) return std::unexpected(std::move(*fault_));
    return std::move(made_);
  }

 private:
  struct open_call {
    const tool_call_block* call;
    std::optional<tool_result_block> result;
  };

  void wrong(const std::string& place, std::string expected, const std::string& found) {
    if (!fault_)
      fault_ = message_fault{"[" + std::to_string(at_) + "]" + place, std::move(expected),
                             found.empty() ? json::raw_json() : json::raw_json::own(found)};
  }

  static std::string block_place(std::size_t index, std::string_view member) {
    return ".content[" + std::to_string(index) + "]." + std::string(member);
  }

  std::string_view next_open() const {
    return std::ranges::find_if(open_, [](const auto& c) { return !c.result; })->call->id;
  }

  void open_calls(const providers::message& m) {
    caller_ = at_;
    for (std::size_t i = 0; i < m.blocks.size(); ++i) {
      const auto* call = std::get_if<tool_call_block>(&m.blocks[i]);
      if (!call) continue;
      if (!numbers_.emplace(call->id, open_.size()).second)
        return wrong(block_place(i, "id"), "an id that no other call of the message has", json::json_quoted(call->id));
      open_.push_back({call, {}});
    }
  }

  void take_results(const providers::message& m) {
    for (std::size_t i = 0; i < m.blocks.size() && !fault_; ++i) {
      const auto* result = std::get_if<tool_result_block>(&m.blocks[i]);
      if (!result) continue;
      const auto number = numbers_.find(result->call_id);
      auto* const call = number == numbers_.end() ? nullptr : &open_[number->second];
      if (!call || call->result)
        return wrong(block_place(i, "id"),
                     "the id of a call in the assistant message before it that has no result yet (results for a run "
                     "that handed calls to its caller come alone, with \"run\")",
                     json::json_quoted(result->call_id));
      if (!result->name.empty() && result->name != call->call->name)
        return wrong(block_place(i, "name"), json::json_quoted(call->call->name) + ", the name of its call",
                     json::json_quoted(result->name));
      call->result = *result;
      call->result->name = call->call->name;
      ++answered_;
    }
    if (!fault_ && answered_ == open_.size()) close_calls();
  }

  void close_calls() {
    auto results = std::make_shared<providers::message>();
    results->role = role::tool_results;
    for (auto& c : open_) results->blocks.emplace_back(std::move(*c.result));
    open_.clear();
    numbers_.clear();
    answered_ = 0;
    made_.push_back(std::move(results));
  }

  std::vector<providers::message_ptr> made_;
  std::vector<open_call> open_;         // calls of the latest assistant message, until all have their results
  text_view_map<std::size_t> numbers_;  // indices in open_ by call id
  std::size_t answered_ = 0;
  std::size_t at_ = 0, caller_ = 0;  // indices of the present message and of the one with the open calls
  std::optional<message_fault> fault_;
};

}  // namespace

std::expected<std::vector<providers::message_ptr>, message_fault> history_from(
    const std::vector<providers::message_ptr>& said) {
  return history_maker().make(said);
}

}  // namespace mcpbx::daemon::event_json
