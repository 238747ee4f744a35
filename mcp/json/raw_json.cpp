// Raw JSON values and lists of text pieces. raw_object.cpp edits objects, json_string.cpp escapes strings.
#include "mcp/json/raw_json.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_walk.hpp"

#include <array>
#include <charconv>
#include <iterator>

namespace mcpbx::json {

result<raw_json> raw_json::parse(std::string_view text, int max_depth) {
  json_scanner scanner({.max_depth = max_depth});
  if (!scanner.feed(text) || !scanner.finish()) {
    const bool deep = scanner.fault_kind() == json_scanner::fault::depth;
    return fail(deep ? errc::limit : errc::parse,
                std::string(to_string(scanner.fault_kind())) + " at byte " + std::to_string(scanner.fault_offset()) +
                    (deep ? ": more than " + std::to_string(max_depth) + " levels" : ""));
  }
  return own(text.substr(scanner.value_begin(), scanner.value_end() - scanner.value_begin()));
}

raw_json raw_json::own(std::string_view checked_text) {
  return whole(shared_bytes::copy(checked_text));
}

raw_json raw_json::string(std::string_view text) {
  return own(json_quoted(text));
}

raw_json raw_json::integer(std::int64_t value) {
  std::array<char, 24> digits{};
  const auto [end, ec] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return own({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

raw_json::kind raw_json::type() const noexcept {
  if (view_.empty()) return kind::absent;
  switch (view_.front()) {
    case '{':
      return kind::object;
    case '[':
      return kind::array;
    case '"':
      return kind::string;
    case 't':
    case 'f':
      return kind::boolean;
    case 'n':
      return kind::null;
    default:
      return kind::number;
  }
}

std::optional<std::string> raw_json::as_string() const {
  if (!is_string()) return std::nullopt;
  return unescaped(view_);
}

std::optional<std::int64_t> raw_json::as_integer() const {
  std::int64_t value = 0;
  const auto [end, ec] = std::from_chars(view_.data(), view_.data() + view_.size(), value);
  if (ec != std::errc{} || end != view_.data() + view_.size()) return std::nullopt;
  return value;
}

void segments::append(raw_json piece) {
  if (piece.empty()) return;
  size_ += piece.text().size();
  if (count_ < few_.size()) {
    few_[count_++] = std::move(piece);
    return;
  }
  if (count_ == few_.size()) {
    many_.reserve(4 * few_.size());
    many_.assign(std::make_move_iterator(few_.begin()), std::make_move_iterator(few_.end()));
  }
  many_.push_back(std::move(piece));
  ++count_;
}

void segments::append_copy(std::string_view text) {
  append(raw_json::own(text));
}

std::string segments::str() const {
  std::string out;
  out.reserve(size_);
  for (const raw_json& piece : pieces()) out += piece.text();
  return out;
}

raw_json segments::join() const {
  if (count_ == 0) return {};
  if (count_ == 1) return pieces().front();
  byte_buffer out;
  out.reserve(size_);
  for (const raw_json& piece : pieces()) out.append(piece.text());
  return raw_json::whole(out.take());
}

std::size_t for_each_element(const raw_json& array, const std::function<bool(raw_json)>& f) {
  walk::element_walk elements(array.text());
  std::size_t visited = 0;
  while (elements.next()) {
    ++visited;
    if (!f(array.slice(elements.value))) break;
  }
  return visited;
}

std::string member_text(const raw_json& object, std::string_view key) {
  return find_member(object, key).as_string().value_or("");
}

}  // namespace mcpbx::json
