// The params of mcpbx/chat as a run_request: every field checked, with its path in the error; limits laid over the
// configuration's; one clear sentence for what this version does not have. Pure.
#pragma once
#include "daemon/loop/run/runner.hpp"
#include "mcp/server/param_reader.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

/// What a request may say for one number of its `limits`.
struct limit_bound {
  std::int64_t least = 0, most = std::numeric_limits<int>::max();
  bool zero_is_none = false;            ///< 0 stands for "no limit", which is more than any number
  std::optional<std::int64_t> ceiling;  ///< `loop.max`: what is above counts as this
};

/// What a request starts from: the configuration, its model and its profile, laid over each other.
struct chat_base {
  std::string profile;                                     ///< the one that holds, or ""
  std::string model;                                       ///< as the request or the profile names it; "": the default
  result<std::string> system;                              ///< the profile's prompt, or "", or why it cannot be had
  std::vector<std::string> allow, deny, approve;           ///< the profile's globs on the catalog's names
  std::map<std::string, std::string, std::less<>> rename;  ///< the profile's names, by those of the catalog
  run_limits limits;
  std::shared_ptr<run_configuration> configured;  ///< for run_request::configured
};

/// The configuration as requests see it. Each request takes the present one once (chat_source) and keeps to it.
struct chat_defaults {
  /// For a model and a profile as a request names them, "" for none. The error is a clause about the profile.
  std::function<result<chat_base>(std::string_view model, std::string_view profile)> base =
      [](std::string_view model, std::string_view profile) {
        chat_base b;
        b.profile = profile;
        b.model = model;
        return result<chat_base>(std::move(b));
      };
  /// Whether there is a model of this name: a configured one, NAME/ID or profile:NAME. The error is a clause about it.
  std::function<result<void>(std::string_view name)> model = [](std::string_view) { return result<void>(); };
  /// The names of the configured profiles, in order.
  std::function<std::vector<std::string>()> profiles = [] { return std::vector<std::string>(); };
  /// The bound of a key of `limits` ("maxRounds"): the configuration's range and ceiling of the same key.
  std::function<limit_bound(std::string_view key)> bound = [](std::string_view) { return limit_bound(); };
};
/// Gives the present one; never null. The same configuration is the same object.
using chat_source = std::function<std::shared_ptr<const chat_defaults>()>;
/// Returns the source of a configuration that is never replaced.
inline chat_source always(std::shared_ptr<const chat_defaults> defaults) {
  return [defaults = std::move(defaults)] { return defaults; };
}

/// Holds a run that goes on after a restart to what a request with its model, profile and limits gets now, where that
/// is stricter (runner::options::keep_to_present_terms). The error says that its profile is gone.
result<void> keep_to_present_terms(run_request& r, const chat_defaults& defaults);

/// Reads the params into a request; one in a session that names no profile keeps to what the session's latest run was
/// asked to keep to (run_request::keep_terms). What is wrong stays in `in`; `run`, `principal` are as given by the
/// caller or "". `usual_profile` ("": none) holds for requests that name none.
run_request read_chat(mcp::param_reader& in, const chat_defaults& defaults, std::string_view usual_profile = {});

/// The profile that a request's model names ("profile:NAME"), if it names one.
std::optional<std::string_view> profile_named_as_model(std::string_view model);
/// Gives a request its base, before its own words are laid over that. The error is that of the system prompt.
result<void> begin_with(run_request& r, chat_base base);
/// Reads the format of the final answer, an object of `type` and a schema, from the member `key`.
void read_response_format(mcp::param_reader& in, std::string_view key, run_request& r);

}  // namespace mcpbx::daemon
