// Judges lists of tools by the file of pins. If the file cannot be used, tools of servers with `block` are withheld.
#include "daemon/guard/pins/pin_worker.hpp"

#include "daemon/guard/pins/pin_words.hpp"
#include "daemon/guard/state_file.hpp"
#include "mcp/crypto/sha256.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace mcpbx::daemon::pins {
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

mcp::catalogs::withheld_ptr withhold_all(const mcp::protocol::feature_list& tools, const std::string& why) {
  auto all = std::make_shared<mcp::catalogs::withheld_names>();
  const auto clause = std::make_shared<const std::string>(why);
  for (const auto& tool : *tools) all->emplace(tool.key, clause);
  return all;
}

// Compares a server's list with its pins and decides which tools are withheld. Returns true if the book has changed.
bool decide(pin_listing& s, pin_book& book, const std::string& now) {
  s.decision = {};
  if (s.server.mode == pin_mode::off) return false;
  const auto known = book.find(s.server.name);
  if (known == book.end()) {
    if (s.tools->empty()) return false;  // the server may have failed to list them
    approve(book[s.server.name], *s.tools, s.server.origin, now);
    return true;
  }
  const bool taken_over = take_over(known->second, *s.tools, s.server.origin) > 0;
  const auto tools = compare(known->second, *s.tools, s.server.origin);
  s.decision.notice = pin_words::notice(s.server.name, s.server.mode, tools);
  if (s.server.mode != pin_mode::block || s.decision.notice.empty()) return taken_over;
  auto withheld = std::make_shared<mcp::catalogs::withheld_names>();
  const auto changed = std::make_shared<const std::string>(pin_words::changed());
  const auto added = std::make_shared<const std::string>(pin_words::added());
  for (const auto& t : tools)
    if (differs(t.state)) withheld->emplace(t.tool, t.state == pin_state::changed ? changed : added);
  s.decision.withheld = std::move(withheld);
  return taken_over;
}

std::vector<naming_server> naming_servers(const pin_job& job) {
  std::vector<naming_server> all;
  for (const auto& s : job.servers) {
    if (!s.server.plain_name) continue;
    naming_server n{s.server.name, &s.server.plain_name, {}};
    if (s.tools)
      for (const auto& tool : *s.tools) n.tools.push_back(tool.key);
    all.push_back(std::move(n));
  }
  return all;
}

// Decides which of the judged tools have no plain name. Returns true if the book has changed.
bool decide_names(pin_job& job, name_book& names) {
  const auto servers = naming_servers(job);
  if (servers.empty()) return false;
  // Until every server has listed its tools, free names are assigned in a copy of the book only.
  name_book lent;
  if (!job.settled) lent = names;
  name_claims claims(job.settled ? names : lent, servers);
  const bool changed = claims.settle() && job.settled;
  for (auto& s : job.servers)
    if (s.judge && s.server.plain_name)
      if (auto without = claims.without_name(s.server.name); !without.empty())
        s.decision.prefixed = std::make_shared<const mcp::catalogs::tool_names>(std::move(without));
  return changed;
}

// Gives no tool a plain name, because the owners of names are unknown.
void prefix_all(pin_listing& s, const std::string& why) {
  if (!s.server.plain_name || s.tools->empty()) return;
  auto all = std::make_shared<mcp::catalogs::tool_names>();
  for (const auto& tool : *s.tools) all->insert(tool.key);
  s.decision.prefixed = std::move(all);
  if (s.decision.notice.empty()) s.decision.notice = pin_words::names_unknown(s.server.name, why);
}

void add_row(pin_list_request& l, const pinned_server& s, const compared_tool& t, const server_pins& pins,
             const mcp::protocol::feature_item* listed) {
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
  if (l.definitions && listed) row.listed = json::raw_json::own(pinned_part(listed->definition));
  l.report.rows.push_back(std::move(row));
}

void fill_rows(pin_list_request& l, const pin_job& job, const pin_book& book) {
  std::set<std::string_view> configured;
  for (const auto& s : job.servers) {
    configured.insert(s.server.name);
    const auto& pins = pins_in(book, s.server.name);
    if (s.tools && s.server.mode != pin_mode::off) {
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
  l.report.sha256 = rows_hash(l.report.rows);
}

// Fails unless the present definitions are the ones that were shown.
result<void> same_as_shown(const pin_job& job, const pin_book& book, const pin_accept_request& a) {
  if (a.sha256.empty()) return {};
  pin_list_request now{.which = a.which, .definitions = false, .then = {}};
  fill_rows(now, job, book);
  const auto& [file, problem, rows, hash] = now.report;
  const bool one = !a.which.tool.empty() && rows.size() == 1;
  if (hash == a.sha256 || (one && rows.front().sha256 == a.sha256)) return {};
  const std::string what = json::json_quoted(a.which.tool.empty() ? a.which.server : a.which.tool);
  if (!one)
    return fail(errc::invalid_argument,
                "what is listed of " + what + " is not what has that hash; look at it again with `mcpbx pins show`");
  return fail(errc::invalid_argument,
              "the definition of " + what + " is another one by now (" +
                  (rows.front().sha256.empty() ? "it is gone" : "its hash is " + rows.front().sha256) +
                  "); look at it again");
}

// Approves the removal of a server that is no longer configured.
result<std::size_t> forget(const pin_job& job, pin_file& file, const pin_accept_request& a) {
  const pin_choice& which = a.which;
  pin_book& book = file.pins;
  const auto known = book.find(which.server);
  if (known == book.end())
    return fail(errc::not_found, "there are no pins of a tool server " + json::json_quoted(which.server));
  if (auto same = same_as_shown(job, book, a); !same) return std::unexpected(same.error());
  forget_names(file.names, which.server, which.tool);
  std::size_t count = known->second.size();
  if (which.tool.empty())
    book.erase(known);
  else
    count = known->second.erase(which.tool);
  return count;
}

result<std::size_t> accept(const pin_job& job, pin_file& file, const pin_accept_request& a) {
  pin_book& book = file.pins;
  const auto& [server, tool] = a.which;
  const auto found = std::ranges::find(job.servers, server, [](const pin_listing& s) { return s.server.name; });
  if (found == job.servers.end()) return forget(job, file, a);
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
    if (row == rows.end()) return fail(errc::not_found, who + " has no tool " + json::json_quoted(tool));
  }
  if (auto same = same_as_shown(job, book, a); !same) return std::unexpected(same.error());
  return approve(book[server], *found->tools, found->server.origin, job.now, tool);
}

}  // namespace

std::string rows_hash(const std::vector<pin_row>& rows) {
  std::vector<std::string> all;
  for (const auto& r : rows)
    all.push_back(json::json_quoted(r.server) + "," + json::json_quoted(r.tool) + "," + json::json_quoted(r.sha256));
  std::ranges::sort(all);  // servers list in any order
  std::string text;
  for (const auto& one : all) text += "[" + one + "]";
  return crypto::sha256_hex(text);
}

void pin_worker::work(pin_job& job) {
  if (!path_) return cannot_compare(job, path_.error());
  auto file = read();
  if (!file) return cannot_compare(job, file.error());
  if (!apply(job, *file)) return;
  if (auto written = write(job); !written) cannot_write(job, written.error());
}

result<pin_file> pin_worker::read() {
  const auto text = guard::read_state_file(*path_, longest_file);
  if (!text) return fail(text.error().code, pin_words::broken_file(*path_, text.error()));
  if (!*text) return pin_file();
  auto file = read_pins(**text);
  if (!file) return fail(errc::io, pin_words::broken_file(*path_, file.error()));
  return file;
}

// Reads the file again under the lock, because another daemon may have written it meanwhile.
result<void> pin_worker::write(pin_job& job) {
  if (auto made = guard::make_folder_of(*path_); !made) return made;
  const auto lock = guard::state_lock::take(*path_);
  if (!lock) return std::unexpected(lock.error());
  auto file = read();
  if (!file) return std::unexpected(file.error());
  if (!apply(job, *file)) return {};
  return guard::replace_state_file(*path_, to_text(*file));
}

void pin_worker::fill(pin_list_request& l, const pin_job& job, const pin_book& book) const {
  l.report = {};
  l.report.file = *path_;
  fill_rows(l, job, book);
}

// Applies approvals and decisions. Returns true if the file has changed.
bool pin_worker::apply(pin_job& job, pin_file& file) {
  bool dirty = false;
  for (auto& a : job.accepts) {
    a.outcome = accept(job, file, a);
    dirty = dirty || (a.outcome && *a.outcome > 0);
  }
  for (auto& s : job.servers)
    if (s.judge) dirty = decide(s, file.pins, job.now) || dirty;
  dirty = decide_names(job, file.names) || dirty;
  for (auto& l : job.lists) fill(l, job, file.pins);
  return dirty;
}

// Decides without the file: withholds all tools of servers with `block`.
void pin_worker::cannot_compare(pin_job& job, const error& why) {
  job.failed = true;
  for (auto& s : job.servers) {
    if (!s.judge) continue;
    s.decision = {};
    if (s.tools->empty()) continue;
    if (s.server.mode != pin_mode::off)
      s.decision.notice = pin_words::notice(s.server.name, s.server.mode, why.message);
    if (s.server.mode == pin_mode::block)
      s.decision.withheld = withhold_all(s.tools, pin_words::unreadable(why.message));
    prefix_all(s, why.message);
  }
  for (auto& a : job.accepts) a.outcome = std::unexpected(why);
  for (auto& l : job.lists) l.report = {path_.value_or(""), why.message, {}, {}};
}

// Takes back approvals and first pins, because they could not be written.
void pin_worker::cannot_write(pin_job& job, const error& why) {
  job.failed = true;
  auto file = read();
  if (!file) return cannot_compare(job, file.error());
  for (auto& a : job.accepts) a.outcome = std::unexpected(why);
  const pin_book on_disk = file->pins;
  const auto naming = naming_servers(job);
  const name_claims names(file->names, naming);
  for (auto& s : job.servers) {
    if (!s.judge) continue;
    const bool first_seen = !on_disk.contains(s.server.name);
    const bool changed = decide(s, file->pins, job.now);
    // Names that cannot be stored are not assigned.
    if (auto without = names.without_name(s.server.name); !without.empty()) {
      s.decision.prefixed = std::make_shared<const mcp::catalogs::tool_names>(std::move(without));
      if (s.decision.notice.empty()) s.decision.notice = pin_words::names_unknown(s.server.name, why.message);
    }
    if (!changed || !first_seen) continue;
    const std::string clause = pin_words::unwritable(why.message);
    s.decision.notice = pin_words::notice(s.server.name, s.server.mode, clause);
    if (s.server.mode == pin_mode::block) s.decision.withheld = withhold_all(s.tools, clause);
  }
  for (auto& l : job.lists) {
    fill(l, job, on_disk);
    l.report.problem = why.message;
  }
}

}  // namespace mcpbx::daemon::pins
