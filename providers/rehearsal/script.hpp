// A rehearsal's script: what to say and which tools to call, round by round, from a JSON file.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::rehearsal {

struct step {
  struct call {
    std::string name;
    json::raw_json arguments;  ///< an object
  };
  std::string text;
  std::vector<call> calls;
};

/// `{"steps":[{"text":"…"},{"calls":[{"name":"…","arguments":{…}}]}]}` or the list alone. In strings, `{{question}}`
/// stands for the last user message, `{{result.N}}` for the text of the N-th tool result (from 1) since then and
/// `{{result.N.member}}` for a member of it, when it is a JSON object.
struct script {
  std::vector<step> steps;
};

/// Reads a script. errc::config names the fault and the step.
result<std::shared_ptr<const script>> read_script(std::string_view json);

/// Replaces the marks in `text`. With `in_json` it escapes the inserted text for the inside of a JSON string.
std::string substitute(std::string_view text, std::string_view question, const std::vector<std::string>& results,
                       bool in_json);

}  // namespace mcpbx::providers::rehearsal
