// Keeps the end of a server's stderr in a ring, and cuts it into log lines.
#include "mcp/client/connect/process/stderr_log.hpp"

#include "mcp/redact/cut_text.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::mcp::child {
namespace {

constexpr std::size_t longest_line = 1024;
constexpr std::size_t longest_last_line = 200;
/// 64 KiB at once, then 8 KiB per second: even an endless flood fills the log slowly.
constexpr double bytes_per_second = 8 << 10, bytes_at_once = 64 << 10;
/// Cost of a log line in addition to its text, in bytes.
constexpr double line_overhead = 64;
/// Bytes at the end of the stderr in which error_line() looks: as many as the status shows.
constexpr std::size_t searched_for_errors = 4096;
constexpr std::string_view python_traceback = "Traceback (most recent call last)";
/// In any case. A word may stand within another one ("ValueError: …").
constexpr std::array<std::string_view, 5> error_words = {"error", "cannot", "fatal", "panic", "exception"};

constexpr std::string_view blanks = " \t\r", count_ends = ",;.)]}|";

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

/// Removes `word` from the beginning of `text`, and returns true if it was there.
bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
}

/// Returns the error word at the beginning of `text`, or "".
std::string_view error_word_at(std::string_view text) {
  const auto found = std::ranges::find_if(error_words, [&](std::string_view word) { return text.starts_with(word); });
  return found == error_words.end() ? std::string_view() : *found;
}

/// Returns the word that stands before the error words at the end of `before` ("0" for "found 0 fatal ").
std::string_view word_before(std::string_view before) {
  for (int error_words_between = 0; error_words_between < 3; ++error_words_between) {
    const auto end = before.find_last_not_of(" \t");
    if (end == std::string_view::npos || end + 1 == before.size()) return {};  // no blank before the error word
    before = before.substr(0, end + 1);
    const auto blank = before.find_last_of(" \t([{:=,\"");
    const auto begin = blank == std::string_view::npos ? 0 : blank + 1;
    const auto word = before.substr(begin);
    if (error_word_at(word) != word || word.empty()) return word;
    before = before.substr(0, begin);
  }
  return {};
}

/// Returns true if what follows an error word counts none of them: "s: 0", "=0", "_count\": 0".
bool counts_none(std::string_view after, bool plural) {
  auto rest = after;
  if (!rest.empty() && std::string_view("_- ").contains(rest[0])) rest.remove_prefix(1);
  if (skip(rest, "count")) {
    plural = true;
    after = rest;
  }
  skip(after, "\"");
  skip_blanks(after);
  const bool assigned = after.starts_with('=');
  if (!skip(after, ":") && !skip(after, "=")) return false;
  skip_blanks(after);
  if (!skip(after, "0")) return false;
  const auto next = after.find_first_not_of(blanks);
  if (next == std::string_view::npos) return true;
  if (after.size() > 1 && after[0] == '.' && after[1] >= '0' && after[1] <= '9') return false;
  return next == 0 ? count_ends.contains(after[0]) : assigned || plural;  // "Error: 0 arguments given" is an error
}

/// Returns true if the error word in `line` says that there are no errors. The line is in lower case.
bool tells_of_none(std::string_view line, std::size_t at, std::size_t size) {
  std::string_view after = line.substr(at + size);
  const bool plural = skip(after, "(s)") || (skip(after, "s") && (after.empty() || !is_letter(after[0])));
  if (counts_none(after, plural)) return true;
  const auto before = word_before(line.substr(0, at));
  if (before == "0" || before == "zero") return true;
  if (before != "no" && before != "without") return false;
  if (plural || after.empty() || count_ends.contains(after[0])) return true;
  skip_blanks(after);
  return after.empty() || !error_word_at(after).empty();  // "no error handler" may be an error
}

/// Returns true for a line with an error word, unless it is a frame of a stack ("    at throwError (app.js:1:2)") or
/// only tells that there are no errors.
bool looks_like_error(std::string_view written) {
  const std::size_t text = written.find_first_not_of(" \t");
  if (text != std::string_view::npos && text != 0 && written.substr(text).starts_with("at ")) return false;
  std::string line(written);
  std::ranges::transform(line, line.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto word = error_word_at(std::string_view(line).substr(at));
    if (!word.empty() && !tells_of_none(line, at, word.size())) return true;
  }
  return false;
}

}  // namespace

stderr_log::stderr_log(std::string server, std::size_t ring_bytes, std::function<void(std::string_view)> taken)
    : server_(std::move(server)),
      taken_(std::move(taken)),
      ring_bytes_(std::max<std::size_t>(ring_bytes, 1)),
      rate_(bytes_per_second, bytes_at_once) {}

void stderr_log::feed(std::string_view bytes, time_point now) {
  keep(bytes);
  if (taken_ || log::enabled(log::level::info)) log_lines(bytes, now);
}

void stderr_log::begin_process() {
  of_process_ = 0;
  line_.clear();
  skipping_ = false;
}

void stderr_log::end_process(time_point now) {
  if (!line_.empty() && !skipping_) log_line(line_, true, now);
  line_.clear();
  skipping_ = false;
  log_dropped();
}

void stderr_log::keep(std::string_view bytes) {
  of_process_ = std::min(ring_bytes_, of_process_ + bytes.size());
  if (bytes.size() > ring_bytes_) bytes.remove_prefix(bytes.size() - ring_bytes_);
  const std::size_t grow = std::min(bytes.size(), ring_bytes_ - ring_.size());
  ring_.append(bytes.substr(0, grow));
  bytes.remove_prefix(grow);
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size(), ring_bytes_ - ring_at_);
    std::ranges::copy(bytes.substr(0, n), ring_.begin() + static_cast<std::ptrdiff_t>(ring_at_));
    ring_at_ = (ring_at_ + n) % ring_bytes_;
    bytes.remove_prefix(n);
  }
}

std::string stderr_log::kept() const {
  return ring_.substr(ring_at_) + ring_.substr(0, ring_at_);
}

void stderr_log::log_lines(std::string_view bytes, time_point now) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (!skipping_ && line_.size() + part.size() > longest_line) {
      line_ += part.substr(0, longest_line - line_.size());
      log_line(line_, true, now);
      line_.clear();
      skipping_ = true;
    } else if (!skipping_) {
      line_ += part;
    }
    if (end == std::string_view::npos) return;
    if (!skipping_) log_line(line_, false, now);
    line_.clear();
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
}

void stderr_log::log_line(std::string_view line, bool cut, time_point now) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  if (taken_) taken_(line);
  if (!log::enabled(log::level::info)) return;
  if (!rate_.take(now, static_cast<double>(line.size()) + line_overhead)) {
    dropped_ += line.size() + 1;
    dropped_total_ += line.size() + 1;
    return;
  }
  log_dropped();
  const bool long_one = cut && line.size() == longest_line;
  log::info("server " + server_ +
            " stderr: " + redact::cut_for_people(line, longest_line, {.cut = {.front = false, .back = cut}}) +
            (long_one ? " …" : ""));
}

void stderr_log::log_dropped() {
  if (dropped_ == 0) return;
  log::info("server " + server_ + " stderr: " + std::to_string(dropped_) +
            " bytes were not logged, it writes too fast");
  dropped_ = 0;
}

std::string stderr_log::tail(std::size_t bytes) const {
  // The process may be in the middle of a line, so the end counts as cut.
  return redact::tail_for_people(kept(), bytes, {.keep_lines = true, .cut = {.front = full(), .back = true}});
}

/// Calls `f(line, shown)` for each line of the present process, the last one first, until it returns false. `shown()`
/// returns the line for people, or "" if nothing can be seen in it.
template <class F>
void stderr_log::each_line_backwards(F&& f) const {
  const std::string all = kept();
  std::string_view text = std::string_view(all).substr(all.size() - std::min(of_process_, all.size()));
  bool unfinished = true;
  while (!text.empty()) {
    const std::size_t at = text.find_last_of('\n');
    const std::string_view line = at == std::string_view::npos ? text : text.substr(at + 1);
    const bool first_kept = at == std::string_view::npos && text.data() == all.data();
    const auto shown = [&] {
      auto words =
          redact::cut_for_people(line, longest_last_line, {.cut = {.front = first_kept && full(), .back = unfinished}});
      return words.find_first_not_of(" \t") == std::string::npos ? std::string() : words;
    };
    if (!f(line, shown) || at == std::string_view::npos) return;
    unfinished = false;
    text = text.substr(0, at);
  }
}

std::string stderr_log::last_line() const {
  std::string found;
  each_line_backwards([&](std::string_view, auto shown) {
    found = shown();
    return found.empty();
  });
  return found;
}

std::string stderr_log::error_line() const {
  std::string last, outermost, found;  // outermost: the first line without indentation behind the present one
  std::size_t seen = 0;
  each_line_backwards([&](std::string_view line, auto shown) {
    seen += line.size() + 1;
    if (line.starts_with(python_traceback) && !outermost.empty())
      found = outermost;
    else if (looks_like_error(line))
      found = shown();
    else if (last.empty())
      last = shown();
    if (line.find_first_of(" \t\r") != 0 && !line.empty()) outermost = shown();
    return found.empty() && seen < searched_for_errors;
  });
  return found.empty() ? last : found;
}

}  // namespace mcpbx::mcp::child
