// Reads server-sent events whose data are messages. Other than sse_parser it hands data on piece by piece as it comes,
// so that a message of many megabytes is held once, by its receiver; and it reads ids and waiting times, with which a
// dropped stream is resumed. No I/O.
#pragma once
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::mcp::remote {

/// Receiver of the parts of events. The stream must not be fed from inside.
class event_sink {
 public:
  virtual ~event_sink() = default;
  /// Takes a piece of the event's data, which holds no line break; between two lines comes a single "\n".
  virtual void on_event_data(std::string_view piece) = 0;
  /// Reports the end of an event. `name` is its `event` field, or "".
  virtual void on_event_end(std::string_view name) = 0;
};

class event_reader {
 public:
  /// Bounds in bytes on the fields that are kept. A longer id cannot be resumed from; a longer name is no known one.
  static constexpr std::size_t longest_id = 1024, longest_name = 64;

  /// Takes bytes, cut anywhere.
  void feed(std::string_view bytes, event_sink& sink);
  /// Begins another stream of the same events after a drop: half an event is forgotten, the last id is kept.
  void restart();

  /// Returns the id of the last whole event that had one or came after one, or "": an event that was cut has to come
  /// again (HTML, "Interpreting an event stream").
  const std::string& last_id() const noexcept { return id_; }
  /// Returns the time to wait before resuming that the server named last; negative: none.
  milliseconds retry() const noexcept { return retry_; }
  /// Returns true if a known field or a comment has come.
  bool saw_field() const noexcept { return saw_field_; }

 private:
  enum class part : std::uint8_t { field, blank, data, name, id, retry, skipped };
  void begin_value();
  void take_value(std::string_view piece, event_sink& sink);
  void end_line(event_sink& sink);

  part part_ = part::field;
  std::string field_;  // the name of the field that is being read
  std::string value_;  // the value of a field that is kept
  std::string name_, id_;
  std::string next_id_;          // the id that the end of the event brings
  std::uint8_t mark_bytes_ = 0;  // bytes received of a byte order mark
  bool begins_ = true;           // nothing but a part of such a mark has come
  bool after_cr_ = false, has_data_ = false, line_is_empty_ = true, too_long_ = false, saw_field_ = false;
  milliseconds retry_{-1};
};

}  // namespace mcpbx::mcp::remote
