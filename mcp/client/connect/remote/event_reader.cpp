// Cuts events into fields, byte runs at a time.
#include "mcp/client/connect/remote/event_reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcpbx::mcp::remote {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t longest_field = 16;
/// Bound on the waiting time that a server may name: a day.
constexpr std::int64_t longest_retry_ms = 86'400'000;

}  // namespace

void event_reader::feed(std::string_view bytes, event_sink& sink) {
  while (begins_ && !bytes.empty()) {
    if (bytes.front() == byte_order_mark[mark_bytes_]) {
      bytes.remove_prefix(1);
      if (++mark_bytes_ == byte_order_mark.size()) begins_ = false;
    } else {
      begins_ = false;
    }
  }
  // The bytes from the next line feed on. It is looked for once, since lines may end without one.
  std::size_t tail = std::string_view::npos;
  while (!bytes.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    if (tail > bytes.size()) tail = bytes.size() - std::min(bytes.find('\n'), bytes.size());
    auto end = bytes.size() - tail;
    end = std::min(bytes.substr(0, end).find('\r'), end);
    std::string_view piece = bytes.substr(0, end);
    if (!piece.empty()) line_is_empty_ = false;
    if (part_ == part::field) {
      const auto colon = piece.find(':');
      const auto name = piece.substr(0, colon);
      if (field_.size() + name.size() > longest_field) {
        part_ = part::skipped;
      } else {
        field_ += name;
        if (colon != std::string_view::npos) {
          piece.remove_prefix(colon + 1);
          begin_value();
        }
      }
    }
    if (part_ == part::blank && !piece.empty()) {
      if (piece.front() == ' ') piece.remove_prefix(1);
      part_ = field_ == "data" ? part::data : field_ == "event" ? part::name : field_ == "id" ? part::id : part::retry;
    }
    if (part_ != part::field && part_ != part::blank && !piece.empty()) take_value(piece, sink);
    if (end == bytes.size()) return;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(sink);
  }
}

// Begins the value of a field whose colon has come.
void event_reader::begin_value() {
  value_.clear();
  too_long_ = false;
  const bool known = field_ == "data" || field_ == "event" || field_ == "id" || field_ == "retry";
  if (known || field_.empty()) saw_field_ = true;
  part_ = known ? part::blank : part::skipped;
}

void event_reader::take_value(std::string_view piece, event_sink& sink) {
  switch (part_) {
    case part::data:
      if (std::exchange(has_data_, true) && value_.empty()) sink.on_event_data("\n");
      value_ = "+";  // marks that this line has given a piece
      return sink.on_event_data(piece);
    case part::name:
    case part::id:
    case part::retry: {
      const std::size_t most = part_ == part::id ? longest_id : longest_name;
      if (value_.size() + piece.size() > most)
        too_long_ = true;
      else
        value_ += piece;
      return;
    }
    default:
      return;
  }
}

void event_reader::end_line(event_sink& sink) {
  if (line_is_empty_) {
    const std::string name = std::exchange(name_, {});
    id_ = next_id_;
    if (std::exchange(has_data_, false)) sink.on_event_end(name);
  } else {
    if (part_ == part::field) begin_value();  // a field without a colon has an empty value
    if (part_ == part::blank)
      part_ = field_ == "data" ? part::data : field_ == "event" ? part::name : field_ == "id" ? part::id : part::retry;
    switch (part_) {
      case part::data:
        if (value_.empty()) {  // an empty line of data
          if (std::exchange(has_data_, true)) sink.on_event_data("\n");
        }
        break;
      case part::name:
        name_ = too_long_ ? "?" : value_;
        break;
      case part::id:
        // An id that cannot be sent back is worse than none: the stream would be resumed at a wrong place.
        next_id_ = too_long_ || value_.contains('\0') ? std::string() : value_;
        break;
      case part::retry: {
        std::int64_t ms = -1;
        const auto [stop, ec] = std::from_chars(value_.data(), value_.data() + value_.size(), ms);
        if (!too_long_ && ec == std::errc() && stop == value_.data() + value_.size() && ms >= 0)
          retry_ = milliseconds(std::min(ms, longest_retry_ms));
        break;
      }
      default:
        break;
    }
  }
  part_ = part::field;
  field_.clear();
  value_.clear();
  line_is_empty_ = true;
}

void event_reader::restart() {
  part_ = part::field;
  field_.clear();
  value_.clear();
  name_.clear();
  next_id_ = id_;
  mark_bytes_ = 0;
  begins_ = line_is_empty_ = true;
  after_cr_ = has_data_ = too_long_ = false;
}

}  // namespace mcpbx::mcp::remote
