// See pin_worker.hpp.
#include "daemon/guard/pin_worker.hpp"

#include "daemon/guard/pin_words.hpp"
#include "daemon/guard/state_file.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace mcpbx::daemon {
namespace {

constexpr std::size_t longest_file = std::size_t{256} << 20;

const server_pins& pins_in(const pin_book& book, const std::string& server) {
  static const server_pins none;
  const auto known = book.find(server);
  return known == book.end() ? none : known->second;
}

bool differs(pin_state s) {
  return s == pin_state::changed || s == pin_state::added;
}

mcp::withheld_ptr withhold_all(const mcp::tool_list& tools, const std::string& why) {
  auto all = std::make_shared<mcp::withheld_names>();
  const auto clause = std::make_shared<const std::string>(why);
  for (const auto& tool : *tools) all->emplace(tool.name, clause);
  return all;
}

// Whether the book has changed.
bool decide(pin_listing& s, pin_book& book, const std::string& now) {
  s.decision = {};
  const auto known = book.find(s.server.name);
  if (known == book.end()) {
    if (s.tools->empty()) return false;  // it may not have been able to list them
    approve(book[s.server.name], *s.tools, s.server.origin, now);
    return true;
  }
  const auto tools = compare(known->second, *s.tools, s.server.origin);
  s.decision.notice = pin_words::notice(s.server.name, s.server.mode, tools);
  if (s.server.mode != pin_mode::block || s.decision.notice.empty()) return false;
  auto withheld = std::make_shared<mcp::withheld_names>();
  const auto changed = std::make_shared<const std::string>(pin_words::changed());
  const auto added = std::make_shared<const std::string>(pin_words::added());
  for (const auto& t : tools)
    if (differs(t.state)) withheld->emplace(t.tool, t.state == pin_state::changed ? changed : added);
  s.decision.withheld = std::move(withheld);
  return false;
}

// A server that is not configured any more.
result<std::size_t> forget(pin_book& book, const pin_choice& which) {
  const auto known = book.find(which.server);
  if (known == book.end())
    return fail(errc::not_found, "there are no pins of a tool server " + json_quoted(which.server));
  std::size_t count = known->second.size();
  if (which.tool.empty())
    book.erase(known);
  else
    count = known->second.erase(which.tool);
  return count;
}

result<std::size_t> accept(const pin_job& job, pin_book& book, const pin_accept_request& a) {
  const auto& [server, tool] = a.which;
  const auto found = std::ranges::find(job.servers, server, [](const pin_listing& s) { return s.server.name; });
  if (found == job.servers.end()) return forget(book, a.which);
  const std::string who = "tool server \"" + server + "\"";
  if (found->server.mode == pin_mode::off)
    return fail(errc::invalid_argument, who + " has no pins: its entry says \"pin\": \"off\", or it is mcpbx's own");
  if (!found->tools)
    return fail(errc::invalid_argument,
                who +
                    " has not listed its tools since the daemon started, so there is nothing to approve; "
                    "`mcpbx servers` tells how it is");
  if (!tool.empty()) {
    const auto rows = compare(pins_in(book, server), *found->tools, found->server.origin);
    const auto row = std::ranges::find(rows, tool, &compared_tool::tool);
    if (row == rows.end()) return fail(errc::not_found, who + " has no tool " + json_quoted(tool));
    if (!a.sha256.empty() && row->sha256 != a.sha256)
      return fail(errc::invalid_argument, "the definition of " + json_quoted(tool) + " is another one by now (" +
                                              (row->sha256.empty() ? "it is gone" : "its hash is " + row->sha256) +
                                              "); look at it again");
  } else if (!a.sha256.empty()) {
    return fail(errc::invalid_argument, "a hash approves one tool; name it");
  }
  return approve(book[server], *found->tools, found->server.origin, job.now, tool);
}

void add_row(pin_list_request& l, const pinned_server& s, const compared_tool& t, const server_pins& pins,
             const mcp::tool_view* listed) {
  if (!l.which.server.empty() && l.which.server != s.name) return;
  if (!l.which.tool.empty() && l.which.tool != t.tool) return;
  pin_row row;
  row.server = s.name;
  row.tool = t.tool;
  row.mode = s.mode;
  row.state = t.state;
  row.withheld = s.mode == pin_mode::block && differs(t.state);
  row.origin_only = t.origin_only;
  row.sha256 = t.sha256;
  if (const auto p = pins.find(t.tool); p != pins.end()) {
    row.pinned_sha256 = p->second.sha256;
    row.pinned_at = p->second.pinned_at;
    if (l.definitions && p->second.definition) row.pinned = p->second.definition.detached();
  }
  if (l.definitions && listed) row.listed = raw_json::own(pinned_part(listed->definition));
  l.report.rows.push_back(std::move(row));
}

}  // namespace

void pin_worker::work(pin_job& job) {
  if (!path_) return cannot_compare(job, path_.error());
  auto book = read();
  if (!book) return cannot_compare(job, book.error());
  if (!apply(job, *book)) return;
  if (auto written = write(job); !written) cannot_write(job, written.error());
}

result<pin_book> pin_worker::read() {
  const auto text = read_state_file(*path_, longest_file);
  if (!text) return fail(text.error().code, pin_words::broken_file(*path_, text.error()));
  if (!*text) return pin_book();
  auto book = read_pins(**text);
  if (!book) return fail(errc::io, pin_words::broken_file(*path_, book.error()));
  return book;
}

// Anew and under the lock: another daemon may have written in the meantime.
result<void> pin_worker::write(pin_job& job) {
  if (auto made = make_folder_of(*path_); !made) return made;
  const auto lock = state_lock::take(*path_);
  if (!lock) return std::unexpected(lock.error());
  auto book = read();
  if (!book) return std::unexpected(book.error());
  if (!apply(job, *book)) return {};
  return replace_state_file(*path_, to_text(*book));
}

// Whether the book has changed.
bool pin_worker::apply(pin_job& job, pin_book& book) {
  bool dirty = false;
  for (auto& a : job.accepts) {
    a.outcome = accept(job, book, a);
    dirty = dirty || (a.outcome && *a.outcome > 0);
  }
  for (auto& s : job.servers)
    if (s.judge) dirty = decide(s, book, job.now) || dirty;
  for (auto& l : job.lists) fill(l, job, book);
  return dirty;
}

void pin_worker::fill(pin_list_request& l, const pin_job& job, const pin_book& book) {
  l.report = {};
  l.report.file = *path_;
  std::set<std::string_view> configured;
  for (const auto& s : job.servers) {
    configured.insert(s.server.name);
    const auto& pins = pins_in(book, s.server.name);
    if (s.tools) {
      const auto tools = compare(pins, *s.tools, s.server.origin);
      for (std::size_t i = 0; i < tools.size(); ++i)
        add_row(l, s.server, tools[i], pins, i < s.tools->size() ? &(*s.tools)[i] : nullptr);
    } else {
      for (const auto& [tool, p] : pins) add_row(l, s.server, {tool, pin_state::unseen, "", false}, pins, nullptr);
    }
  }
  for (const auto& [name, pins] : book)
    if (!configured.contains(name))
      for (const auto& [tool, p] : pins)
        add_row(l, {name, pin_mode::off, {}}, {tool, pin_state::gone, "", false}, pins, nullptr);
}

// Nothing is compared and nothing written: who is to be blocked is blocked whole.
void pin_worker::cannot_compare(pin_job& job, const error& why) {
  job.failed = true;
  for (auto& s : job.servers) {
    if (!s.judge) continue;
    s.decision = {};
    if (s.tools->empty()) continue;
    s.decision.notice = pin_words::notice(s.server.name, s.server.mode, why.message);
    if (s.server.mode == pin_mode::block)
      s.decision.withheld = withhold_all(s.tools, pin_words::unreadable(why.message));
  }
  for (auto& a : job.accepts) a.outcome = std::unexpected(why);
  for (auto& l : job.lists) l.report = {path_.value_or(""), why.message, {}};
}

// What was approved is not, and what was pinned at first sight is not trusted.
void pin_worker::cannot_write(pin_job& job, const error& why) {
  job.failed = true;
  auto book = read();
  if (!book) return cannot_compare(job, book.error());
  for (auto& a : job.accepts) a.outcome = std::unexpected(why);
  const pin_book on_disk = *book;
  for (auto& s : job.servers) {
    if (!s.judge || !decide(s, *book, job.now)) continue;
    const std::string clause = pin_words::unwritable(why.message);
    s.decision.notice = pin_words::notice(s.server.name, s.server.mode, clause);
    if (s.server.mode == pin_mode::block) s.decision.withheld = withhold_all(s.tools, clause);
  }
  for (auto& l : job.lists) {
    fill(l, job, on_disk);
    l.report.problem = why.message;
  }
}

}  // namespace mcpbx::daemon
