// Finds the tool first, be it offered, withheld, filtered or only named like one of a server that is down, and then
// walks its way.
#include "daemon/front/rpc/tool_reasons.hpp"

#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t most_near = 5;
constexpr std::size_t longest_reason = 600;  // bytes

std::string quoted(std::string_view text) {
  return "\"" + redact::printable(std::string(cut_utf8(text, 200))) + "\"";
}

const std::string* matching(std::span<const std::string> globs, std::string_view name) {
  const auto found = std::ranges::find_if(globs, [&](const auto& glob) { return glob_match(glob, name); });
  return found == globs.end() ? nullptr : &*found;
}

/// A tool that some server has.
struct found_tool {
  std::string server, own, name;
  mcp::catalogs::entry_ptr entry;                          ///< in the catalog; null: it is not offered
  const mcp::catalogs::withheld_tool* withheld = nullptr;  ///< because of its pins
};

std::span<const stored::server_terms> terms_in(const tool_question& q) {
  return q.rules.entries ? std::span<const stored::server_terms>(*q.rules.entries)
                         : std::span<const stored::server_terms>();
}

// Returns the name that a tool of a server would be listed under on its own.
std::string listed_name(const stored::server_terms& t, std::string_view own) {
  if (t.naming.plain) return mcp::catalogs::plain_name(own, t.naming.rename);
  return mcp::catalogs::prefixed_names(t.naming.prefix, std::span(&own, 1), t.naming.rename).names.front();
}

const mcp::clients::server_status* status_of(const tool_question& q, std::string_view server) {
  const auto found = std::ranges::find(q.servers, server, &mcp::clients::server_status::name);
  return found == q.servers.end() ? nullptr : &*found;
}

std::optional<found_tool> in_catalog(const tool_question& q) {
  const auto take = [&](const std::string& name) -> std::optional<found_tool> {
    if (const auto e = q.whole.find(name)) return found_tool{e->server, e->tool, e->name, e};
    if (const auto* w = q.whole.find_withheld(name)) return found_tool{w->server, w->tool, name, nullptr, w};
    return std::nullopt;
  };
  // A profile's name comes first, as its callers see no other.
  if (q.base != nullptr)
    for (const auto& [listed, shown] : q.base->rename)
      if (shown == q.name)
        if (auto found = take(listed)) return found;
  return take(std::string(q.name));
}

// Finds tools by the lists of the servers: those that a filter hides, and the servers' own names.
std::vector<found_tool> in_lists(const tool_question& q) {
  std::vector<found_tool> by_name, by_own;
  for (const auto& t : terms_in(q)) {
    const auto list = q.listed(t.server);
    if (!list) continue;
    const bool prefixed = q.name.starts_with(t.naming.prefix + "__");
    for (const auto& item : *list) {
      const bool same = item.key == q.name;
      if (!same && !prefixed && !t.naming.plain && !t.naming.rename.contains(item.key)) continue;
      const auto name = listed_name(t, item.key);
      if (name == q.name)
        by_name.push_back({t.server, item.key, name, nullptr});
      else if (same)
        by_own.push_back({t.server, item.key, name, nullptr});
    }
  }
  auto& all = by_name.empty() ? by_own : by_name;
  for (auto& tool : all)
    if (const auto e = q.whole.find(tool.name); e && e->server == tool.server && e->tool == tool.own) tool.entry = e;
  return std::move(all);
}

tool_step server_step(const tool_question& q, const std::string& server) {
  tool_step s{"server", true, ""};
  const auto* status = status_of(q, server);
  if (status == nullptr) {
    s.text = "there is a tool server " + quoted(server);
    return s;
  }
  using enum mcp::clients::server_state;
  s.ok = status->state == ready || status->state == lazy;
  s.text = "tool server " + quoted(server) + " is " +
           (status->state == crash_loop ? "in a crash loop" : std::string(mcp::clients::to_string(status->state)));
  if (s.ok) return s;
  if (!status->last_error.empty())
    s.text +=
        ": " + redact::cut_for_people(redact::redactor::redact(status->last_error), longest_reason, {.mark = " …"});
  s.mend = status->state == disabled ? "mcpbx enable " + shell_word(server) : "mcpbx doctor " + shell_word(server);
  return s;
}

tool_step filter_step(const stored::server_terms* terms, const found_tool& tool) {
  tool_step s{"filter", true, "no filter of its entry is about it"};
  if (terms == nullptr) return s;
  const std::string entry = " of the entry " + quoted(tool.server);
  if (const auto* glob = matching(terms->deny, tool.own)) {
    s.ok = false;
    s.pattern = *glob;
    s.text = "tools.deny" + entry + " has " + quoted(*glob);
    s.mend = "take it out of tools.deny" + entry + ", then `mcpbx reload`";
  } else if (const auto* allowed = matching(terms->allow, tool.own)) {
    s.pattern = *allowed;
    s.text = "tools.allow" + entry + " has " + quoted(*allowed);
  } else if (!terms->allow.empty()) {
    s.ok = false;
    s.text = "tools.allow" + entry + " names other tools only";
    s.mend = "add " + quoted(tool.own) + " to tools.allow" + entry + ", then `mcpbx reload`";
  }
  return s;
}

// Explains the name, or why there is none.
tool_step name_step(const tool_question& q, const stored::server_terms* terms, const found_tool& tool) {
  tool_step s{"name", true, "its name is " + quoted(tool.name)};
  if (!tool.entry && tool.withheld == nullptr) {
    s.ok = false;
    const auto because = std::ranges::find_if(q.whole.dropped(), [&](const mcp::catalogs::dropped_item& d) {
      return d.server == tool.server && d.reason.contains("\"" + redact::printable(tool.own) + "\"");
    });
    s.text = because == q.whole.dropped().end()
                 ? "it is not in the catalog yet"
                 : redact::cut_for_people(redact::redactor::redact(because->reason), longest_reason, {.mark = " …"});
    s.mend = because == q.whole.dropped().end() ? "mcpbx wait" : "give it a name with tools.rename of its entry";
    return s;
  }
  const auto own = quoted(tool.own);
  if (terms == nullptr) return s;
  const auto& naming = terms->naming;
  if (naming.rename.contains(tool.own))
    s.text += ", which tools.rename of its entry gives to " + own;
  else if (tool.name == tool.own)
    s.text += ", the server's own (toolNames is plain)";
  else if (tool.name == naming.prefix + "__" + tool.own)
    s.text += ", made of the server's name and its own";
  else if (naming.plain)
    s.text += ", since another tool or rule has the name " + own;
  else
    s.text += ", since " + own + " is too long, has other characters or clashes with another name";
  return s;
}

tool_step pins_step(const found_tool& tool) {
  if (tool.withheld == nullptr) return {"pins", true, "its definition is not withheld"};
  return {"pins", false, tool.withheld->why ? *tool.withheld->why : "its definition is withheld", "",
          "mcpbx pins show " + shell_word(tool.name)};
}

tool_step profile_step(const tool_question& q, const policy::tool_facts& facts, std::string& shown) {
  tool_step s{"profile", true, "no profile was named"};
  if (q.base == nullptr) {
    if (!q.usual_profile.empty())
      s.text += "; runs begin under " + quoted(q.usual_profile) + " unless they name another";
    return s;
  }
  const std::string profile = "the profile " + quoted(q.profile);
  const stored::tool_choice choice{{}, q.base->allow, q.base->deny, q.base->rename};
  const auto decided = policy::decide_offer(choice, facts);
  s.ok = decided.allows();
  s.pattern = std::string(decided.text);
  if (s.ok) {
    s.text = profile + " offers it";
    if (const auto renamed = q.base->rename.find(facts.names.name); renamed != q.base->rename.end()) {
      shown = renamed->second;
      s.text += " as " + quoted(shown);
    }
  } else if (decided.by == policy::rule::denied) {
    s.text = "tools.deny of " + profile + " has " + quoted(decided.text);
    s.mend = "take it out of profiles." + std::string(q.profile) + ".tools.deny, then `mcpbx reload`";
  } else {
    s.text = "tools.allow of " + profile + " names other tools only";
    s.mend = "add " + quoted(facts.names.name) + " to profiles." + std::string(q.profile) +
             ".tools.allow, then `mcpbx reload`";
  }
  return s;
}

void judge_approval(const tool_question& q, const policy::tool_facts& facts, tool_reasons& r) {
  // Nobody can be asked for a tool server, so a rule that asks denies, and names itself.
  const auto decided = policy::decide(policy::direct_caller{q.rules, false}, facts);
  r.approval_pattern = std::string(decided.text);
  switch (decided.by) {
    case policy::rule::profile_approve:
      r.approval = "approve of the profile has " + quoted(decided.text);
      break;
    case policy::rule::entry_approve:
      r.approval = "approve of the entry " + quoted(r.server) + " has " + quoted(decided.text);
      break;
    case policy::rule::approve_destructive:
      r.approval = "approveDestructive is set, and the tool may destroy something";
      break;
    case policy::rule::approve_after_output:
      r.approval = "approveAfterOutput is set, and the tool may destroy something";
      break;
    default:
      r.approval_pattern.clear();
      return;
  }
  r.needs_approval = true;
}

// Explains a tool that no server lists: its server may be down, or the name is nearly right.
void explain_unknown(const tool_question& q, tool_reasons& r) {
  std::vector<std::string> names;
  for (const auto& s : q.servers) names.push_back(s.name);
  const auto prefixes = mcp::catalogs::settle_prefixes(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!q.name.starts_with(prefixes[i] + "__")) continue;
    r.server = names[i];
    auto step = server_step(q, names[i]);
    const auto list = q.listed(names[i]);
    if (step.ok && !list) step = {"server", false, step.text + " and has not told its tools yet", "", "mcpbx wait"};
    const bool listed = step.ok;
    r.steps.push_back(std::move(step));
    if (listed) r.steps.push_back({"list", false, "it lists no tool of this name", "", "mcpbx tools"});
    break;
  }
  r.near = q.whole.similar(q.name);
}

}  // namespace

tool_reasons explain(const tool_question& q) {
  tool_reasons r;
  auto tool = in_catalog(q);
  if (!tool) {
    auto all = in_lists(q);
    if (all.size() > 1 && all.front().name != q.name) {
      for (const auto& one : all)
        if (r.near.size() < most_near) r.near.push_back(one.name);
      return r;
    }
    if (!all.empty()) tool = std::move(all.front());
  }
  if (!tool) {
    explain_unknown(q, r);
    return r;
  }
  r.name = tool->name;
  r.server = tool->server;
  r.own = tool->own;
  const auto* terms = policy::terms_of(q.rules.entries, tool->server);
  r.steps.push_back(server_step(q, tool->server));
  r.steps.push_back({"list", true, "it lists " + quoted(tool->own)});
  r.steps.push_back(filter_step(terms, *tool));
  // A tool that its server's entry hides has no name, pins or profile.
  if (r.steps.back().ok) {
    r.steps.push_back(name_step(q, terms, *tool));
    if (tool->entry || tool->withheld != nullptr) {
      r.steps.push_back(pins_step(*tool));
      const auto facts = tool->entry ? policy::facts_of(*tool->entry) : policy::facts_of(tool->name, *tool->withheld);
      r.steps.push_back(profile_step(q, facts, r.name));
      auto as_offered = facts;
      as_offered.withheld = nullptr;
      judge_approval(q, as_offered, r);
    }
  }
  const bool all_ok = std::ranges::all_of(r.steps, &tool_step::ok);
  r.is = all_ok ? tool_reasons::outcome::offered : tool_reasons::outcome::hidden;
  return r;
}

json::raw_json to_json(const tool_question& q, const tool_reasons& r) {
  std::string json;
  json::json_writer w(json);
  using enum tool_reasons::outcome;
  w.begin_object().members("tool", q.name, "outcome",
                           r.is == offered  ? "offered"
                           : r.is == hidden ? "hidden"
                                            : "unknown");
  w.filled("name", r.name).filled("server", r.server).filled("own", r.own).filled("profile", q.profile);
  w.key("steps").begin_array();
  for (const auto& s : r.steps) {
    w.begin_object().members("check", s.check, "ok", s.ok, "text", s.text);
    w.filled("pattern", s.pattern).filled("mend", s.mend).end_object();
  }
  w.end_array();
  if (!r.own.empty()) {
    w.key("approval").begin_object().member("needed", r.needs_approval).filled("text", r.approval);
    w.filled("pattern", r.approval_pattern).end_object();
  }
  if (r.is == unknown) w.list("near", r.near);
  w.end_object();
  return w.json();
}

}  // namespace mcpbx::daemon::rpc_door
