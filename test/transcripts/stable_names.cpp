// Searches texts for what varies; the table of JSON members stands here.
#include "test/transcripts/stable_names.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace mcpbx::transcripts {
namespace {

/// The text in front of a value of JSON that varies: digits, or a hash or a time between quotes.
struct varying_member {
  std::string_view start, name;
};

// Sizes vary with the digits of the times that they count; `accepted` and `requests` with the waiting for tool servers.
constexpr std::array<varying_member, 25> varying{{
    {R"("pid":)", "@PID@"},
    {R"(,"accepted":)", "@COUNT@"},
    {R"("requests":)", "@COUNT@"},
    {R"("pinnedAt":)", "@TIME@"},
    {R"("durationMs":)", "@MS@"},
    {R"("elapsedMs":)", "@MS@"},
    {R"("ms":)", "@MS@"},
    {R"("uptimeMs":)", "@MS@"},
    {R"("lastErrorMs":)", "@TIME@"},
    {R"("created":)", "@TIME@"},
    {R"("createdMs":)", "@TIME@"},
    {R"("created_at":)", "@TIME@"},
    {R"("endedMs":)", "@TIME@"},
    {R"("expiresMs":)", "@TIME@"},
    {R"("startedMs":)", "@TIME@"},
    {R"("usedMs":)", "@TIME@"},
    {R"("bytes":)", "@BYTES@"},
    {R"("largestOutboxBytes":)", "@BYTES@"},
    {R"("outboxBytes":)", "@BYTES@"},
    {R"("ownedBytes":)", "@BYTES@"},
    {R"("rssBytes":)", "@BYTES@"},
    {R"("pinnedSha256":)", "@SHA256@"},
    {R"("sha256":)", "@SHA256@"},
    {R"("toolSha256":)", "@SHA256@"},
    {R"("nonce":)", "@NONCE@"},
}};

/// The start of an id, and the word in its name.
struct id_form {
  std::string_view start, word;
};
constexpr std::array<id_form, 3> id_forms{{{"run_", "RUN"}, {"ses_", "SESSION"}, {"q_", "QUESTION"}}};
constexpr std::size_t id_digits = 16;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}
bool is_time(char c) {
  return is_digit(c) || std::string_view("-T:.Z").contains(c);
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Returns the size of the value at the front of `text` if it varies, else 0.
std::size_t value_size(std::string_view text) {
  std::size_t n = 0;
  if (text.starts_with('"')) {
    const auto value = text.substr(1, text.find('"', 1) - 1);
    const bool varies = std::ranges::all_of(value, is_hex) || std::ranges::all_of(value, is_time);
    return varies && value.size() > id_digits && value.size() + 2 <= text.size() ? value.size() + 2 : 0;
  }
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

void hide_members(std::string& text) {
  for (const auto& [start, name] : varying)
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
      at += start.size();
      const auto n = value_size(std::string_view(text).substr(at));
      const bool quoted = text[at] == '"';
      if (n > 0) text.replace(at, n, quoted ? "\"" + std::string(name) + "\"" : std::string(name));
    }
}

// The numbers of events of a run that an earlier daemon began, or that the journal gave back, come from the clock.
void hide_numbers(std::string& text, std::size_t least_digits) {
  constexpr std::string_view member = "\"seq\":";
  for (auto at = text.find(member); at != std::string::npos; at = text.find(member, at)) {
    at += member.size();
    if (const auto n = value_size(std::string_view(text).substr(at)); n >= least_digits) text.replace(at, n, "@SEQ@");
  }
}

// The command line tells how long a call took.
void hide_duration(std::string& line) {
  constexpr std::string_view unit = " ms)";
  const auto start = line.rfind('(');
  if (!line.ends_with(unit) || start == std::string::npos) return;
  const auto digits = line.size() - unit.size() - start - 1;
  if (digits > 0 && std::ranges::all_of(std::string_view(line).substr(start + 1, digits), is_digit))
    line.replace(start + 1, digits, "@MS@");
}

// A parked run's record has its time where that is not 0.
void hide_time_of_parked(std::string& text) {
  constexpr std::string_view member = R"("expiresMs":@TIME@,"elapsedMs":@MS@)";
  if (const auto at = text.find(member); at != std::string::npos) text.replace(at, member.size(), member.substr(0, 18));
}

}  // namespace

void names::place(std::string_view name, std::string_view value) {
  std::erase_if(places_, [&](const auto& p) { return p.first == name; });
  places_.emplace_back(name, value);
  std::ranges::sort(places_, std::greater(), [](const auto& p) { return p.second.size(); });
}

std::string names::hide(std::string_view text) {
  std::string out(text);
  for (const auto& [name, value] : places_) replace_all(out, value, name);
  out = hide_ids(out);
  hide_members(out);
  hide_numbers(out, 15);
  hide_duration(out);
  hide_time_of_parked(out);
  if (constexpr std::string_view date = "Date: "; out.starts_with(date) && out.ends_with(" GMT")) out = "Date: @DATE@";
  return out;
}

std::string names::hide_with_number(std::string_view event) {
  auto out = hide(event);
  hide_numbers(out, 1);
  return out;
}

std::string names::hide_ids(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t taken = 1;
    for (const auto& [start, word] : id_forms) {
      const auto size = start.size() + id_digits;
      if (!text.starts_with(start) || text.size() < size || (!out.empty() && is_word(out.back()))) continue;
      if (!std::ranges::all_of(text.substr(start.size(), id_digits), is_hex)) continue;
      if (text.size() > size && is_word(text[size])) continue;
      auto& name = ids_[std::string(text.substr(0, size))];
      if (name.empty()) name = "@" + std::string(word) + std::to_string(++counts_[word]) + "@";
      out += name;
      taken = size;
      break;
    }
    if (taken == 1) out += text.front();
    text.remove_prefix(taken);
  }
  return out;
}

std::string names::fill(std::string_view text) const {
  std::string out(text);
  for (const auto& [name, value] : places_) replace_all(out, name, value);
  for (const auto& [value, name] : ids_) replace_all(out, name, value);
  return out;
}

}  // namespace mcpbx::transcripts
