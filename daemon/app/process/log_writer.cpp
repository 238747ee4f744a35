// Writing of the log: a bounded queue that the main thread fills and one lane empties into spdlog.
#include "daemon/app/process/log_writer.hpp"

#include "daemon/app/process/stderr_file.hpp"
#include "mcp/json/json_scanner.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::daemon::process {
namespace {

spdlog::level::level_enum spdlog_level(log::level l) {
  switch (l) {
    case log::level::trace:
      return spdlog::level::trace;
    case log::level::debug:
      return spdlog::level::debug;
    case log::level::info:
      return spdlog::level::info;
    case log::level::warn:
      return spdlog::level::warn;
    case log::level::error:
      return spdlog::level::err;
    case log::level::off:
      break;
  }
  return spdlog::level::off;
}

// Returns the syslog priority of a level, as journald reads it from the start of a line on stderr.
std::string_view journal_prefix(log::level l) {
  switch (l) {
    case log::level::trace:
    case log::level::debug:
      return "<7>";
    case log::level::info:
      return "<6>";
    case log::level::warn:
      return "<4>";
    default:
      return "<3>";
  }
}

}  // namespace

std::string safe_log_line(std::string_view line) {
  std::size_t replaced = 0;
  std::string clean = redact::redactor::redact(repaired_utf8(line, replaced));
  std::string out;
  out.reserve(clean.size());
  for (unsigned char c : clean) {
    if (c >= 0x20 && c != 0x7f) {
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += ' ';
    } else {
      out += "\\x" + hex(c, 2);
    }
  }
  return redact::visible(out);
}

void say(std::string_view text, log::level l) {
  auto safe = redact::visible(redact::redactor::redact(std::string(text)), true);
  if (stderr_is_journal()) {
    // Each line is an entry of the journal, so each needs the priority.
    for (std::size_t at = 0; at < safe.size(); at = safe.find('\n', at) + 1) {
      safe.insert(at, journal_prefix(l));
      if (safe.find('\n', at) == safe.npos) break;
    }
  }
  std::fwrite(safe.data(), 1, safe.size(), stderr);
}

struct log_writer::queue {
  struct line {
    log::level level;
    std::string text;
  };

  queue(std::size_t most, std::string path) : max_bytes(most) {
    if (!path.empty()) file.emplace(std::move(path));
    const bool journal = stderr_is_journal();
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_st>();
    logger = std::make_unique<spdlog::logger>("mcpbxd", sink);
    logger->set_level(spdlog::level::trace);
    logger->set_pattern(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %^%-5l%$ %v");
    prefix = journal;
  }

  // Writes all queued lines. Runs on the lane.
  void drain() {
    std::vector<line> now;
    std::uint64_t lost = 0;
    {
      std::lock_guard hold(lock);
      now.swap(lines);
      bytes = 0;
      scheduled = false;
      lost = std::exchange(lost_since, 0);
    }
    for (const auto& l : now)
      logger->log(spdlog_level(l.level), "{}{}", prefix ? journal_prefix(l.level) : "", safe_log_line(l.text));
    if (lost != 0) logger->warn("{}{} log lines were dropped: the log could not keep up", prefix ? "<4>" : "", lost);
    logger->flush();
    if (file) file->look(anew.exchange(false));
  }

  void write(log::level level, std::string_view text) {
    {
      std::lock_guard hold(lock);
      if (bytes + text.size() > max_bytes) {
        ++lost_since;
        ++lost_total;
        return;
      }
      bytes += text.size();
      lines.push_back({level, std::string(text)});
      if (std::exchange(scheduled, true)) return;
    }
    schedule();
  }

  void schedule() {
    if (thread.post([this] { drain(); })) return;
    // No thread is available now; a later line takes the queued ones along.
    std::lock_guard hold(lock);
    scheduled = false;
  }

  const std::size_t max_bytes;
  std::optional<stderr_file> file;  // used on the lane only, like the logger
  std::atomic<bool> anew = false;   // the file is to be rotated at the next write
  std::unique_ptr<spdlog::logger> logger;
  bool prefix = false;
  mutable std::mutex lock;  // guards the queue, which two threads share
  std::vector<line> lines;
  std::size_t bytes = 0;
  bool scheduled = false;
  std::uint64_t lost_since = 0, lost_total = 0;
  async::lane thread{"log", 1};
};

log_writer::log_writer(log::level threshold, std::size_t max_queued, std::string file)
    : queue_(std::make_shared<queue>(max_queued, std::move(file))) {
  log::install(threshold, [q = queue_.get()](log::level l, std::string_view text) { q->write(l, text); });
}

log_writer::~log_writer() {
  log::install(log::level::off, {});
  queue_->thread.join();
  queue_->drain();
}

void log_writer::rotate() {
  queue_->anew = true;
  queue_->schedule();
}

std::uint64_t log_writer::dropped() const {
  std::lock_guard hold(queue_->lock);
  return queue_->lost_total;
}

}  // namespace mcpbx::daemon::process
