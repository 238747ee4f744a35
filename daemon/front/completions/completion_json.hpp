// JSON of OpenAI's Chat Completions: chunks of a stream, whole answers, errors, lists of models, and the outcome of a
// run in these terms. Pure.
#pragma once
#include "daemon/front/dialects/run_outcome.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::completions {

namespace completion_json {

/// Members that all chunks of a stream share.
struct head {
  std::string id, model;
  std::int64_t created = 0;  ///< seconds since 1970
  bool with_usage = false;   ///< each chunk of the stream has a usage member
};

// Each of these functions appends one whole event of a stream.
void append_role(std::string& out, const head& h);
void append_text(std::string& out, const head& h, std::string_view text);
void append_reasoning(std::string& out, const head& h, std::string_view text);
void append_refusal(std::string& out, const head& h, std::string_view why);
void append_calls(std::string& out, const head& h, const std::vector<dialects::run_outcome::call>& calls);
void append_finish(std::string& out, const head& h, std::string_view finish);
void append_usage(std::string& out, const head& h, const dialects::run_outcome& o);
void append_done(std::string& out);
/// Appends the last event of a broken stream; [DONE] does not follow.
void append_error(std::string& out, const dialects::request_fault& f);

/// Returns the answer to a request without a stream; `thinking` is written as in a stream.
std::string answer(const head& h, std::string_view text, std::string_view thinking, const dialects::run_outcome& o);
/// Returns the body of /v1/models, or of the one model `only`; nothing if it does not exist.
std::optional<std::string> models(const std::vector<std::string>& names, std::int64_t created,
                                  std::optional<std::string_view> only);

}  // namespace completion_json
}  // namespace mcpbx::daemon::completions
