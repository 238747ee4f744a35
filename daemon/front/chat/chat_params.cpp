// Reading of each member of mcpbx/chat, and merging with the settings of profile, session and configuration.
#include "daemon/front/chat/chat_params.hpp"

#include "conf/loop/loop_choices.hpp"
#include "daemon/front/chat/chat_messages.hpp"
#include "daemon/front/chat/request_bounds.hpp"
#include "daemon/loop/core/answer_format.hpp"
#include "daemon/loop/core/stricter.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/text.hpp"
#include "mcp/trace/trace_meta.hpp"
#include "providers/schema/validator/json_schema.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace mcpbx::daemon::chat {
namespace {

using mcp::server::param_reader;

constexpr std::size_t longest_name = 128;

using bounds = decltype(chat_defaults::bound);

void take_number(param_reader& in, std::string_view key, std::int64_t& into, const bounds& bound_of) {
  const limit_bound b = bound_of(key);
  if (const auto given = in.integer(key, b.least, b.most)) into = *given;
  if (b.ceiling && ((b.zero_is_none && into == 0) || into > *b.ceiling)) into = *b.ceiling;
}

template <conf::loop::worded E>
void take(param_reader& in, std::string_view key, E& into) {
  if (const auto word = in.word(key, conf::loop::words_of<E>)) into = static_cast<E>(*word);
}
void take(param_reader& in, std::string_view key, bool& into) {
  if (const auto on = in.boolean(key)) into = *on;
}
void take(param_reader& in, std::string_view key, std::string& into) {
  auto text = in.text(key);
  if (!text) return;
  if (text->empty()) in.wrong(key, "expected a text, got \"\"");
  into = std::move(*text);
}
void take(param_reader& in, std::string_view key, conf::loop::switch_or_text& into) {
  const auto given = in.any(key);
  if (!given) return;
  if (given.type() == json::raw_json::kind::boolean)
    into = {given.is_true(), {}};
  else if (auto text = given.as_string())
    into = {!text->empty(), std::move(*text)};
  else
    in.expected(key, "true, false or a text", given);
}
void take(param_reader& in, std::string_view key, conf::loop::round_prompt_texts& into) {
  const auto given = in.object(key);
  if (!given) return;
  param_reader texts = in.inside(given, "." + std::string(key));
  const auto lay = [&](std::string_view name, std::optional<std::string>& to) {
    if (auto text = texts.text(name)) to = std::move(*text);
  };
  lay("first", into.first);
  lay("middle", into.middle);
  lay("last", into.last);
  (void)texts.finish();
}

void take_model(param_reader& in, std::string_view key, std::string& into, const chat_defaults& defaults) {
  auto model = in.text(key, 512);
  if (!model) return;
  if (model->empty())
    in.wrong(key, "expected the name of a model, got \"\"");
  else if (const auto known = defaults.model(*model); !known)
    in.wrong(key, known.error().message);
  into = std::move(*model);
}

void read_limits(param_reader& in, stored::run_limits& l, const chat_defaults& defaults) {
  for (const auto& n : conf::loop::loop_numbers()) take_number(in, n.key, l.*n.settled, defaults.bound);
  conf::loop::each_choice([&](const auto& m) {
    if (!m.in_files) return;
    if constexpr (conf::loop::is_text<decltype(m.settled)>)
      if (m.names_model) return take_model(in, m.key, l.*m.settled, defaults);
    take(in, m.key, l.*m.settled);
  });
}

// Checks that the request's own limits are consistent; limits of the configuration yield to them without an error.
void check_limits(const param_reader& in, param_reader& limits, const run::run_request& r) {
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  if (limits.failed()) return;
  const auto calls = limits.integer("maxCalls", 0, any), per_round = limits.integer("maxCallsPerRound", 0, any);
  if (calls && per_round && *per_round > *calls)
    limits.wrong("maxCallsPerRound", "expected at most maxCalls, which is " + std::to_string(*calls) + ", got " +
                                         std::to_string(*per_round));
  const bool names_tools = !r.client_tools.empty() || (!r.tools.only.empty() && !r.tools.only.front().empty());
  if (names_tools && limits.integer("maxRounds", 0, any) == 0)
    limits.wrong("maxRounds", "expected at least 1, because the request names tools; with 0 no tool is offered");
  if (!in.has("approve") || r.limits.approve != stored::approval_mode::all) return;
  for (const std::string_view key : {"approveDestructive", "approveAfterOutput"})
    if (limits.boolean(key).value_or(false))
      limits.wrong(key, "expected false, because \"approve\" is \"all\", with which nothing is asked");
}

// Reads `status`, which is a member of the request and also, as a key of `loop`, one of its limits.
void read_both_status(param_reader& in, param_reader& limits, stored::run_limits& l) {
  const auto& status_words = conf::loop::words_of<stored::status_mode>;
  const auto near = in.word("status", status_words), far = limits.word("status", status_words);
  if (near && far && near != far)
    return in.wrong("status", "expected " + json::json_quoted(status_words[*far]) + ", which limits.status is, got " +
                                  json::json_quoted(status_words[*near]) + "; leave out one of the two");
  if (near || far) l.status = static_cast<stored::status_mode>(near ? *near : *far);
}

// Reads the members that are checked first, so that their errors name their path.
void read_client_tool(param_reader& tool) {
  static constexpr std::array<std::string_view, 1> types{"object"};
  const auto name = tool.text("name");
  if (!tool.has("name"))
    tool.wrong("name", "expected the name of the tool, got nothing");
  else if (const auto good = tools::check_caller_tool_name(name.value_or("")); !good)
    tool.wrong("name", good.error().message);
  const auto schema = tool.object("inputSchema");
  if (!tool.has("inputSchema"))
    tool.wrong("inputSchema", "expected a JSON Schema of the type \"object\", got nothing");
  else if (schema)
    tool.inside(schema, ".inputSchema").word("type", types);
}

void read_client_tools(param_reader& in, run::run_request& r) {
  std::size_t index = 0;
  text_set names;
  json::for_each_element(in.array("clientTools"), [&](const json::raw_json& definition) {
    if (index == most_client_tools) {
      in.wrong("clientTools", "expected at most " + std::to_string(most_client_tools) + " tools, got more");
      return false;
    }
    const auto place = "clientTools[" + std::to_string(index++) + "]";
    const auto name = json::member_text(definition, "name");
    param_reader tool = in.inside(definition, "." + place);
    read_client_tool(tool);
    if (const auto good = tools::check_caller_tool(definition); !good)
      in.wrong(place, good.error().message);
    else if (!names.insert(name).second)
      tool.wrong("name", "the name " + json::json_quoted(name) + " is there twice");
    r.client_tools.push_back(definition);
    return !in.failed();
  });
}

// Reads the settings of the request's model and profile; the request's own members override them.
void read_base(param_reader& in, run::run_request& r, const chat_defaults& defaults, std::string_view usual_profile) {
  auto model = in.text("model", 512);
  auto profile = in.text("profile", 512);
  if (model && model->empty()) in.wrong("model", "expected the name of a model, got \"\"");
  if (profile && profile->empty()) in.wrong("profile", "expected the name of a profile, got \"\"");
  const auto as_model = profile_named_as_model(model ? std::string_view(*model) : std::string_view());
  if (as_model) {
    if (profile) in.wrong("profile", "expected either a profile or a model that is one, got both");
    profile = std::string(*as_model);
    model.reset();
  }
  if (profile && !usual_profile.empty() && *profile != usual_profile)
    in.wrong(as_model ? "model" : "profile",
             "expected the profile " + json::json_quoted(usual_profile) + ", which this connection keeps to, got " +
                 json::json_quoted(*profile) + "; open another connection for another profile");
  if (in.failed()) return;
  if (model)
    if (const auto known = defaults.model(*model); !known) return in.wrong("model", known.error().message);
  auto base = defaults.base(model.value_or(""), profile ? std::string_view(*profile) : usual_profile);
  if (!base) return in.wrong(as_model ? "model" : "profile", base.error().message);
  if (in.has("system")) base->system = std::string();  // the request has its own, which is read later
  if (const auto begun = begin_with(r, std::move(*base)); !begun)
    in.wrong(as_model ? "model" : "profile", begun.error().message);
}

// Returns the members of both objects; those of `nearer` take precedence.
json::raw_json laid_over(const json::raw_json& nearer, const json::raw_json& farther) {
  if (!nearer || !farther) return nearer ? nearer : farther;
  auto all = json::raw_object::open(nearer);
  const auto rest = json::raw_object::open(farther);
  if (!all || !rest) return nearer;
  rest->for_each([&](std::string_view key, const json::raw_json& value) {
    if (!all->contains(key)) all->set(key, value);
  });
  return all->json();
}

// Reads profile, tools and limits. Without a profile, a request in a session keeps the profile of the session's latest
// run (as configured now) and the tools and limits that run asked for. The request's own members override these.
void read_terms(const param_reader& in, run::run_request& r, const chat_defaults& defaults,
                std::string_view usual_profile, const json::raw_json& limits) {
  r.asked_limits = limits ? limits.detached() : limits;  // must outlive the request's line, which may be large
  if (r.session.empty() || in.failed()) return;
  if (in.has("profile") || !usual_profile.empty() || (in.has("model") && !r.profile.empty())) return;
  r.keep_terms = [defaults, limits = r.asked_limits, model = in.has("model") ? r.model : "", system = in.has("system"),
                  tools = in.has("tools"), approve = in.has("approve"),
                  status = in.has("status")](run::run_request& mine, const stored::run_terms& terms) -> result<void> {
    auto base = defaults.base(model, terms.profile);
    if (!base)
      return fail(base.error().code, "params.session: the session " + mine.session + " has the profile " +
                                         json::json_quoted(terms.profile) + ", and " + base.error().message +
                                         "; name another one to go on with it");
    const auto said = mine;
    if (system) base->system = said.system;
    if (auto begun = begin_with(mine, std::move(*base)); !begun) return begun;
    if (!tools) mine.tools.only = terms.tools;
    for (const auto& some : {terms.limits, limits}) {
      param_reader numbers(some, "params.limits");  // the session's limits were checked by the earlier request
      read_limits(numbers, mine.limits, defaults);
    }
    if (status) mine.limits.status = said.limits.status;
    if (approve) mine.limits.approve = said.limits.approve;
    mine.asked_limits = laid_over(limits, terms.limits);
    return {};
  };
}

// Bounds the patterns, because each is matched with the name of every tool.
constexpr std::size_t most_globs = 256, longest_glob = 256;

void read_names(param_reader& in, run::run_request& r) {
  if (auto run = in.text("run", longest_name)) {
    if (run->empty() || redact::printable(*run) != *run) in.wrong("run", "expected a name of 1 to 128 printable bytes");
    r.run = std::move(*run);
  }
  if (auto session = in.text("session", longest_name)) {
    if (session->empty()) in.wrong("session", "expected the id of a session, got \"\"");
    r.session = std::move(*session);
  }
  if (const auto keep = in.integer("keep", 0, 1'000'000'000)) {
    r.keep = static_cast<std::size_t>(*keep);
    if (r.session.empty()) in.wrong("keep", "expected a session beside it, got none");
  }
  if (auto system = in.text("system")) r.system = std::move(*system);
  if (auto tools = in.texts("tools")) {
    r.tools.only = std::move(*tools);
    if (r.tools.only.size() > most_globs)
      in.wrong("tools", "expected at most " + std::to_string(most_globs) + " patterns, got " +
                            std::to_string(r.tools.only.size()) + "; * stands for any characters");
    if (std::ranges::any_of(r.tools.only, [](const auto& glob) { return glob.size() > longest_glob; }))
      in.wrong("tools", "expected patterns of at most " + std::to_string(longest_glob) + " bytes, got a longer one");
    // An empty list asks for no tools, but a run reads it as all tools; no tool has an empty name.
    if (r.tools.only.empty()) r.tools.only.emplace_back();
  }
}

// Computes the fingerprint that tells if a named run was begun by the same request: its bytes, with the members in any
// order.
void read_likeness(const param_reader& in, run::run_request& r) {
  static constexpr std::array<std::string_view, 5> about_the_stream{"run", "stream", "answers", "detach", "_meta"};
  const std::string rest = in.others(about_the_stream);
  r.name_only = rest.empty();
  r.likeness = r.name_only ? 0 : std::max<std::uint64_t>(stable_hash(rest), 1);
}

}  // namespace

std::optional<std::string_view> profile_named_as_model(std::string_view model) {
  constexpr std::string_view mark = "profile:";
  if (!model.starts_with(mark)) return std::nullopt;
  return model.substr(mark.size());
}

// Merges the run's own limits with the present configuration, as at its start. Its ceilings are the present ones, also
// for numbers that it did not ask for.
result<void> keep_to_present_terms(run::run_request& r, const chat_defaults& defaults) {
  auto now = defaults.base(r.model, r.profile);
  if (!now) return std::unexpected(std::move(now.error()));
  now->limits.approve = r.limits.approve;  // chosen by the request itself
  param_reader asked(r.asked_limits ? r.asked_limits : json::raw_json::literal("{}"), "limits");
  read_limits(asked, now->limits, defaults);
  r.limits = core::stricter(std::move(r.limits), now->limits);
  r.approve.insert(r.approve.end(), now->approve.begin(), now->approve.end());
  stored::kept_terms kept = r.tools.beside ? *r.tools.beside : stored::kept_terms();
  kept.allow = std::move(now->allow);
  kept.deny = std::move(now->deny);
  r.tools.beside = std::make_shared<const stored::kept_terms>(std::move(kept));
  r.links = {std::move(now->resources.allow), std::move(now->resources.deny)};
  return {};
}

result<void> begin_with(run::run_request& r, chat_base base) {
  if (!base.system) return std::unexpected(std::move(base.system.error()));
  r.system = std::move(*base.system);
  r.profile = std::move(base.profile);
  r.model = std::move(base.model);
  r.tools.allow = std::move(base.allow);
  r.tools.deny = std::move(base.deny);
  r.tools.rename = std::move(base.rename);
  r.approve = std::move(base.approve);
  r.links = {std::move(base.resources.allow), std::move(base.resources.deny)};
  r.limits = std::move(base.limits);
  r.configured = std::move(base.configured);
  return {};
}

void read_response_format(param_reader& in, std::string_view key, run::run_request& r) {
  static constexpr std::array<std::string_view, 3> types{"text", "json_object", "json_schema"};
  const auto given = in.object(key);
  if (!given) return;
  param_reader format = in.inside(given, "." + std::string(key));
  const auto type = format.word("type", types);
  if (!format.has("type")) format.wrong("type", "expected \"text\", \"json_object\" or \"json_schema\", got nothing");
  auto schema = format.object("schema");
  std::string place = "schema";
  // OpenAI nests the schema one level deeper.
  if (const auto inner = format.object("json_schema")) {
    param_reader nested = format.inside(inner, ".json_schema");
    nested.text("name");
    nested.text("description");
    nested.boolean("strict");
    schema = nested.object("schema");
    place = "json_schema.schema";
    (void)nested.finish();
  }
  (void)format.finish();
  if (!type || in.failed() || types[*type] == "text") return;
  if (types[*type] == "json_object")
    schema = json::raw_json::literal(R"({"type":"object"})");
  else if (!schema)
    return format.wrong(place, "expected a JSON Schema, got nothing");
  const auto compiled = providers::schema::json_schema::compile(schema);
  if (!compiled) return format.wrong(place, compiled.error().message);
  // Refuses schemas that cannot be checked, because their fulfilment would be promised all the same.
  if (!compiled->notes().empty()) {
    const auto& fault = compiled->notes().front();
    return format.wrong(place + fault.path, "expected " + fault.expected + ", got " + fault.found);
  }
  if (const auto choice = core::empty_choice(schema); !choice.empty())
    return format.wrong(place + choice, "expected at least one value, because no answer fits an empty list, got []");
  r.answer_schema = std::move(schema);
}

run::run_request read_chat(param_reader& in, const chat_defaults& defaults, std::string_view usual_profile) {
  run::run_request r;
  read_base(in, r, defaults, usual_profile);
  read_names(in, r);
  r.stream = in.boolean("stream").value_or(true);
  r.answers = in.boolean("answers").value_or(false);
  r.detach = in.boolean("detach").value_or(false);
  r.trace = trace::trace_in_meta(in.any("_meta"));
  if (!r.run.empty()) read_likeness(in, r);
  if (!r.name_only) read_chat_messages(in, r);
  const json::raw_json given = in.object("limits");
  param_reader limits = in.inside(given.empty() ? json::raw_json::literal("{}") : given, ".limits");
  read_limits(limits, r.limits, defaults);
  read_both_status(in, limits, r.limits);
  take(in, "approve", r.limits.approve);
  read_client_tools(in, r);
  check_limits(in, limits, r);
  (void)limits.finish();
  read_response_format(in, "responseFormat", r);
  read_terms(in, r, defaults, usual_profile, given);
  return r;
}

}  // namespace mcpbx::daemon::chat
