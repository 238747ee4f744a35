// Syntax, check and resolution of references. One reader serves check and resolution, so that they cannot disagree.
#include "conf/model/references.hpp"

#include "conf/model/secrets.hpp"
#include "mcp/redact/secret_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace mcpbx::conf::model {
namespace {

using namespace std::string_view_literals;

enum class piece_kind { literal, env, file, cmd, cred };

struct piece {
  piece_kind kind = piece_kind::literal;
  std::string_view text;  // the literal, the name of a variable or credential, the path or the command line
  std::optional<std::string_view> fallback;  // ${NAME:-default}
};

bool variable_name(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

// Returns true if systemd takes `name` for a credential and it stays in the folder of credentials (systemd.exec(5)).
bool credential_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         std::ranges::all_of(name, [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '/' && c != ':'; });
}

/// Finds the `}` that ends the reference whose inside starts at `from`. Quotes protect braces in commands.
std::size_t closing(std::string_view text, std::size_t from, bool command) {
  char quote = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (command && c == '\\' && quote != '\'') {
      ++i;
    } else if (command && quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '}') {
      return i;
    }
  }
  return text.npos;
}

std::unexpected<reference_fault> fault(std::string what, std::string mend) {
  return std::unexpected(reference_fault{std::move(what), std::move(mend)});
}

std::expected<piece, reference_fault> read_inside(std::string_view inside, bool server) {
  piece p;
  if (inside.starts_with("env:")) {
    p = {piece_kind::env, inside.substr(4), {}};
    if (!variable_name(p.text))
      return fault("${env:…} needs the name of an environment variable", "write it like ${env:API_KEY}");
  } else if (inside.starts_with("file:")) {
    p = {piece_kind::file, inside.substr(5), {}};
    if (!p.text.starts_with("/") && !p.text.starts_with("~/"))
      return fault("${file:…} needs an absolute path", "write it like ${file:~/.keys/name} or ${file:/path}");
  } else if (inside.starts_with("cmd:")) {
    p = {piece_kind::cmd, inside.substr(4), {}};
    if (auto words = split_words(p.text); !words)
      return fault("${cmd:…}: " + words.error().message, "write the program and its arguments, quoted as in a shell");
  } else if (inside.starts_with("cred:")) {
    p = {piece_kind::cred, inside.substr(5), {}};
    if (!credential_name(p.text))
      return fault("${cred:…} needs the name of a credential of the service, which has no / and no blank",
                   "write it like ${cred:api-key}, as the unit's LoadCredential= names it");
  } else if (server) {
    const auto cut = inside.find(":-");
    p = {piece_kind::env, inside.substr(0, cut), {}};
    if (cut != inside.npos) p.fallback = inside.substr(cut + 2);
    if (p.fallback && p.fallback->find("${") != inside.npos)
      return fault("the default of a reference cannot hold another reference", "write a plain text after :-");
    if (!variable_name(p.text))
      return fault(
          "this is no reference that mcpbx knows",
          "write ${NAME}, ${NAME:-default}, ${env:NAME}, ${file:PATH}, ${cmd:WORDS} or ${cred:NAME}, and $${ for a "
          "literal ${");
  } else if (variable_name(inside)) {
    return fault("the form ${NAME} works in server entries only", "write ${env:" + std::string(inside) + "}");
  } else {
    return fault("this is no reference that mcpbx knows",
                 "write ${env:NAME}, ${file:PATH}, ${cmd:WORDS} or ${cred:NAME}, and $${ for a literal ${");
  }
  return p;
}

std::expected<std::vector<piece>, reference_fault> read(std::string_view text, bool server) {
  std::vector<piece> pieces;
  std::size_t literal = 0, i = 0;
  while ((i = text.find("${", i)) != text.npos) {
    const bool escaped = i > literal && text[i - 1] == '$';
    if (i > literal) pieces.push_back({piece_kind::literal, text.substr(literal, i - literal - (escaped ? 1 : 0)), {}});
    if (escaped) {  // $${ → ${
      literal = i;
      i += 2;
      continue;
    }
    const auto end = closing(text, i + 2, text.substr(i + 2).starts_with("cmd:"));
    if (end == text.npos) return fault("a reference is not closed", "write } where it ends, or $${ for a literal ${");
    auto p = read_inside(text.substr(i + 2, end - i - 2), server);
    if (!p) return std::unexpected(std::move(p.error()));
    pieces.push_back(*p);
    literal = i = end + 1;
  }
  if (literal < text.size()) pieces.push_back({piece_kind::literal, text.substr(literal), {}});
  return pieces;
}

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string at(const reference_string& s) {
  return s.where.empty() ? "" : "in \"" + s.where + "\": ";
}

/// Returns a reference as errors show it. A command is cut to its program, since arguments may be private.
std::string shown(const piece& p) {
  const std::string name(p.text);
  if (p.kind == piece_kind::file) return "${file:" + name + "}";
  if (p.kind == piece_kind::cred) return "${cred:" + name + "}";
  const auto words = split_words(name);
  return "${cmd:" + (words ? words->front() : "") + (words && words->size() > 1 ? " …}" : "}");
}

result<std::string> value_of(const piece& p, const reference_string& s, reference_source& source,
                             source_content given) {
  const std::string name(p.text);
  if (p.kind == piece_kind::literal) return name;
  if (p.kind == piece_kind::env) {
    auto value = source.env(name);
    if (p.fallback && (!value || value->empty())) return std::string(*p.fallback);
    if (!value)
      return fail(errc::config,
                  at(s) + "the environment variable " + name +
                      " is not set: set it where mcpbx is started and restart it, or write the value with "
                      "${file:…} or ${cmd:…}");
    if (secret_name(name)) redact::redactor::add(redact::secret(*value));
    return *value;
  }
  result<std::string> got;
  if (p.kind == piece_kind::file) {
    got = source.file(expand_home(name, source.env("HOME").value_or("")));
  } else if (p.kind == piece_kind::cred) {
    const auto folder = source.env("CREDENTIALS_DIRECTORY").value_or("");
    if (folder.empty())
      return fail(errc::config, at(s) + shown(p) +
                                    ": the daemon was given no credentials: run it as a service whose unit has "
                                    "LoadCredential=" +
                                    name + ":PATH, or write the value with ${file:…}");
    got = source.file(folder + "/" + name);
  } else {
    auto words = split_words(name);
    if (!words) return std::unexpected(std::move(words.error()));
    const auto home = source.env("HOME").value_or("");
    for (auto& w : *words) w = expand_home(w, home);
    got = source.command(*words);
  }
  if (!got) return fail(got.error().code, at(s) + shown(p) + ": " + got.error().message);
  auto value = without_line_end(std::move(*got));
  if (given == source_content::secret) redact::redactor::add(redact::secret(value));
  return value;
}

}  // namespace

std::optional<reference_fault> find_reference_fault(std::string_view text, bool in_server_entry) {
  auto pieces = read(text, in_server_entry);
  if (pieces) return {};
  return std::move(pieces.error());
}

result<void> check_references(std::string_view text, bool in_server_entry) {
  if (auto f = find_reference_fault(text, in_server_entry)) return fail(errc::config, f->what + ": " + f->mend);
  return {};
}

bool has_references(std::string_view text) {
  auto pieces = read(text, true);
  return pieces && std::ranges::any_of(*pieces, [](const piece& p) { return p.kind != piece_kind::literal; });
}

bool needs_lane(std::string_view text) {
  auto pieces = read(text, true);
  return pieces && std::ranges::any_of(*pieces, [](const piece& p) {
           return p.kind != piece_kind::literal && p.kind != piece_kind::env;
         });
}

bool refers_to_secret(const reference_string& s) {
  auto pieces = read(s.text, s.server_entry);
  return pieces && std::ranges::any_of(*pieces, [](const piece& p) {
           return p.kind != piece_kind::literal && (p.kind != piece_kind::env || secret_name(p.text));
         });
}

result<std::string> resolve(const reference_string& s, reference_source& source, source_content given) {
  auto pieces = read(s.text, s.server_entry);
  if (!pieces) return fail(errc::config, at(s) + pieces.error().what + ": " + pieces.error().mend);
  std::string out;
  for (const auto& p : *pieces) {
    auto value = value_of(p, s, source, given);
    if (!value) return value;
    out += *value;
  }
  if (out.find('\0') != out.npos)
    return fail(errc::config,
                at(s) + "the value holds a NUL byte, which no program can take: take it out of its source");
  // Search the resolved whole: the password of an address may come from a reference.
  register_url_passwords(out);
  return out;
}

result<redact::secret> resolve_secret(const reference_string& s, reference_source& source) {
  auto value = resolve(s, source);
  if (!value) return std::unexpected(std::move(value.error()));
  redact::secret made(std::move(*value));
  redact::redactor::add(made);
  return made;
}

result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (quote == '\'') {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (quote == '"') {
      if (c == quote)
        quote = 0;
      else if (c == '\\' && (next == '"' || next == '\\'))
        word += text[++i];
      else
        word += c;
    } else if (c == '\\') {
      if (i + 1 == text.size()) return fail(errc::config, "the command ends in a lone backslash");
      word += text[++i];
      in_word = true;
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return fail(errc::config, "a quote is not closed in the command");
  if (in_word) words.push_back(std::move(word));
  if (words.empty() || words[0].empty()) return fail(errc::config, "the command is empty");
  return words;
}

std::string expand_home(std::string_view path, std::string_view home) {
  if (path == "~") return std::string(home);
  if (path.starts_with("~/")) return std::string(home) + std::string(path.substr(1));
  return std::string(path);
}

std::string under_home(std::string_view path, std::string_view home) {
  auto whole = expand_home(path, home);
  return whole.starts_with('/') ? whole : std::string(home) + "/" + whole;
}

bool secret_name(std::string_view name) {
  return redact::secret_name(name);
}

}  // namespace mcpbx::conf::model
