// The grammar of challenges: schemes, tokens, quoted strings. One pass without going back.
#include "mcp/auth/challenge.hpp"

#include "mcp/http/header.hpp"

#include <algorithm>

namespace mcpbx::auth {
namespace {

constexpr std::size_t longest_header = std::size_t{16} << 10;
constexpr std::size_t most_scopes = 200, longest_scope = 256;

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Adds a scope that can be one (RFC 6749, appendix A.4), is new, and finds room: servers may name more and more of
// them.
void add_scope(std::vector<std::string>& all, std::string_view word) {
  const bool usable = !word.empty() && word.size() <= longest_scope &&
                      std::ranges::all_of(word, [](char c) { return c > 0x20 && c < 0x7F && c != '"' && c != '\\'; });
  if (usable && all.size() < most_scopes && std::ranges::find(all, word) == all.end()) all.emplace_back(word);
}

class challenge_reader {
 public:
  explicit challenge_reader(std::string_view text) : rest_(text) {}

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  void skip_separators() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == ','))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view token() {
    std::size_t n = 0;
    while (n < rest_.size() && is_token_char(rest_[n])) ++n;
    const auto taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  /// Takes a token68, which some schemes have in place of parameters.
  void skip_token68() {
    while (!rest_.empty() && (is_token_char(rest_.front()) || rest_.front() == '/')) rest_.remove_prefix(1);
    while (take('=')) {
    }
  }
  /// Takes a token or a quoted string. Returns nullopt if there is neither, or the quotes are not closed.
  std::optional<std::string> value() {
    if (!take('"')) {
      const auto word = token();
      if (word.empty()) return std::nullopt;
      return std::string(word);
    }
    std::string out;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return out;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      out += rest_[i];
    }
    return std::nullopt;
  }
  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

void keep(bearer_challenge& c, std::string_view name, std::string value) {
  if (http::is_word(name, "resource_metadata")) {
    c.resource_metadata = std::move(value);
  } else if (http::is_word(name, "error")) {
    c.error = std::move(value);
  } else if (http::is_word(name, "error_description")) {
    c.description = std::move(value);
  } else if (http::is_word(name, "scope")) {
    c.scope = std::move(value);
  }
}

}  // namespace

std::optional<bearer_challenge> read_bearer_challenge(std::string_view header) {
  if (header.size() > longest_header) return std::nullopt;
  challenge_reader in(header);
  std::optional<bearer_challenge> found;
  bool ours = false;
  for (;;) {
    in.skip_separators();
    if (in.done()) return found;
    const auto word = in.token();
    if (word.empty()) return found;
    in.skip_blanks();
    if (in.take('=')) {  // a parameter of the scheme before it
      in.skip_blanks();
      auto value = in.value();
      if (!value) return found;
      if (ours) keep(*found, word, std::move(*value));
      continue;
    }
    if (found) return found;  // the next scheme
    ours = http::is_word(word, "Bearer");
    if (ours) {
      found.emplace();
      continue;
    }
    // A scheme that is not ours may have a token68 here. A parameter looks like one up to its "=", and then goes on.
    challenge_reader ahead = in;
    const auto name = ahead.token();
    ahead.skip_blanks();
    const bool parameter = !name.empty() && ahead.take('=') && !ahead.rest().starts_with('=') && !ahead.done() &&
                           ahead.rest().front() != ',';
    const bool scheme = !name.empty() && !ahead.done() && is_token_char(ahead.rest().front());
    if (!parameter && !scheme) in.skip_token68();
  }
}

std::vector<std::string> scope_words(std::string_view scope) {
  std::vector<std::string> words;
  while (!scope.empty() && words.size() < most_scopes) {
    const auto end = std::min(scope.find(' '), scope.size());
    add_scope(words, scope.substr(0, end));
    scope.remove_prefix(std::min(end + 1, scope.size()));
  }
  return words;
}

std::string joined_scopes(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out.append(out.empty() ? "" : " ").append(w);
  return out;
}

std::vector<std::string> united_scopes(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  std::vector<std::string> all;
  for (const auto* words : {&first, &second})
    for (const auto& w : *words) add_scope(all, w);
  return all;
}

}  // namespace mcpbx::auth
