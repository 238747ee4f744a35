// Cuts a stream into lines and checks each while it arrives.
#include "mcp/rpc/line_framer.hpp"

#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mcpbx::mcp::rpc {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t excerpt_bytes = 200;
constexpr std::string_view no_room = "too many bytes are held already to take this message in";

/// Returns the mention of a limit's configuration key in a text.
std::string mentioned(std::string_view key) {
  return key.empty() ? std::string() : " (" + std::string(key) + ")";
}

/// Returns the index of a value that is cut out of its text at `begin`.
json::envelope_index moved(json::envelope_index index, std::size_t begin) {
  if (begin == 0) return index;
  for (json::envelope_index::span& s : index.members) {
    if (!s.present()) continue;
    s.begin -= begin;
    s.end -= begin;
  }
  return index;
}

}  // namespace

void line_framer::feed(std::string_view chunk, message_sink& sink) {
  if (stream_begins_) skip_byte_order_mark(chunk, sink);
  while (!chunk.empty()) {
    const void* newline = std::memchr(chunk.data(), '\n', chunk.size());
    if (newline == nullptr) {
      take_part(chunk, false, sink);
      return;
    }
    const auto size = static_cast<std::size_t>(static_cast<const char*>(newline) - chunk.data());
    const std::string_view part = chunk.substr(0, size);
    chunk.remove_prefix(size + 1);
    if (part.data() == tail_.room().data() && !chunk.empty()) {
      const std::string rest(chunk);  // `chunk` lies in the buffer that is handed over
      take_part(part, true, sink);
      return feed(rest, sink);
    }
    take_part(part, true, sink);
  }
}

std::span<char> line_framer::room(std::size_t bytes) noexcept {
  const auto room = tail_.room();
  return phase_ == phase::reading && room.size() >= bytes ? room.first(bytes) : std::span<char>();
}

void line_framer::finish(message_sink& sink) {
  if (stream_begins_ && mark_bytes_ != 0) take_part(byte_order_mark.substr(0, mark_bytes_), false, sink);
  stream_begins_ = false;
  if (phase_ == phase::reading && scanner_.first_byte() != 0) {
    const bool json = scanner_.first_byte() == '{' || scanner_.first_byte() == '[';
    begin_fault(json ? message_fault::kind::malformed : message_fault::kind::noise, code::parse_error,
                "the line was cut off", {});
  }
  if (phase_ == phase::faulty) report(sink);
  end_line();
}

void line_framer::skip_byte_order_mark(std::string_view& chunk, message_sink& sink) {
  while (!chunk.empty()) {
    if (chunk.front() != byte_order_mark[mark_bytes_]) {
      stream_begins_ = false;
      if (mark_bytes_ != 0) take_part(byte_order_mark.substr(0, mark_bytes_), false, sink);
      return;
    }
    chunk.remove_prefix(1);
    if (++mark_bytes_ == byte_order_mark.size()) {
      stream_begins_ = false;
      return;
    }
  }
}

void line_framer::take_part(std::string_view part, bool last, message_sink& sink) {
  if (phase_ != phase::discarding) {
    const std::size_t room = options_.max_message_bytes - line_bytes_;
    const bool over = part.size() > room;
    // Ignore bytes behind the limit, so that the report does not depend on the cuts.
    part = part.substr(0, room);
    line_bytes_ += part.size();
    if (phase_ == phase::faulty) {
      if (fault_.excerpt.size() < excerpt_bytes)
        fault_.excerpt += part.substr(0, excerpt_bytes - fault_.excerpt.size());
    } else if (!scanner_.feed(part)) {
      scan_failed(part);
    } else if (over) {
      begin_fault(message_fault::kind::oversized, code::invalid_request,
                  "the message is larger than " + std::to_string(options_.max_message_bytes) + " bytes" +
                      mentioned(options_.max_message_bytes_key),
                  part);
    } else if (last) {
      if (scanner_.finish())
        deliver(part, sink);
      else if (scanner_.first_byte() != 0)
        scan_failed(part);
    } else if (tail_.size() + part.size() <= byte_account::small_message || byte_account::has_room(part.size())) {
      tail_.append(part);
    } else {
      begin_fault(message_fault::kind::oversized, code::invalid_request, std::string(no_room), part);
    }
    if (over) ++line_bytes_;
    if (phase_ == phase::faulty && (last || over || fault_.type == message_fault::kind::oversized)) report(sink);
  }
  if (last) end_line();
}

void line_framer::end_line() {
  scanner_.reset();
  tail_.clear();
  line_bytes_ = 0;
  phase_ = phase::reading;
}

void line_framer::deliver(std::string_view last_part, message_sink& sink) {
  const std::size_t begin = scanner_.value_begin(), size = scanner_.value_end() - begin;
  if (scanner_.first_byte() != '{' && scanner_.first_byte() != '[') {
    begin_fault(message_fault::kind::noise, code::invalid_request, "the line is JSON, but no message", last_part);
    return;
  }
  if (tail_.empty() && !byte_account::admits(size)) {
    begin_fault(message_fault::kind::oversized, code::invalid_request, std::string(no_room), last_part);
    return;
  }
  json::raw_json whole;
  if (tail_.empty()) {
    whole = json::raw_json::own(last_part.substr(begin, size));
  } else {
    tail_.append(last_part);
    const std::size_t line = tail_.size();
    const json::raw_json text = json::raw_json::whole(tail_.take());
    whole = text.slice(text.text().substr(begin, size));
    if (line - size > size / 8) whole = whole.detached();  // the line was mostly blanks
  }
  const bool deep = scanner_.saw_deep_result();
  // A lone CR between tokens ends no line here, but it does elsewhere, as in server-sent events.
  const bool broken = scanner_.saw_line_break() && whole.text().find('\r') != std::string_view::npos;
  auto m = scanner_.saw_invalid_utf8() ? repaired(whole)
           : broken ? parse_message(whole, deep ? json::json_scanner::most_depth : options_.max_depth)
                    : make_message(whole, moved(scanner_.envelope(), begin));
  if (m && !deep) {
    sink.on_message(std::move(*m));
    return;
  }
  phase_ = phase::faulty;
  if (m) {
    envelope_fault fault{
        .id = m->id, .is_response = true, .what = too_deep_at(scanner_.deep_offset()), .answers = true};
    fault_ = {message_fault::kind::too_deep, std::move(fault), 0, std::string(m->whole.text().substr(0, excerpt_bytes)),
              message_fault::deep_message{std::move(*m), options_.max_depth, options_.max_depth_key}};
    return;
  }
  fault_ = {
      message_fault::kind::malformed, std::move(m.error()), 0, std::string(whole.text().substr(0, excerpt_bytes)), {}};
}

std::expected<message, envelope_fault> line_framer::repaired(const json::raw_json& whole) {
  std::size_t replaced = 0;
  const std::string text = mcpbx::repaired_utf8(whole.text(), replaced);
  repaired_ += replaced;
  return parse_message(json::raw_json::own(text),
                       scanner_.saw_deep_result() ? json::json_scanner::most_depth : options_.max_depth);
}

std::string line_framer::too_deep_at(std::size_t offset) const {
  return "nested deeper than " + std::to_string(options_.max_depth) + " levels" + mentioned(options_.max_depth_key) +
         " at byte " + std::to_string(offset);
}

void line_framer::scan_failed(std::string_view part) {
  using fault = json::json_scanner::fault;
  // A second fault in a deep answer is not reported.
  const bool deep = scanner_.saw_deep_result();
  const fault what = deep ? fault::depth : scanner_.fault_kind();
  const char first = scanner_.first_byte();
  message_fault::kind type = message_fault::kind::noise;
  if (what == fault::depth)
    type = message_fault::kind::too_deep;
  else if (first == '{' || (first == '[' && what == fault::utf8))
    type = message_fault::kind::malformed;
  if (what == fault::depth)
    begin_fault(type, code::invalid_request, too_deep_at(deep ? scanner_.deep_offset() : scanner_.fault_offset()),
                part);
  else
    begin_fault(type, code::parse_error,
                std::string(json::to_string(what)) + " at byte " + std::to_string(scanner_.fault_offset()), part);
}

/// Notes the fault, and drops all of the line except the id and an excerpt.
void line_framer::begin_fault(message_fault::kind type, int code, std::string what, std::string_view part) {
  const auto cut = [&](std::size_t begin, std::size_t end) {
    std::string out(tail_.view().substr(std::min(begin, tail_.size()), end - begin));
    const std::size_t in_part = std::max(begin, tail_.size()) - tail_.size();
    if (out.size() < end - begin && in_part < part.size()) out += part.substr(in_part, end - begin - out.size());
    return out;
  };
  json::envelope_index index = scanner_.envelope();
  json::envelope_index::span& id = index.members[static_cast<std::size_t>(json::envelope_member::id)];
  const std::string id_text = cut(id.begin, id.end);
  id = {0, id_text.size()};
  fault_.type = type;
  fault_.envelope = fault_of(id_text, index, code, std::move(what));
  // A text of a tool server with an id and without a method is meant as an answer, however it continues.
  if (options_.repair_utf8 && !fault_.envelope.id.empty() && !index.has_seen(json::envelope_member::method) &&
      !index.has_seen(json::envelope_member::params))
    fault_.envelope.is_response = true;
  fault_.excerpt = cut(0, excerpt_bytes);
  phase_ = phase::faulty;
  tail_.clear();
}

void line_framer::report(message_sink& sink) {
  fault_.bytes = line_bytes_;
  phase_ = phase::discarding;
  sink.on_fault(std::exchange(fault_, {}));
}

}  // namespace mcpbx::mcp::rpc
