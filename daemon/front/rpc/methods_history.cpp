// Methods that look back through the journal: mcpbx/stats counts, mcpbx/sessions/find searches. Both read page by page,
// so that runs go on between two pages, and end after a bounded time.
#include "daemon/front/rpc/methods.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

/// Longest time of one look back. The answer then has the part that was read, and says so.
constexpr milliseconds longest_look{10'000};
constexpr std::int64_t day_ms = 86'400'000;
constexpr std::size_t most_find_bytes = 1024;

constexpr std::array<std::string_view, 4> groups{"model", "server", "tool", "day"};

struct stats_params {
  std::int64_t days = 30;
  std::size_t by = 0;
};

stats_params read_stats(mcp::server::param_reader& in, const rpc_caller& c) {
  stats_params p;
  p.days = in.integer("days", 1, 36'500).value_or(p.days);
  p.by = in.word("by", groups).value_or(0);
  if (!stored::is_person(c.principal())) in.wrong("", "expected the person, who alone may count the runs of everybody");
  return p;
}

void append_counts(json::json_writer& out, const stored::usage_counts& c, bool calls_only) {
  if (!calls_only) {
    out.member("runs", c.runs).member("failedRuns", c.failed_runs);
    out.member("modelCalls", c.model_calls).member("failedModelCalls", c.failed_model_calls);
    out.member("inputTokens", c.input_tokens).member("outputTokens", c.output_tokens);
    out.member("cachedTokens", c.cached_tokens);
  }
  out.member("calls", c.calls).member("failedCalls", c.failed_calls);
}

/// Writes the rows of a group, those with most calls and tokens first; days in order.
template <class Map, class Name>
void append_group(json::json_writer& out, const Map& group, bool calls_only, bool in_order, Name name) {
  struct place {
    std::int64_t tokens, calls;  ///< negative, so that the largest come first
    std::size_t at;
    const typename Map::value_type* row;
  };
  std::vector<place> rows;
  for (const auto& one : group) {
    const auto& c = one.second;
    rows.push_back({-c.input_tokens - c.output_tokens, -c.calls - c.runs, rows.size(), &one});
  }
  if (!in_order) std::ranges::sort(rows, {}, [](const place& p) { return std::tuple(p.tokens, p.calls, p.at); });
  out.key("rows").begin_array();
  for (const auto& p : rows) {
    out.begin_object();
    name(p.row->first);
    append_counts(out, p.row->second, calls_only);
    out.end_object();
  }
  out.end_array();
}

json::raw_json stats_of(const stored::usage_report& r, const stats_params& p, std::int64_t since_ms, bool complete) {
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("by", groups.at(p.by)).member("days", p.days).member("sinceMs", since_ms);
  out.member("complete", complete).key("total").begin_object();
  append_counts(out, r.total, false);
  out.end_object();
  const auto plain = [&](const std::string& name) { out.member(groups.at(p.by), name); };
  if (p.by == 0) append_group(out, r.models, false, false, plain);
  if (p.by == 1) append_group(out, r.servers, true, false, plain);
  if (p.by == 2)
    append_group(out, r.tools, true, false, [&](const stored::usage_report::tool_name& name) {
      out.member("tool", name.first).member("server", name.second);
    });
  if (p.by == 3) append_group(out, r.days, false, true, plain);
  out.end_object();
  return out.json();
}

/// One look back over any number of pages. It lives in the handlers of its pages.
class counting : public std::enable_shared_from_this<counting> {
 public:
  counting(front::door_context& door, const stats_params& p, mcp::server::reply_once reply)
      : door_(door), params_(p), reply_(std::move(reply)), ends_(door.time.now() + longest_look) {
    // Whole days, so that the first row is no smaller than it was.
    const std::int64_t today = door.time.wall_ms() / day_ms;
    where_.since_ms = std::max<std::int64_t>(0, today - p.days + 1) * day_ms;
  }
  void go_on() {
    door_.daemon.store().count_usage(
        where_, [self = shared_from_this()](result<store::journal::usage_page> page) { self->take(std::move(page)); });
  }

 private:
  void take(result<store::journal::usage_page> page) {
    if (!reply_.open()) return;
    if (!page) return reply_.error(mcp::server::to_rpc_error(page.error()));
    report_ += page->report;
    where_.before = page->next;
    if (page->next != 0 && door_.time.now() < ends_) return go_on();
    reply_.result(stats_of(report_, params_, where_.since_ms, page->next == 0));
  }

  front::door_context& door_;
  stats_params params_;
  mcp::server::reply_once reply_;
  time_point ends_;
  stored::look_back where_;
  stored::usage_report report_;
};

struct find_params {
  std::string words;
  std::size_t limit = 20;
  bool all = false;
};

find_params read_find(mcp::server::param_reader& in, const rpc_caller& c) {
  find_params p;
  p.words = in.text("words", most_find_bytes).value_or("");
  p.limit = static_cast<std::size_t>(in.integer("limit", 1, 1'000).value_or(20));
  p.all = in.boolean("all").value_or(false);
  if (!in.failed() && search::word_search(p.words).empty()) in.wrong("words", "expected one word or more, got none");
  if (!stored::is_person(c.principal())) in.wrong("", "expected the person, who alone may search the sessions");
  return p;
}

class finding : public std::enable_shared_from_this<finding> {
 public:
  finding(front::door_context& door, find_params p, std::string who, mcp::server::reply_once reply)
      : door_(door),
        params_(std::move(p)),
        who_(std::move(who)),
        reply_(std::move(reply)),
        ends_(door.time.now() + longest_look) {}
  void go_on() {
    door_.daemon.store().find_words(
        where_, params_.words, params_.limit - found_.size(),
        [self = shared_from_this()](result<store::journal::found_page> page) { self->take(std::move(page)); });
  }

 private:
  void take(result<store::journal::found_page> page) {
    if (!reply_.open()) return;
    if (!page) return reply_.error(mcp::server::to_rpc_error(page.error()));
    for (auto& one : page->runs)
      if (params_.all || one.principal.empty() || one.principal == who_) found_.push_back(std::move(one));
    where_.before = page->next;
    if (page->reached_ms != 0) reached_ms_ = page->reached_ms;
    if (page->next != 0 && found_.size() < params_.limit && door_.time.now() < ends_) return go_on();
    reply_.result(told(page->next == 0));
  }

  json::raw_json told(bool complete) const {
    std::string json;
    json::json_writer out(json);
    out.begin_object().member("complete", complete);
    if (!complete) out.member("reachedMs", reached_ms_);
    out.key("found").begin_array();
    for (const auto& one : found_)
      out.begin_object()
          .members("session", one.session, "run", one.run, "startedMs", one.started_ms, "role", one.role, "line",
                   one.line)
          .end_object();
    out.end_array().end_object();
    return out.json();
  }

  front::door_context& door_;
  find_params params_;
  std::string who_;
  mcp::server::reply_once reply_;
  time_point ends_;
  stored::look_back where_;
  std::vector<stored::word_hit> found_;
  std::int64_t reached_ms_ = 0;
};

}  // namespace

void add_history_methods(front::own_methods& table) {
  table.bind("mcpbx/stats", read_stats, [](rpc_caller& c, const stats_params& p, const mcp::server::reply_once& reply) {
    std::make_shared<counting>(c.door(), p, reply)->go_on();
  });
  table.bind("mcpbx/sessions/find", read_find,
             [](rpc_caller& c, const find_params& p, const mcp::server::reply_once& reply) {
               std::make_shared<finding>(c.door(), p, c.principal(), reply)->go_on();
             });
}

}  // namespace mcpbx::daemon::rpc_door
