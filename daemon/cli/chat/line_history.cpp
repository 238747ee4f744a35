// Inputs of several lines are kept whole, so the file has JSON.
#include "daemon/cli/chat/line_history.hpp"

#include "conf/places.hpp"
#include "daemon/cli/link/private_file.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/secret_name.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

namespace mcpbx::cli::chat {
namespace {

// The beginnings of tokens that providers give out.
constexpr std::array<std::string_view, 14> token_marks{"sk-",  "sk_",         "pk_live_", "ghp_",  "gho_",
                                                       "ghs_", "github_pat_", "glpat-",   "xoxb-", "xoxp-",
                                                       "AKIA", "AIza",        "hf_",      "eyJ"};
constexpr std::size_t shortest_token = 16, shortest_value = 6;
constexpr std::string_view between = " \t\r\n", letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view word_marks = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr auto npos = std::string_view::npos;

// Calls f with each part of the text between any of `separators`, until it returns true. Returns true if it did.
template <class F>
bool any_part(std::string_view text, std::string_view separators, F&& f) {
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    if (end > 0 && f(text.substr(0, end))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

bool has_token(std::string_view text) {
  while (!text.empty()) {
    const auto begin = std::min(text.find_first_of(word_marks), text.size());
    text.remove_prefix(begin);
    const auto part = text.substr(0, text.find_first_not_of(word_marks));
    if (part.size() >= shortest_token &&
        std::ranges::any_of(token_marks, [&](std::string_view mark) { return part.starts_with(mark); }))
      return true;
    // A token with dots (a JWT) has a long first part or long other ones.
    if (part.starts_with("eyJ") && text.substr(0, text.find_first_of(between)).size() >= shortest_token) return true;
    text.remove_prefix(part.size());
  }
  return false;
}

// Returns true for an address with a password, as in postgres://user:password@host.
bool has_password(std::string_view text) {
  for (auto at = text.find("://"); at != npos; at = text.find("://", at + 3)) {
    const auto rest = text.substr(at + 3);
    const auto authority = rest.substr(0, rest.find_first_of("/?# \t\r\n\"'<>"));
    const auto user = authority.substr(0, std::min(authority.rfind('@'), authority.size()));
    const auto colon = user.find(':');
    if (user.size() < authority.size() && colon != npos && colon + 1 < user.size()) return true;
  }
  return false;
}

// Words that only follow a name may be prose ("the key: understanding"), unless they have more than letters.
bool is_value(std::string_view word, bool apart) {
  if (apart) word = word.substr(0, word.find_last_not_of(".,;:!?") + 1);
  return word.size() >= shortest_value && (!apart || word.find_first_not_of(letters) != npos);
}

// Returns true for NAME=VALUE and NAME: VALUE, with quotes or without, anywhere in the text.
bool has_named_value(std::string_view text) {
  constexpr std::string_view around = " \t\"'`";
  for (auto at = text.find_first_of("=:"); at != npos; at = text.find_first_of("=:", at + 1)) {
    const char mark = text[at];
    const auto behind = text.substr(at + 1);
    if (behind.starts_with(mark) || behind.starts_with("//") || (at > 0 && text[at - 1] == mark)) continue;
    const auto before = text.substr(0, text.substr(0, at).find_last_not_of(around) + 1);
    const auto name = before.substr(before.find_last_not_of(word_marks) + 1);
    if (name.empty() || !redact::secret_name(name)) continue;
    const auto value = behind.substr(std::min(behind.find_first_not_of(around), behind.size()));
    const bool apart = behind.starts_with(' ') || behind.starts_with('\t');
    if (is_value(value.substr(0, value.find_first_of(" \t\r\n\"'`&;,)]}")), apart)) return true;
  }
  return false;
}

// Returns true for `--token VALUE` and `Bearer VALUE`.
bool has_following_value(std::string_view text) {
  bool named = false, scheme = false;
  return any_part(text, between, [&](std::string_view word) {
    if ((named && is_value(word, true)) || (scheme && word.size() >= shortest_token)) return true;
    named = word.starts_with("--") && !word.contains('=') && redact::secret_name(word.substr(2));
    word.remove_prefix(word.find_last_of("\"'`:=") + 1);
    scheme = word == "Bearer" || word == "bearer" || word == "Basic";
    return false;
  });
}

bool has_secret(std::string_view text) {
  return text.contains("PRIVATE KEY-----") || has_token(text) || has_password(text) || has_named_value(text) ||
         has_following_value(text);
}

}  // namespace

bool may_be_kept(std::string_view input) {
  if (input.empty() || input.size() > line_history::most_entry || between.contains(input.front())) return false;
  return !has_secret(input);
}

line_history line_history::of_user() {
  const auto state = conf::state_directory(conf::environment_for_places());
  return line_history(state ? (*state / "chat-history").string() : "");
}

std::vector<std::string> line_history::read() const {
  std::vector<std::string> all;
  const auto text = path_.empty() ? std::nullopt : files::read_whole_file(path_, 8 * most_bytes).value_or(std::nullopt);
  std::istringstream in(text.value_or(""));
  for (std::string line; all.size() < 2 * most_entries && std::getline(in, line);) {
    if (line.size() > 8 * most_entry) continue;
    const auto entry = json::raw_json::parse(line);
    if (auto input = entry ? entry->as_string() : std::nullopt; input && may_be_kept(*input))
      all.push_back(std::move(*input));
  }
  return all;
}

void line_history::add(std::string_view input) const {
  if (path_.empty() || !may_be_kept(input)) return;
  const link::private_lock lock(path_);
  auto all = read();
  std::erase(all, input);
  all.emplace_back(input);
  std::size_t bytes = 0, first = all.size();
  while (first > 0 && all.size() - first < most_entries && bytes + all[first - 1].size() <= most_bytes)
    bytes += all[--first].size();
  std::string text;
  json::json_writer w(text);
  for (; first < all.size(); ++first) text += json::json_quoted(all[first]) + "\n";
  link::replace_private_file(path_, text);
}

}  // namespace mcpbx::cli::chat
