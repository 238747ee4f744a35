// A configuration with the models `gpt` and `gpt/other` and the profile `short`, for readers of requests.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>

namespace mcpbx::test {

inline daemon::chat::chat_defaults some_defaults() {
  daemon::chat::chat_defaults d;
  d.model = [](std::string_view name) -> result<void> {
    if (name == "gpt" || name == "gpt/other") return {};
    return fail(errc::not_found, "no model is named " + json::json_quoted(name));
  };
  d.base = [](std::string_view model, std::string_view profile) -> result<daemon::chat::chat_base> {
    if (!profile.empty() && profile != "short") return fail(errc::not_found, "no profile is named so");
    daemon::chat::chat_base b;
    b.profile = profile;
    b.model = profile.empty() ? std::string(model) : "gpt";
    b.limits.max_rounds = profile.empty() ? 10 : 2;
    return b;
  };
  return d;
}

}  // namespace mcpbx::test
