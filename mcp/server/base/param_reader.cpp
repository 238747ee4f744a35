// Reads typed members of params and composes the errors.
#include "mcp/server/base/param_reader.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <map>

namespace mcpbx::mcp::server {
namespace {

constexpr std::size_t most_texts = 10'000;

}  // namespace

std::string describe(const json::raw_json& value) {
  constexpr std::size_t shown = 40;
  switch (value.type()) {
    case json::raw_json::kind::absent:
      return "nothing";
    case json::raw_json::kind::object:
      return "an object";
    case json::raw_json::kind::array:
      return "an array";
    case json::raw_json::kind::string:
      return value.text().size() <= shown ? std::string(value.text())
                                          : "a string of " + std::to_string(value.text().size() - 2) + " bytes";
    case json::raw_json::kind::number:
      return value.text().size() <= shown ? std::string(value.text())
                                          : "a number of " + std::to_string(value.text().size()) + " digits";
    case json::raw_json::kind::boolean:
    case json::raw_json::kind::null:
      return std::string(value.text());
  }
  return "something else";
}

param_reader::param_reader(const json::raw_json& params, std::string path)
    : path_(std::move(path)), error_(&own_error_) {
  if (!params.empty()) open(params);
}

param_reader::param_reader(const json::raw_json& value, std::string path, std::optional<error>* shared_error)
    : path_(std::move(path)), error_(shared_error) {
  open(value);
}

void param_reader::open(const json::raw_json& value) {
  json_ = value;
  if (!value.is_object()) return expected("", "an object", value);
  auto opened = json::raw_object::open(value);
  if (!opened) return wrong("", opened.error().message);
  members_.reserve(opened->size());
  opened->for_each([&](std::string_view key, json::raw_json v) {
    for (auto& m : members_) {
      if (m.key != key) continue;
      m.twice = true;
      return;
    }
    // Further members cannot all be known ones, and the first unknown one is an error already: do not keep them.
    if (members_.size() < 64) members_.push_back({std::string(key), std::move(v)});
  });
}

bool param_reader::has(std::string_view key) const {
  for (const auto& m : members_)
    if (m.key == key) return true;
  return false;
}

std::string param_reader::others(std::span<const std::string_view> without) const {
  std::map<std::string_view, std::string_view> rest;
  for (const auto& m : members_)
    if (std::ranges::find(without, std::string_view(m.key)) == without.end()) rest.emplace(m.key, m.value.text());
  std::string text;
  for (const auto& [key, value] : rest) {
    json::append_quoted(text, key);
    text.append(":").append(value).append(",");
  }
  return text;
}

void param_reader::wrong(std::string_view key, std::string_view what) {
  if (failed()) return;
  std::string text = path_;
  if (!key.empty()) text.append(1, '.').append(key);
  text.append(": ").append(what);
  *error_ = error{errc::invalid_argument, std::move(text)};
}

void param_reader::expected(std::string_view key, std::string_view form, const json::raw_json& got) {
  wrong(key, std::string("expected ").append(form).append(", got ").append(describe(got)));
}

json::raw_json param_reader::take(std::string_view key) {
  asked_.emplace_back(key);
  for (auto& m : members_) {
    if (m.key != key) continue;
    m.asked = true;
    if (m.twice) {
      wrong(key, "the member occurs twice");
      return {};
    }
    return m.value;
  }
  return {};
}

std::optional<std::string> param_reader::text(std::string_view key, std::size_t max_bytes) {
  auto text = json::typed_member::text(*this, key);
  if (!text || text->size() <= max_bytes) return text;
  wrong(key,
        "expected a string of at most " + std::to_string(max_bytes) + " bytes, got " + std::to_string(text->size()));
  return {};
}

std::optional<std::int64_t> param_reader::integer(std::string_view key, std::int64_t least, std::int64_t most) {
  return json::typed_member::integer(*this, key, least, most, [&] {
    const bool open_ended = most == std::numeric_limits<std::int64_t>::max();
    return "an integer " + (open_ended ? "of at least " + std::to_string(least)
                                       : "from " + std::to_string(least) + " to " + std::to_string(most));
  });
}

std::optional<bool> param_reader::boolean(std::string_view key) {
  return json::typed_member::boolean(*this, key);
}

std::optional<std::size_t> param_reader::word(std::string_view key, std::span<const std::string_view> words) {
  const json::raw_json v = take(key);
  if (v.empty()) return {};
  const auto text = v.as_string();
  for (std::size_t i = 0; text && i < words.size(); ++i)
    if (words[i] == *text) return i;
  std::string form;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) form += i + 1 == words.size() ? " or " : ", ";
    json::append_quoted(form, words[i]);
  }
  if (text)
    wrong(key, "expected " + form + ", got " + describe(v) + std::string(did_you_mean(*text, words)));
  else
    expected(key, form, v);
  return {};
}

std::optional<std::vector<std::string>> param_reader::texts(std::string_view key) {
  const json::raw_json v = array(key);
  if (v.empty()) return {};
  std::vector<std::string> out;
  json::for_each_element(v, [&](const json::raw_json& e) {
    if (out.size() == most_texts) {
      wrong(key, "expected a list of at most " + std::to_string(most_texts) + " strings, got a longer one");
      return false;
    }
    if (auto text = e.as_string()) {
      out.push_back(std::move(*text));
      return true;
    }
    expected(std::string(key) + "[" + std::to_string(out.size()) + "]", "a string", e);
    return false;
  });
  return out;
}

json::raw_json param_reader::object(std::string_view key) {
  const auto token = json::typed_member::container(*this, key, json::walk::is_object, "an object");
  return token ? json_.slice(*token) : json::raw_json();
}

json::raw_json param_reader::array(std::string_view key) {
  const auto token = json::typed_member::container(*this, key, json::walk::is_array, "an array");
  return token ? json_.slice(*token) : json::raw_json();
}

json::raw_json param_reader::any(std::string_view key) {
  return take(key);
}

result<void> param_reader::finish() {
  for (const auto& m : members_) {
    if (failed()) break;
    if (m.asked || m.key == "_meta") continue;
    const std::vector<std::string_view> known(asked_.begin(), asked_.end());
    wrong("", "unknown member " + json::json_quoted(cut_utf8(m.key, 80)) + std::string(did_you_mean(m.key, known)));
  }
  if (failed()) return std::unexpected(**error_);
  return {};
}

}  // namespace mcpbx::mcp::server
