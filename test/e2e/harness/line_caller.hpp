// A raw caller of the daemon's socket: JSON-RPC lines, written and read as they are. It shares no code with mcpbx.
#pragma once
#include <boost/json.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::e2e {

namespace json = boost::json;

/// Parses a line that must be JSON; fails the test otherwise.
json::value parse(std::string_view text);
/// The value at a path such as "result.content.0.text"; null when there is none.
json::value at(const json::value& v, std::string_view path);
/// The same as text: a string without its quotes, anything else serialized, "" for nothing.
std::string text_at(const json::value& v, std::string_view path);
/// `text` as a JSON string.
std::string json_string(std::string_view text);

/// A response.
struct reply {
  std::string line;  ///< as it came
  json::value value;
  bool failed() const { return value.is_object() && value.as_object().contains("error"); }
  int code() const;
  /// error.message
  std::string message() const { return text_at(value, "error.message"); }
  /// The text of the first content block of a tool's result.
  std::string text() const { return text_at(value, "result.content.0.text"); }
  json::value get(std::string_view path) const { return at(value, path); }
};

class caller {
 public:
  explicit caller(const std::string& socket);
  ~caller() { close(); }
  caller(caller&& other) noexcept;
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  /// Writes a line; what arrives meanwhile is kept.
  void send(std::string_view line);
  void send_bytes(std::string_view bytes);
  /// Writes what fits into the socket's buffer and reads nothing; how much that was.
  std::size_t send_unread(std::string_view bytes) const;
  /// The next line that is no list_changed; nullopt when the daemon has closed. Fails the test after 30 s.
  std::optional<std::string> read_line();
  /// The same, for when it must come.
  std::string line();
  /// Says that nothing more comes (a half-closed socket); reading goes on.
  void end_input() const;
  /// Returns true if the daemon closes within the watchdog's time; lines before that are dropped.
  bool closed_by_peer();

  /// Sends a request and gives its id; `params` is JSON.
  std::int64_t start(std::string_view method, std::string_view params = "{}");
  std::int64_t start_call(std::string_view tool, std::string_view arguments = "{}");
  /// Waits for the response with this id. Other responses are kept; notifications go to `notifications`.
  reply wait(std::int64_t id);
  /// Waits until a notification of this method is there, and takes it.
  json::value wait_notification(std::string_view method);
  /// Waits until a run has told an event of this type, and takes it and what was told before it.
  json::value wait_event(std::string_view type);
  reply request(std::string_view method, std::string_view params = "{}") { return wait(start(method, params)); }
  reply call(std::string_view tool, std::string_view arguments = "{}") { return wait(start_call(tool, arguments)); }
  void notify(std::string_view method, std::string_view params = "{}");
  void cancel(std::int64_t id);
  /// The handshake; gives the response to `initialize`.
  reply initialize(std::string_view revision = "2025-11-25");
  /// The entry of mcpbx/servers with this name; fails the test when there is none.
  json::value server(std::string_view name);
  std::string state(std::string_view name) { return text_at(server(name), "state"); }
  /// Names that tools/list gives.
  std::vector<std::string> tool_names();

  void close();
  std::deque<json::value> notifications;

 private:
  bool take_line(int wait_ms);
  std::optional<std::string> any_line();
  int fd_ = -1;
  std::int64_t next_ = 1;
  std::string in_;
  std::size_t scanned_ = 0;
  std::deque<std::string> lines_;
  std::map<std::int64_t, reply> replies_;
  bool ended_ = false;
};

}  // namespace mcpbx::e2e
