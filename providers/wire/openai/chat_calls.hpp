// Tolerant assembly of streamed tool calls (chat completions). Servers disagree about index, id, name and the shape of
// arguments, and no call may be lost or run with half of its arguments.
#pragma once
#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_writer.hpp"
#include "providers/model/message.hpp"
#include "providers/wire/finished_calls.hpp"
#include "providers/wire/openai/chat_delta.hpp"
#include "providers/wire/string_joiner.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::openai {

class call_assembler {
 public:
  /// Takes one `tool_calls` array of a delta or message (checked JSON).
  void take(std::string_view tool_calls);
  /// Takes a legacy `function_call` object.
  void take_function_call(std::string_view function_call);
  bool empty() const { return slots_.empty(); }
  /// Returns the size of all names and arguments in bytes, for an estimate of tokens.
  std::size_t bytes() const { return bytes_; }

  struct finished {
    std::vector<tool_call_block> calls;
    std::vector<json::raw_json> extras;  ///< vendor fields of each call, absent if none; same length as calls
    int empty = 0;          ///< calls dropped because nothing of them came: neither name nor id nor arguments
    int cut = 0;            ///< calls dropped because the answer was cut inside them
    bool too_many = false;  ///< more than max_reply_calls came; the later ones were dropped
  };
  /// Returns the calls at the end of the answer. `cut`: the model was stopped (length, filter), so its last call may be
  /// incomplete and is left out.
  finished finish(bool cut, wire::call_ids& ids);

 private:
  struct slot {
    std::string id, name, arguments;
    bool has_index = false, whole = false;  // whole: arguments came as a value, nothing is appended
    std::int64_t index = 0;
    wire::string_joiner joiner;
    json::json_scanner scanner{json::json_scanner::options{.max_depth = 64}};  // knows when the arguments are complete
    vendor_fields extras;
    std::uint64_t list = 0;  // number of the list in which it began

    // Returns the complete value that `arguments` begin with, without blanks around it.
    std::string_view complete_arguments() const {
      return whole ? std::string_view(arguments)
                   : std::string_view(arguments).substr(scanner.value_begin(),
                                                        scanner.value_end() - scanner.value_begin());
    }
  };
  void take_call(std::string_view element, bool one_of_many);
  slot& new_slot();
  std::vector<slot> slots_;
  std::uint64_t list_ = 0;  // number of the list that is being taken
  bool overflowed_ = false;
  std::size_t touched_ = 0;  // slot that got the last piece
  std::size_t bytes_ = 0;
};

/// Writes one entry of `tool_calls`; `id` is the endpoint's id of the call, `extra` an object of further members.
void write_call(json::json_writer& w, const tool_call_block& call, std::string_view id, std::string_view extra = "");

}  // namespace mcpbx::providers::openai
