// Plays a transcript: starts what it describes, sends what it says, and writes down what comes. README.md has the form.
#pragma once
#include "test/e2e/harness/harness.hpp"
#include "test/transcripts/stable_names.hpp"
#include "test/transcripts/wire.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace mcpbx::transcripts {

class player {
 public:
  player();
  ~player();
  player(const player&) = delete;
  player& operator=(const player&) = delete;

  /// Plays a text and returns it with what came in place of what stood there. A later text goes on where this one
  /// ended. Fails the test when something does not come, and for a line that it cannot read.
  std::string play(std::string_view text);
  /// Ends all callers; fails the test for a line that nobody had waited for.
  void finish();
  /// The folder, once there is a daemon.
  const e2e::daemon_under_test& daemon() const { return *daemon_; }

 private:
  void open(const std::string& head);
  void close_section();
  void take(std::string_view line);
  void take_caller(std::string_view line);
  void start_daemon();
  void send_http();
  void run_command(std::string_view words);
  void tell_journal();
  void wait_until(std::string_view words);
  void came(std::string_view mark, std::string_view line);
  bool told_without_text(std::string_view line) const;

  names names_;
  std::unique_ptr<e2e::model_process> model_;
  std::unique_ptr<e2e::daemon_under_test> daemon_;
  std::map<std::string, std::unique_ptr<wire>, std::less<>> callers_;
  std::string kind_, argument_, body_, out_;  // of the section that is open; the text so far
  wire* caller_ = nullptr;
  std::set<std::string> without_text_;  // requests that asked for no texts: caller and id
};

/// Returns what differs between two transcripts, line by line, for people; "" where nothing does. With `open_dots` an
/// … in the expected text stands for any characters of a line.
std::string difference(std::string_view expected, std::string_view got, bool open_dots = false);

}  // namespace mcpbx::transcripts
