// One event of a streamed answer: its name, and JSON that begins with its type.
#pragma once
#include "mcp/json/json_writer.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon::dialects {

/// Writes an event to the end of `out`, which must outlive it. The object is open until the destructor closes it. The
/// name stands in front too, since official clients ignore events without it.
class stream_event {
 public:
  stream_event(std::string& out, std::string_view type)
      : w(out += "event: " + std::string(type) + "\ndata: "), out_(out) {
    w.begin_object().member("type", type);
  }
  ~stream_event() {
    w.end_object();
    out_ += "\n\n";
  }
  stream_event(const stream_event&) = delete;
  stream_event& operator=(const stream_event&) = delete;

  json::json_writer w;  ///< for the further members

 private:
  std::string& out_;
};

}  // namespace mcpbx::daemon::dialects
