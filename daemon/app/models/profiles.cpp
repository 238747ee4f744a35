// The start values of a request, from configuration, model and profile.
#include "daemon/app/models/profiles.hpp"

#include "daemon/app/models/limits.hpp"
#include "daemon/app/models/models.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::models {
namespace {

result<const conf::model::profile_entry*> find_profile(const conf::model::configuration& all, std::string_view name) {
  if (const auto* found = all.find_profile(name)) return found;
  std::vector<std::string_view> names;
  for (const auto& p : all.profiles) names.push_back(p.name);
  auto what =
      "there is no profile \"" + std::string(cut_utf8(redact::printable(name), 100)) + "\"" + did_you_mean(name, names);
  if (names.empty()) what += "; the configuration has no \"profiles\"";
  // Bounds the list.
  constexpr std::size_t most = 10;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    what += (i > 0              ? ", \""
             : names.size() > 1 ? "; there are \""
                                : "; there is \"") +
            std::string(cut_utf8(names[i], 100)) + "\"";
  if (names.size() > most) what += " and " + std::to_string(names.size() - most) + " more";
  what += names.empty() ? ", `mcpbx edit` adds them" : "; `mcpbx config show` shows them";
  return fail(errc::invalid_argument, std::move(what));
}

}  // namespace

result<chat::chat_base> base_for(const conf::model::configuration& all, const references::start_values& values,
                                 std::string_view model, std::string_view profile) {
  constexpr std::string_view mark = "profile:";
  if (model.empty() && profile.empty() && all.default_model && all.default_model->starts_with(mark))
    profile = std::string_view(*all.default_model).substr(mark.size());
  chat::chat_base base;
  base.model = model;
  const conf::model::profile_entry* p = nullptr;
  if (!profile.empty()) {
    auto found = find_profile(all, profile);
    if (!found) return std::unexpected(std::move(found.error()));
    p = *found;
    base.profile = p->name;
    if (base.model.empty()) base.model = meant_model(all, std::string(mark) + p->name);
    base.allow = p->tools.allow;
    base.deny = p->tools.deny;
    for (const auto& [from, to] : p->tools.rename) base.rename.emplace(from, to);
    base.approve = p->approve;
    base.prompts = {p->prompts.allow, p->prompts.deny};
    base.resources = {p->resources.allow, p->resources.deny};
    if (p->system) base.system = values.value(*p->system);
  }
  base.limits = limits_for(all, model_entry_of(all, base.model), p);
  return base;
}

}  // namespace mcpbx::daemon::models
