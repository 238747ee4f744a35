// Walks through the lines of a transcript; each kind of section has a function.
#include "test/transcripts/player.hpp"

#include "test/transcripts/journal_text.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace mcpbx::transcripts {
namespace {

namespace json = boost::json;

// A line as an object; nothing where it is none.
std::optional<json::object> object_of(std::string_view line) {
  std::error_code wrong;
  auto v = json::parse(line, wrong);
  if (wrong || !v.is_object()) return std::nullopt;
  return std::move(v.as_object());
}

// Cuts a command at blanks; single quotes keep blanks.
std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false, inside = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) words.emplace_back();
    if (c != '\'') words.back() += c;
  }
  return words;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

player::player() = default;
player::~player() = default;

std::string player::play(std::string_view text) {
  out_.clear();
  for (const auto& line : lines_of(text)) {
    // These lines are the answers of an earlier play.
    if (line.starts_with("< ") || line == "<" || line.starts_with("! ") || line.starts_with("= ")) continue;
    if (line.starts_with("@@ ")) {
      close_section();
      out_ += line + "\n";
      open(line.substr(3));
    } else {
      take(line);
    }
  }
  close_section();
  return std::exchange(out_, {});
}

void player::finish() {
  for (const auto& [name, caller] : callers_) {
    caller->end_input();
    const auto rest = caller->rest();
    if (!rest.empty()) FAIL_CHECK("the caller ", name, " got what it did not wait for: ", names_.hide(rest));
  }
  callers_.clear();
}

void player::open(const std::string& head) {
  kind_ = head.substr(0, head.find(' '));
  argument_ = head.size() > kind_.size() ? head.substr(kind_.size() + 1) : "";
  body_.clear();
  if (kind_ == "caller") {
    auto& caller = callers_[argument_];
    if (!caller) caller = std::make_unique<wire>(daemon_->socket());
    caller_ = caller.get();
  } else if (kind_ == "leave") {
    callers_.erase(argument_);
  } else if (kind_ == "kill") {
    (void)daemon_->stop(SIGKILL);  // first, since a run that its callers leave is cancelled
    callers_.clear();
  } else if (kind_ == "start") {
    start_daemon();
  } else if (kind_ == "journal") {
    tell_journal();
  } else if (kind_ != "model" && kind_ != "daemon" && kind_ != "file" && kind_ != "http" && kind_ != "command") {
    FAIL("an unknown section: ", head);
  }
}

void player::close_section() {
  if (kind_ == "model") {
    model_ = std::make_unique<e2e::model_process>(body_);
    names_.place("@MODEL@", model_->url());
    names_.place("@ADDRESS@", model_->address());
  }
  if (kind_ == "daemon") start_daemon();
  if (kind_ == "file") (void)daemon_->write(argument_, names_.fill(body_));
  if (kind_ == "http") send_http();
  kind_.clear();
}

void player::take(std::string_view line) {
  if (kind_ == "http" && line.starts_with('>')) {
    out_ += std::string(line) + "\n";
    body_ += std::string(line.substr(std::min<std::size_t>(line.size(), 2))) + "\n";
    return;
  }
  if (kind_ == "http") send_http();
  out_ += std::string(line) + "\n";
  if (line.empty() || line.starts_with('#')) return;
  if (kind_ == "model" || kind_ == "daemon" || kind_ == "file")
    body_ += std::string(line) + "\n";
  else if (kind_ == "caller")
    take_caller(line);
  else if (kind_ == "command" && line.starts_with("> "))
    run_command(line.substr(2));
  else
    FAIL("a line that stands for nothing here: ", std::string(line));
}

// `> ` a request waits for its answer, `>>` nothing is waited for, `~ ` reads on until a line has these words.
void player::take_caller(std::string_view line) {
  if (line.starts_with("~ ")) return wait_until(line.substr(2));
  const bool waits = line.starts_with("> ");
  if (!waits && !line.starts_with(">> ")) FAIL("a line that stands for nothing here: ", std::string(line));
  const auto text = names_.fill(line.substr(waits ? 2 : 3));
  caller_->send(text + "\n");
  const auto request = object_of(text);
  if (!request || !request->contains("id") || !request->contains("method")) return;
  if (text.find("\"stream\":false") != std::string::npos)
    without_text_.insert(argument_ + " " + json::serialize(request->at("id")));
  if (!waits) return;
  for (;;) {
    const auto got = caller_->line();
    if (!got) return came("!", "the daemon has closed");
    came("<", *got);
    const auto answer = object_of(*got);
    if (answer && !answer->contains("method") && answer->contains("id") && answer->at("id") == request->at("id"))
      return;
  }
}

void player::wait_until(std::string_view words) {
  for (;;) {
    const auto got = caller_->line();
    if (!got) return came("!", "the daemon has closed");
    came("<", *got);
    if (names_.hide(*got).find(words) != std::string::npos) return;
  }
}

void player::came(std::string_view mark, std::string_view line) {
  out_ += mark;
  if (!line.empty()) out_ += " " + (told_without_text(line) ? names_.hide_with_number(line) : names_.hide(line));
  out_ += "\n";
}

bool player::told_without_text(std::string_view line) const {
  constexpr std::string_view start = R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"request":)";
  if (kind_ != "caller" || !line.starts_with(start)) return false;
  const auto id = line.substr(start.size(), line.find(',', start.size()) - start.size());
  return without_text_.contains(argument_ + " " + std::string(id));
}

// The words behind `daemon` or `start` are the tool servers that are ready before anybody connects.
void player::start_daemon() {
  if (daemon_ && daemon_->process().ended()) {
    daemon_->start();
  } else {
    names_.place("@TOOLBOX@", e2e::program("mcpbx-toolbox"));
    names_.place("@SERVER@", SCRIPTED_SERVER);
    names_.place("@VERSION@", MCPBX_VERSION);
    names_.place("uid:@UID@", "uid:" + std::to_string(::getuid()));
    daemon_ = std::make_unique<e2e::daemon_under_test>(e2e::config::of(names_.fill(body_)));
    names_.place("@DIR@", daemon_->dir());
    names_.place("@TAG@", daemon_->tag());
  }
  daemon_->wait_ready(split_words(argument_));
}

// Sends what stands behind `>`: a head, an empty line, a body, of which @LENGTH@ is the length. Without a length it is
// heads only.
void player::send_http() {
  if (body_.empty()) return;
  const auto text = names_.fill(std::exchange(body_, {}));
  const bool has_body = text.find("\nContent-Length: ") != std::string::npos;
  const auto head_end = has_body ? std::min(text.find("\n\n"), text.size()) : text.size();
  std::string request;
  for (const auto& line : lines_of(text.substr(0, head_end))) request += line + "\r\n";
  const auto body = head_end + 2 < text.size() ? text.substr(head_end + 2, text.size() - head_end - 3) : "";
  if (const auto at = request.find("@LENGTH@"); at != std::string::npos)
    request.replace(at, 8, std::to_string(body.size()));
  wire connection(daemon_->socket());
  connection.send(request + (has_body ? "\r\n" + body : ""));
  for (auto line : lines_of(without_chunks(connection.rest()))) {
    if (line.ends_with('\r')) line.pop_back();
    came("<", line);
  }
}

void player::run_command(std::string_view line) {
  auto words = split_words(names_.fill(line));
  const auto program = words.empty() ? "" : words.front();
  if (program != "mcpbx" && program != "mcpbxd") FAIL("no command of ours: ", std::string(line));
  words.erase(words.begin());
  const auto r = program == "mcpbx" ? e2e::run_cli(*daemon_, words) : e2e::run_daemon(*daemon_, words);
  for (const auto& l : lines_of(r.out)) came("<", l);
  for (const auto& l : lines_of(r.err)) came("!", l);
  came("=", std::to_string(r.status));
}

void player::tell_journal() {
  for (const auto& row : journal_rows(daemon_->file(".local/state/mcpbx/mcpbx.db"), daemon_->file("journal-copy")))
    came("<", row);
}

}  // namespace mcpbx::transcripts
