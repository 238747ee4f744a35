// Parses lines, then fields. An event of one data line that is completely in the input is returned without a copy,
// since streams of models consist of such events.
#include "mcp/support/sse_parser.hpp"

#include <cstring>
#include <utility>

namespace mcpbx {
namespace {

constexpr auto npos = std::string_view::npos;

// Returns the position of the first CR or LF, or npos.
std::size_t line_end(std::string_view s) {
  const auto lf = s.find('\n');
  const auto cr = s.substr(0, lf).find('\r');
  return cr != npos ? cr : lf;
}

std::string_view value_of(std::string_view line, std::size_t colon) {
  auto v = line.substr(colon + 1);
  if (v.starts_with(' ')) v.remove_prefix(1);
  return v;
}

}  // namespace

bool sse_parser::take_line(std::string_view line) {
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    const bool whole = has_data_;
    given_.swap(data_);
    given_name_.swap(name_);
    data_.clear();
    name_.clear();
    has_data_ = false;
    return whole;
  }
  const auto colon = line.find(':');
  if (colon == 0) {
    saw_field_ = true;
    return false;
  }
  const auto field = line.substr(0, colon);
  const auto value = colon == npos ? std::string_view() : value_of(line, colon);
  if (field == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = saw_field_ = true;
    if (data_.size() > max_event_) overflowed_ = true;
  } else if (field == "event") {
    name_ = value;
    saw_field_ = true;
  } else if (field == "id" || field == "retry") {
    saw_field_ = true;
  }
  return false;
}

bool sse_parser::next(std::string_view& input, event& out) {
  while (!input.empty() && !overflowed_) {
    if (std::exchange(skip_lf_, false) && input.front() == '\n') {
      input.remove_prefix(1);
      continue;
    }
    // Common case: a complete data line and the empty line behind it.
    if (line_.empty() && !has_data_ && !first_line_ && name_.empty() && input.starts_with("data:")) {
      const auto lf = input.find('\n');
      if (lf != npos && lf <= max_event_ && lf + 1 < input.size() && input[lf + 1] == '\n' &&
          std::memchr(input.data(), '\r', lf) == nullptr) {
        out.name = {};
        out.data = value_of(input.substr(0, lf), 4);
        saw_field_ = true;
        input.remove_prefix(lf + 2);
        return true;
      }
    }
    const auto end = line_end(input);
    if (end == npos) {
      line_ += input;
      input = {};
      if (line_.size() > max_event_) overflowed_ = true;
      return false;
    }
    // The bound must not depend on the pieces of the line.
    if (line_.size() + end > max_event_) {
      overflowed_ = true;
      break;
    }
    auto line = input.substr(0, end);
    skip_lf_ = input[end] == '\r';
    input.remove_prefix(end + 1);
    bool whole;
    if (line_.empty()) {
      whole = take_line(line);
    } else {
      line_ += line;
      whole = take_line(line_);
      line_.clear();
    }
    if (whole) {
      out = {given_name_, given_};
      return true;
    }
  }
  input = {};
  return false;
}

bool sse_parser::finish(event& out) {
  if (overflowed_) return false;
  if (!line_.empty()) {
    take_line(line_);
    line_.clear();
  }
  if (!take_line({})) return false;
  out = {given_name_, given_};
  return true;
}

}  // namespace mcpbx
