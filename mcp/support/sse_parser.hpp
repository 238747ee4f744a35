// Server-sent events from bytes that may be cut anywhere, with the deviations seen in the wild: LF, CRLF and CR mixed,
// a leading BOM, events without data. A core: it knows no socket.
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

  /// `max_event`: bytes of one line or event above which overflowed() becomes true and nothing more is read.
  explicit sse_parser(std::size_t max_event = 32u << 20) : max_event_(max_event) {}

  /// Takes bytes off the front of `input` up to the end of the next event that has data. True: `out` holds it; its
  /// views are good until the next call and while the bytes given are. False: all of `input` was taken.
  bool next(std::string_view& input, event& out);
  /// The bytes ended: true when an event without its closing empty line was left; it is data, but no proof that the
  /// stream was complete.
  bool finish(event& out);
  bool overflowed() const noexcept { return overflowed_; }
  /// Whether any line with a known field or a comment came: tells a stream from something else.
  bool saw_field() const noexcept { return saw_field_; }

 private:
  // Takes one line; true when it closed an event with data, which then is in data_ and name_.
  bool take_line(std::string_view line);

  std::size_t max_event_;
  std::string line_, data_, name_, given_, given_name_;
  bool has_data_ = false, skip_lf_ = false, first_line_ = true, overflowed_ = false, saw_field_ = false;
};

}  // namespace mcpbx
