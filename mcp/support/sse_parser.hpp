// Parses server-sent events from bytes that may be cut anywhere. Accepts deviations seen in the field: mixed LF, CRLF
// and CR, a leading BOM, events without data. No I/O.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx {

class sse_parser {
 public:
  struct event {
    std::string_view name;  ///< the `event:` field, or ""
    std::string_view data;  ///< the data lines joined with LF
  };

  /// `max_event` is the largest line or event in bytes; above it overflowed() becomes true and nothing more is read.
  explicit sse_parser(std::size_t max_event = 32u << 20) : max_event_(max_event) {}

  /// Takes bytes from `input` up to the end of the next event with data. True: `out` holds it; its views are valid
  /// until the next call and as long as the given bytes. False: all of `input` was taken.
  bool next(std::string_view& input, event& out);
  /// Ends the stream. Returns true if an event without its empty line was left; that is data, but no proof of a
  /// complete stream.
  bool finish(event& out);
  bool overflowed() const noexcept { return overflowed_; }
  /// Returns true if a line with a known field or a comment has come, which distinguishes a stream from other content.
  bool saw_field() const noexcept { return saw_field_; }

 private:
  // Takes one line. Returns true if it closed an event with data, which is then in data_ and name_.
  bool take_line(std::string_view line);

  std::size_t max_event_;
  std::string line_, data_, name_, given_, given_name_;
  bool has_data_ = false, skip_lf_ = false, first_line_ = true, overflowed_ = false, saw_field_ = false;
};

}  // namespace mcpbx
