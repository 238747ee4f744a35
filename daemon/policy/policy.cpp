// Denying wins over allowing, at each level and between them. Rules that restrict look at every name that a tool has or
// may have had, rules that allow only at those that it has for certain.
#include "daemon/policy/policy.hpp"

#include "mcp/client/catalog/item_filter.hpp"
#include "mcp/client/catalog/listed_tools.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <vector>

namespace mcpbx::daemon::policy {
namespace {

using globs = std::span<const std::string>;

constexpr decision allowed{verdict::allow, rule::none};

decision denied(rule by, std::string_view text = {}) {
  return {verdict::deny, by, text};
}

const std::string* first_for(globs all, std::string_view name) {
  const auto found = std::ranges::find_if(all, [&](const auto& glob) { return glob_match(glob, name); });
  return found == all.end() ? nullptr : &*found;
}

/// The first of `all` that restricts a tool of these names; null: none.
const std::string* first_for(globs all, const catalog_names& n, const past_names::names* then = nullptr) {
  const auto is = [&](const std::string& glob) {
    const auto matches = [&](std::string_view name) { return !name.empty() && glob_match(glob, name); };
    return matches(n.name) || matches(n.prefixed) || matches(n.plain) || matches(n.other) ||
           (then != nullptr && then->may_be(glob));
  };
  const auto found = std::ranges::find_if(all, is);
  return found == all.end() ? nullptr : &*found;
}

/// Returns true if `allow` is empty or names the tool. With plain names the prefixed one counts as well.
bool names_it(globs allow, std::string_view name, std::string_view prefixed) {
  return allow.empty() || first_for(allow, name) != nullptr ||
         (!prefixed.empty() && first_for(allow, prefixed) != nullptr);
}

const std::string* approve_of(const terms_ptr& entries, const tool_facts& tool) {
  const auto* terms = terms_of(entries, tool.server);
  return terms == nullptr ? nullptr : first_for(terms->approve, tool.own);
}

/// Decides by the terms that a resumed run is kept to beside its own choice.
decision decide_beside(const stored::kept_terms& kept, const tool_facts& tool) {
  if (const auto* glob = first_for(kept.deny, tool.names)) return denied(rule::denied, *glob);
  if (!names_it(kept.allow, tool.names.name, tool.names.prefixed)) return denied(rule::not_allowed);
  if (!kept.servers) return allowed;
  const auto* terms = terms_of(kept.servers, tool.server);
  if (terms == nullptr) return denied(rule::new_server, tool.server);
  if (!mcp::catalogs::passes(terms->allow, terms->deny, tool.own)) return denied(rule::entry_then, tool.own);
  return allowed;
}

/// Asks where a rule wants an approval, else allows.
decision decide_approval(const approval_rules& rules, const tool_facts& tool) {
  const auto asks = [](rule by, std::string_view text = {}) { return decision{verdict::ask, by, text}; };
  if (const auto* glob = first_for(rules.profile, tool.names, tool.then)) return asks(rule::profile_approve, *glob);
  if (const auto* glob = approve_of(rules.entries, tool)) return asks(rule::entry_approve, *glob);
  if (rules.then != nullptr)
    if (const auto* glob = approve_of(rules.then->servers, tool)) return asks(rule::entry_approve_then, *glob);
  if (!tool.may_destroy) return allowed;
  if (rules.destructive) return asks(rule::approve_destructive);
  if (rules.after_output) return asks(rule::approve_after_output);
  return allowed;
}

decision not_offered(const mcp::catalogs::withheld_tool& tool) {
  return denied(rule::withheld, tool.why ? std::string_view(*tool.why) : std::string_view());
}

}  // namespace

decision decide(const calling_process& who) {
  if (!who.known) return denied(rule::unknown_process);
  if (who.of_ours && !who.may_call) return denied(rule::may_not_call);
  return allowed;
}

// A resumed run chose among the names of its beginning, and is bound by what its profile says of those of today. Its
// denials hold under both.
decision decide_offer(const stored::tool_choice& choice, const tool_facts& tool) {
  if (const auto* glob = first_for(choice.deny, tool.names)) return denied(rule::denied, *glob);
  if (choice.beside)
    if (const auto beside = decide_beside(*choice.beside, tool); beside.denies()) return beside;
  if (tool.then != nullptr) {
    const auto found = std::ranges::find_if(choice.deny, [&](const auto& glob) { return tool.then->may_be(glob); });
    if (found != choice.deny.end()) return denied(rule::denied, *found);
    return names_it(choice.allow, tool.then->name, tool.then->prefixed) ? allowed : denied(rule::not_allowed);
  }
  return names_it(choice.allow, tool.names.name, tool.names.prefixed) ? allowed : denied(rule::not_allowed);
}

decision decide_request(const stored::tool_choice& choice, std::string_view shown) {
  if (choice.only.empty()) return allowed;
  const auto* glob = first_for(choice.only, shown);
  return glob == nullptr ? denied(rule::not_asked_for) : decision{verdict::allow, rule::none, *glob};
}

decision decide(const calling_run& who, const tool_facts& tool, const json::raw_json& arguments) {
  if (!tool.of_a_server) return {verdict::allow, rule::not_of_a_server};
  if (tool.withheld != nullptr) return not_offered(*tool.withheld);
  const auto wanted = decide_approval(who.rules, tool);
  if (wanted.allows()) return wanted;
  // The tool that is called must be the one that is shown to a person.
  if (tool.changed) return denied(rule::changed, wanted.text);
  if (who.approved && who.approved(arguments)) return {verdict::allow, rule::approved, wanted.text};
  if (who.ending) return denied(rule::run_is_ending, wanted.text);
  switch (who.mode) {
    case stored::approval_mode::all:
      return {verdict::allow, rule::approved_beforehand, wanted.text};
    case stored::approval_mode::ask:
      return who.reachable ? wanted : denied(rule::nobody_to_ask, wanted.text);
    case stored::approval_mode::none:
      break;
  }
  return denied(rule::may_not_ask, wanted.text);
}

decision decide(const direct_caller& who, const tool_facts& tool) {
  if (tool.withheld != nullptr) return not_offered(*tool.withheld);
  if (who.is_person) return {verdict::allow, rule::by_a_person};
  auto wanted = decide_approval(who.rules, tool);
  if (wanted.says == verdict::ask) wanted.says = verdict::deny;
  return wanted;
}

decision decide(const direct_caller& who, const read_facts& what) {
  if (who.is_person) return {verdict::allow, rule::by_a_person};
  const auto* terms = terms_of(who.rules.entries, what.server);
  if (terms == nullptr || terms->approve.empty()) return allowed;
  // A pattern holds for every spelling of a URI, as one that denies does.
  if (what.is_uri && mcp::catalogs::uri_filter({{}, terms->approve}).denies(what.own))
    return denied(rule::entry_approve);
  if (const auto* glob = first_for(terms->approve, what.own)) return denied(rule::entry_approve, *glob);
  return allowed;
}

tool_facts facts_of(const mcp::catalogs::catalog_entry& tool) {
  return {.server = tool.server,
          .own = tool.tool,
          .names = {tool.listed_name(), tool.rules.prefixed, tool.rules.plain, tool.rules.other},
          .may_destroy = tool.annotations.may_destroy()};
}

tool_facts facts_of(std::string_view name, const mcp::catalogs::withheld_tool& tool) {
  return {.server = tool.server,
          .own = tool.tool,
          .names = {name, tool.rules.prefixed, tool.rules.plain, tool.rules.other},
          .withheld = &tool};
}

}  // namespace mcpbx::daemon::policy
