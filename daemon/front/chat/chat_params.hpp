// Conversion of mcpbx/chat's params into a run_request: every member checked, errors with their path, limits merged
// with the configuration's, and an error for members of later versions. Pure.
#pragma once
#include "daemon/loop/run/runner.hpp"
#include "mcp/client/catalog/item_filter.hpp"
#include "mcp/server/base/param_reader.hpp"

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

namespace mcpbx::daemon::chat {

/// Values that a request may give for one number of its `limits`.
struct limit_bound {
  std::int64_t least = 0, most = std::numeric_limits<int>::max();
  bool zero_is_none = false;            ///< 0 means "no limit", which exceeds any number
  std::optional<std::int64_t> ceiling;  ///< `loop.max`; larger values count as this
};

/// Start values of a request: configuration, model and profile merged.
struct chat_base {
  std::string profile;                            ///< the effective profile, or ""
  std::string model;                              ///< as the request or the profile names it; "": the default
  result<std::string> system;                     ///< the profile's prompt, "", or the reason why it cannot be read
  std::vector<std::string> allow, deny, approve;  ///< the profile's globs for names of the catalog
  std::map<std::string, std::string, std::less<>> rename;  ///< the profile's tool names, by those of the catalog
  mcp::catalogs::item_filter prompts, resources;  ///< the profile's choice of prompts and of URIs; nothing is renamed
  stored::run_limits limits;
  std::shared_ptr<run::run_configuration> configured;  ///< for run_request::configured

  /// Returns true if a caller sees the same of the catalog under both.
  bool shows_as(const chat_base& other) const {
    return allow == other.allow && deny == other.deny && rename == other.rename && prompts == other.prompts &&
           resources == other.resources;
  }
};

/// The configuration as requests see it. Each request takes the present object once (chat_source) and keeps it.
struct chat_defaults {
  /// Returns the start values for a model and a profile ("" for none). The error is a clause about the profile.
  std::function<result<chat_base>(std::string_view model, std::string_view profile)> base =
      [](std::string_view model, std::string_view profile) {
        chat_base b;
        b.profile = profile;
        b.model = model;
        return result<chat_base>(std::move(b));
      };
  /// Checks a model name: a configured one, NAME/ID or profile:NAME. The error is a clause about it.
  std::function<result<void>(std::string_view name)> model = [](std::string_view) { return result<void>(); };
  /// Returns the names of the configured profiles, in order.
  std::function<std::vector<std::string>()> profiles = [] { return std::vector<std::string>(); };
  /// Returns the bound of a key of `limits` ("maxRounds"): the configuration's range and ceiling.
  std::function<limit_bound(std::string_view key)> bound = [](std::string_view) { return limit_bound(); };
};
/// Returns the present defaults; never null. The same configuration is the same object.
using chat_source = std::function<std::shared_ptr<const chat_defaults>()>;
/// Returns the source of a configuration that is never replaced.
inline chat_source always(std::shared_ptr<const chat_defaults> defaults) {
  return [defaults = std::move(defaults)] { return defaults; };
}

/// Restricts a run that continues after a restart to the limits that the present configuration allows its model and
/// profile, if stricter (runner::options::keep_to_present_terms). The error: its profile is gone.
result<void> keep_to_present_terms(run::run_request& r, const chat_defaults& defaults);

/// Reads the params into a request; one in a session without a profile keeps the terms of the session's latest run
/// (run_request::keep_terms). Errors stay in `in`; `run` and `principal` are as given, or "". `usual_profile` ("":
/// none) applies to requests without one.
run::run_request read_chat(mcp::server::param_reader& in, const chat_defaults& defaults,
                           std::string_view usual_profile = {});

/// Returns the profile if a request's model is "profile:NAME".
std::optional<std::string_view> profile_named_as_model(std::string_view model);
/// Applies the start values, before the request's own members override them. The error is that of the system prompt.
result<void> begin_with(run::run_request& r, chat_base base);
/// Reads the format of the final answer, an object with `type` and a schema, from the member `key`.
void read_response_format(mcp::server::param_reader& in, std::string_view key, run::run_request& r);

}  // namespace mcpbx::daemon::chat
