// Search for quoted calls. A call counts as quoted if its name and all its arguments occur near a mark of calls in a
// foreign text. All positions are in the text's skeleton, so that the way of quoting does not move them.
#include "providers/call/quoted_calls.hpp"

#include "mcp/json/json_walk.hpp"
#include "providers/wire/results.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

namespace mcpbx::providers::call {
namespace {

// Largest distance in bytes between a mark and its call, beside the length of the call itself.
constexpr std::size_t near_mark = 512;
// Total length in bytes from which keys and values hardly occur by chance. The name, perhaps misspelt, is then
// optional.
constexpr std::size_t telling = 12;

// Skeletons of the marks of calls in all text formats, and the words that stand right before a tool's name.
constexpr auto marks = std::to_array<std::string_view>(
    {"toolcall", "tooluse", "functioncall", "invokename", "pythontag", "argkey", "actioninput", "tofunctions",
     "startaction", "parametername", "commentaryto", "analysisto", "assistantto", "channelfunctions"});
constexpr std::array<std::string_view, 4> before_name{"name", "function", "invoke", "tool"};
// Harmony's `to=NAME`. The word is a common one, so it counts only in a text that has it as a recipient.
constexpr std::string_view before_recipient = "to";
// Words right behind a tool's name: `NAME[ARGS]`, `"NAME","arguments":`.
constexpr auto behind_name =
    std::to_array<std::string_view>({"args", "arguments", "parameters", "input", "constrain", "message", "json"});

void put_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')) out += static_cast<char>(c);
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c + ('a' - 'A'));
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x110000) {
    out += static_cast<char>(0xf0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

// Reads a number of at most `digits` digits and returns their count.
std::size_t number_at(std::string_view text, int base, std::size_t digits, std::uint32_t& value) {
  const auto part = text.substr(0, digits);
  const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), value, base);
  return failed == std::errc() ? static_cast<std::size_t>(end - part.data()) : 0;
}

// Decodes the escape behind a backslash and returns its length in bytes, without the backslashes.
std::size_t escape_at(std::string_view text, std::string& out) {
  if (text.empty()) return 0;
  std::uint32_t c = 0;
  if (text[0] == 'u' && number_at(text.substr(1), 16, 4, c) == 4) {
    std::uint32_t low = 0;
    if (c >= 0xd800 && c < 0xdc00) {
      auto rest = text.substr(5);
      const auto at = rest.find_first_not_of('\\');
      if (at != std::string_view::npos && at > 0 && rest[at] == 'u' &&
          number_at(rest.substr(at + 1), 16, 4, low) == 4 && low >= 0xdc00 && low < 0xe000) {
        put_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
        return 5 + at + 5;
      }
    }
    put_utf8(out, c);
    return 5;
  }
  return std::string_view("nrtbf").find(text[0]) != std::string_view::npos ? 1 : 0;
}

// Decodes the entity at an ampersand and returns its length in bytes; 0: it is none.
std::size_t entity_at(std::string_view text, std::string& out) {
  static constexpr std::array<std::string_view, 7> plain{"&lt;",   "&gt;",   "&amp;", "&quot;",
                                                         "&apos;", "&nbsp;", "&tab;"};
  for (const auto& e : plain)
    if (text.starts_with(e)) return e.size();
  if (!text.starts_with("&#")) return 0;
  const bool hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
  const std::size_t from = hex ? 3 : 2;
  std::uint32_t c = 0;
  const auto digits = number_at(text.substr(from), hex ? 16 : 10, 7, c);
  if (digits == 0 || from + digits >= text.size() || text[from + digits] != ';') return 0;
  put_utf8(out, c);
  return from + digits + 1;
}

// Appends the skeleton of `text`. With `escapes` the letter behind a backslash is read as an escape of JSON.
void append_skeleton(std::string& out, std::string_view text, bool escapes) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\\') {
      const auto next = std::min(text.find_first_not_of('\\', i), text.size());
      i = next + (escapes ? escape_at(text.substr(next), out) : 0);
    } else if (c == '&') {
      const auto n = entity_at(text.substr(i), out);
      i += n == 0 ? 1 : n;
    } else if (c >= 0x80) {
      out += static_cast<char>(c);
      ++i;
    } else {
      put_utf8(out, c);
      ++i;
    }
  }
}

bool contains(std::string_view text, std::string_view part) {
  return part.empty() || ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

// Keys and values of the arguments on all levels, each in both readings of a backslash.
struct leaves {
  std::vector<std::pair<std::string, std::string>> all;  // skeletons with and without escapes decoded
  std::size_t length = 0;

  void add(std::string_view text) {
    std::pair<std::string, std::string> forms;
    append_skeleton(forms.first, text, true);
    append_skeleton(forms.second, text, false);
    length += forms.second.size();
    if (!forms.first.empty() || !forms.second.empty()) all.push_back(std::move(forms));
  }
  void take(std::string_view value, int depth) {
    if (value.empty() || depth > 64) return;
    if (value[0] == '{') {
      json::walk::members(value, [&](std::string_view key, std::string_view member) {
        add(key);
        take(member, depth + 1);
      });
    } else if (value[0] == '[') {
      json::walk::elements(value, [&](std::string_view element) { take(element, depth + 1); });
    } else if (value[0] == '"') {
      add(json::walk::text(value));
    } else {
      add(value);
    }
  }
};

void find_each(std::string_view text, std::string_view word, std::vector<std::size_t>& found) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size()))
    found.push_back(at);
}

// Finds `name` where it looks like a call: behind a word for a name, or before a word for arguments; with `both`, where
// it has both.
void add_names(std::string_view text, std::string_view name, bool recipients, bool both,
               std::vector<std::size_t>& found) {
  if (name.empty()) return;
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + name.size())) {
    const auto before = text.substr(0, at), behind = text.substr(at + name.size());
    const bool named = (recipients && before.ends_with(before_recipient)) ||
                       std::ranges::any_of(before_name, [&](auto word) { return before.ends_with(word); });
    const bool with_arguments = std::ranges::any_of(behind_name, [&](auto word) { return behind.starts_with(word); });
    if (both ? named && with_arguments : named || with_arguments) found.push_back(at);
  }
}

}  // namespace

std::string skeleton_of(std::string_view text) {
  std::string out;
  append_skeleton(out, text, true);
  return out;
}

void quoted_calls::add(std::string_view text, bool tells_of_tools) {
  const bool has_recipients = std::ranges::any_of(std::to_array<std::string_view>({"to=", "to\\", "to&"}),
                                                  [&](auto form) { return contains(text, form); });
  for (const bool escapes : {true, false}) {
    if (!escapes && text.find('\\') == std::string_view::npos) continue;
    source s;
    append_skeleton(s.text, text, escapes);
    s.recipients = has_recipients;
    s.tells_of_tools = tells_of_tools;
    for (const auto mark : marks) find_each(s.text, mark, s.marks);
    sources_.push_back(std::move(s));
  }
}

void quoted_calls::collect() {
  if (std::exchange(collected_, true)) return;
  for (const auto& m : messages_) {
    const bool all = m->role == role::user || m->role == role::tool_results;
    for (const auto& b : m->blocks) {
      if (const auto* said = std::get_if<text_block>(&b)) {
        if (all || said->foreign) add(said->text, !all);
      } else if (const auto* result = all ? std::get_if<tool_result_block>(&b) : nullptr) {
        add(wire::convert_result(*result, {}).text(), false);
        // convert_result() drops structuredContent if there is content; the model may still see it by another way.
        const auto structured = json::walk::find(result->result.text(), "structuredContent");
        if (!structured.empty()) add(structured, false);
      }
    }
  }
}

bool quoted_calls::has(const tool_call_block& call) {
  collect();
  const std::string name = skeleton_of(call.name);
  leaves arguments;
  if (!call.arguments.empty())
    arguments.take(call.arguments.text(), 0);
  else
    arguments.add(call.arguments_text);
  const std::size_t reach = near_mark + 4 * arguments.length;
  for (const auto& s : sources_) {
    looked_ += s.text.size();
    auto found = s.marks;
    add_names(s.text, name, s.recipients, s.tells_of_tools, found);
    std::ranges::sort(found);
    // Search once around neighbouring marks: they belong to one call or to calls side by side.
    for (std::size_t i = 0; i < found.size();) {
      const std::size_t from = found[i] - std::min(found[i], reach);
      std::size_t to = found[i] + reach;
      while (++i < found.size() && found[i] <= to) to = found[i] + reach;
      const auto part = std::string_view(s.text).substr(from, to - from);
      const auto stands = [&](const auto& forms) {
        looked_ += part.size();
        if (looked_ > most_bytes) return true;
        return contains(part, forms.first) || contains(part, forms.second);
      };
      if (!std::ranges::all_of(arguments.all, stands)) continue;
      if (looked_ > most_bytes) return true;
      if (arguments.length >= telling || contains(part, name)) return true;
    }
    if (looked_ > most_bytes) return true;
  }
  return false;
}

}  // namespace mcpbx::providers::call
