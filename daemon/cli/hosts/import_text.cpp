// Texts of other programs' files are shown printable, and secrets in commands are masked.
#include "daemon/cli/hosts/import_text.hpp"

#include "daemon/cli/config/config_change.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <set>

namespace mcpbx::cli::hosts {
namespace {

/// Columns that a name gets at most where no terminal limits the table.
constexpr std::size_t most_of_a_name = 72;

std::string outcome_of(const conf::imports::import_row& row) {
  const auto& s = *row.server;
  if (s.fate == conf::imports::server_fate::refused) return "refused";
  if (s.fate == conf::imports::server_fate::skipped) return "left out";
  if (!row.same_as.empty()) return "same as " + row.same_as;
  const auto* off = row.entry.find("disabled");
  return off != nullptr && off->value.truth ? "new, off" : "new";
}

std::string name_of_row(const conf::imports::import_row& row) {
  return row.name.empty() || row.name == row.server->name ? row.server->name : row.server->name + " → " + row.name;
}

std::string line_of(const conf::imports::import_row& row) {
  if (row.server->fate == conf::imports::server_fate::skipped) return row.server->why;
  return config::shown_entry(conf::documents::json_of(row.name.empty() ? row.server->entry : row.entry));
}

void write_texts(json::json_writer& w, std::string_view key, const std::vector<std::string>& texts) {
  w.key(key).begin_array();
  for (const auto& t : texts) w.value(t);
  w.end_array();
}

std::vector<std::string> texts_of_findings(const std::vector<conf::documents::diagnostic>& findings) {
  std::vector<std::string> out;
  for (const auto& f : findings) out.push_back(f.text());
  return out;
}

/// Returns the notes about a row: those of the reading, then those of the joining.
std::vector<std::string> notes_of(const conf::imports::import_row& row) {
  auto out = row.name.empty() ? std::vector<std::string>{} : texts_of_findings(row.server->notices);
  out.insert(out.end(), row.notes.begin(), row.notes.end());
  return out;
}

void show_lines(terminals::terminal& screen, std::string_view head, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  screen.out_line("");
  screen.out_line(std::string(head));
  for (const auto& line : lines) screen.out(terminals::framed("  ", line, screen.out_width()));
}

}  // namespace

void show_import(terminals::terminal& screen, const import_plan& plan) {
  terminals::fitted_table table({{"SERVER"}, {"PROGRAM", 1}, {"OUTCOME"}, {"COMMAND OR URL"}});
  table.wrap_last();
  std::vector<std::string> refused, notes;
  std::set<std::pair<std::string, std::string>> to_set;
  for (const auto& row : plan.rows) {
    const auto& s = *row.server;
    const auto how = s.fate == conf::imports::server_fate::refused ? terminals::look::red
                     : row.name.empty()                            ? terminals::look::dim
                                                                   : terminals::look::plain;
    table.add({{terminals::cut_columns(redact::visible(name_of_row(row)), most_of_a_name),
                std::string(s.from->title),
                {outcome_of(row), how},
                redact::visible(line_of(row))}});
    for (const auto& e : s.errors) refused.push_back(e.text());
    if (s.fate != conf::imports::server_fate::taken) continue;
    for (auto& n : notes_of(row)) notes.push_back(std::move(n));
    if (!row.name.empty()) to_set.insert(s.to_set.begin(), s.to_set.end());
  }
  if (!plan.rows.empty()) terminals::show(screen, table);
  show_lines(screen, "not read:", plan.faults);
  show_lines(screen, "refused, because something would be lost:", refused);
  show_lines(screen, "notes:", notes);
  std::vector<std::string> set;
  for (const auto& [name, words] : to_set) set.push_back(name + ": " + words);
  show_lines(screen, "variables to set where mcpbx is started:", set);
}

std::string import_json(const import_plan& plan, std::string_view write) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("servers").begin_array();
  for (const auto& row : plan.rows) {
    const auto& s = *row.server;
    w.begin_object();
    w.member("program", s.from->name).member("file", s.file).member("line", s.at.line).member("server", s.name);
    w.member("outcome", s.fate == conf::imports::server_fate::refused   ? "refused"
                        : s.fate == conf::imports::server_fate::skipped ? "leftOut"
                        : row.name.empty()                              ? "same"
                                                                        : "new");
    if (!row.name.empty()) w.member("name", row.name);
    if (!row.same_as.empty()) w.member("sameAs", row.same_as);
    if (!s.why.empty()) w.member("why", s.why);
    if (s.fate == conf::imports::server_fate::taken) w.member("shown", line_of(row));
    write_texts(w, "errors", texts_of_findings(s.errors));
    write_texts(w, "notes", notes_of(row));
    w.key("set").begin_array();
    for (const auto& [name, words] : s.to_set)
      w.begin_object().member("name", name).member("about", words).end_object();
    w.end_array().end_object();
  }
  w.end_array();
  write_texts(w, "faults", plan.faults);
  if (const auto report = json::raw_json::parse(std::string(write))) w.member("write", *report);
  w.end_object();
  return json;
}

}  // namespace mcpbx::cli::hosts
