// The keys of remote servers: address, headers and logins. Tokens of other programs are never copied.
#include "conf/hosts/import/entry_reader.hpp"
#include "conf/hosts/import/node_making.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::conf::imports {
namespace {

using kind = documents::node::kind;

constexpr std::string_view no_login = "write \"auth\" in an entry of your own, and log in with `mcpbx auth login NAME`";

bool is_empty(const documents::node& n) {
  return n.is(kind::null) || (n.is(kind::boolean) && !n.truth) || (n.is(kind::string) && n.text.empty()) ||
         (n.is(kind::array) && n.items.empty()) || (n.is(kind::object) && n.members.empty());
}

}  // namespace

void entry_reader::url(documents::node_member& m) {
  if (m.value.is(kind::null)) return;
  auto address = text(m, m.value);
  if (!address || address->empty()) return;
  if (address->starts_with("unix:") || address->starts_with("pipe:"))
    return error(m, "an address of a socket, which mcpbx does not connect to as a client",
                 "give the server a http address");
  if (address_ && address_->first != *address)
    return error(m, "another address than that of the entry's other key", "take one of the two out");
  address_ = {std::move(*address), m.value.at};
}

void entry_reader::add_header(const documents::node_member& m, std::string_view name, std::string value) {
  auto* headers = our_object("headers");
  for (const auto& h : headers->members)
    if (std::ranges::equal(h.key, name, [](char a, char b) { return (a | 0x20) == (b | 0x20); }))
      return error(m, "sets the header " + std::string(cut_utf8(name, 64)) + ", which is set already",
                   "take one of the two out");
  headers->members.push_back({std::string(name), m.value.at, text_node(std::move(value), m.value.at)});
}

void entry_reader::headers(documents::node_member& m) {
  if (is_empty(m.value)) return;
  if (!m.value.is(kind::object))
    return error(m, "must be an object, not " + std::string(documents::words_for(m.value.type)),
                 "write \"NAME\": \"value\"");
  for (const auto& h : m.value.members)
    if (auto value = text(m, h.value)) add_header(m, h.key, std::move(*value));
}

void entry_reader::env_headers(documents::node_member& m) {
  if (!m.value.is(kind::object)) return error(m, "must be an object", "write \"HEADER\": \"VARIABLE\"");
  for (const auto& h : m.value.members) {
    if (!h.value.is(kind::string)) return error(m, "must hold names of variables", "write strings");
    add_header(m, h.key, "${env:" + h.value.text + "}");
  }
}

void entry_reader::token_variable(documents::node_member& m) {
  if (!m.value.is(kind::string)) return error(m, "must be the name of a variable", "write a string");
  add_header(m, "Authorization", "Bearer ${env:" + m.value.text + "}");
}

void entry_reader::request_options(documents::node_member& m) {
  if (is_empty(m.value)) return;
  if (!m.value.is(kind::object)) return error(m, "must be an object", "take it out");
  for (auto& o : m.value.members) {
    if (o.key == "headers")
      headers(o);
    else if (!is_empty(o.value))
      error(m, "sets \"" + std::string(cut_utf8(o.key, 64)) + "\" for its requests, which mcpbx cannot",
            "take it out there, or write an entry of your own (\"caFile\", \"clientCertFile\")");
  }
}

void entry_reader::client_id(documents::node_member& m) {
  if (is_empty(m.value)) return;
  auto id = text(m, m.value);
  if (id) our_object("auth")->members.push_back({"clientId", m.value.at, text_node(std::move(*id), m.value.at)});
}
void entry_reader::client_secret(documents::node_member& m) {
  if (is_empty(m.value)) return;
  auto value = text(m, m.value);
  if (value)
    our_object("auth")->members.push_back({"clientSecret", m.value.at, text_node(std::move(*value), m.value.at)});
}
void entry_reader::foreign_login(documents::node_member& m) {
  if (!is_empty(m.value)) error(m, "a way to log in that mcpbx does not know under this key", std::string(no_login));
}
void entry_reader::foreign_tokens(documents::node_member& m) {
  if (!is_empty(m.value))
    notice(m, "the program's own login is not copied",
           "`mcpbx auth login " + shell_word(out_.name) + "` logs mcpbx in");
}

void entry_reader::oauth_member(const documents::node_member& whole, const documents::node_member& m) {
  static constexpr std::array<std::string_view, 3> ids{"clientId", "client_id", "CLIENT_ID"};
  static constexpr std::array<std::string_view, 3> secrets{"clientSecret", "client_secret", "CLIENT_SECRET"};
  static constexpr std::array<std::string_view, 7> tokens{
      "tokens", "accessToken", "refreshToken", "access_token", "refresh_token", "codeVerifier", "clientInformation"};
  const auto is_one_of = [&](const auto& words) { return std::ranges::find(words, m.key) != words.end(); };
  if (is_empty(m.value)) return;
  auto inner = m;
  inner.key = whole.key;
  if (is_one_of(ids)) return client_id(inner);
  if (is_one_of(secrets)) return client_secret(inner);
  if (is_one_of(tokens)) return foreign_tokens(inner);
  if (m.key == "enabled") return;
  if (m.key == "scope" || m.key == "scopes")
    return error(whole, "asks for certain rights only, and mcpbx would ask for more",
                 "write \"auth\": {\"scopes\": […]} in an entry of your own: they are asked for beside those that the "
                 "server names");
  error(whole, "holds \"" + std::string(cut_utf8(m.key, 64)) + "\", a setting of logins that mcpbx does not know",
        std::string(no_login));
}

void entry_reader::oauth(documents::node_member& m) {
  if (m.value.is(kind::boolean)) {
    if (!m.value.truth) notice(m, "mcpbx logs in only when you ask it to");
    return;
  }
  if (is_empty(m.value)) return;
  if (!m.value.is(kind::object)) return error(m, "must be an object, true or false", std::string(no_login));
  for (const auto& o : m.value.members) oauth_member(m, o);
}

void entry_reader::auth(documents::node_member& m) {
  if (m.value.is(kind::string)) {
    if (m.value.text == "oauth" || m.value.text.empty()) return;
    auto token = text(m, m.value);
    if (token) add_header(m, "Authorization", "Bearer " + *token);
    return;
  }
  oauth(m);
}

void entry_reader::api_key(documents::node_member& m) {
  if (is_empty(m.value)) return;
  if (m.value.is(kind::string)) {
    auto key = text(m, m.value);
    if (key) add_header(m, "Authorization", "Bearer " + *key);
    return;
  }
  const auto* key = m.value.find("key");
  const auto* source = m.value.find("source");
  const auto* kind_of = m.value.find("authorization_type");
  const auto* header = m.value.find("custom_header");
  if (key == nullptr || (source != nullptr && source->value.text == "user"))
    return error(m, "a key of each user of that program", "write the key into \"headers\" of an entry of your own");
  auto value = text(m, key->value);
  if (!value) return;
  const std::string how = kind_of != nullptr ? kind_of->value.text : "bearer";
  if (how == "bearer") return add_header(m, "Authorization", "Bearer " + *value);
  if (how == "custom" && header != nullptr && header->value.is(kind::string))
    return add_header(m, header->value.text, std::move(*value));
  error(m, "a key that is sent in a way mcpbx does not know",
        "write the header into \"headers\" of an entry of your own");
}

void entry_reader::provider_type(documents::node_member& m) {
  if (!is_empty(m.value) && !(m.value.is(kind::string) && m.value.text == "dynamic_discovery")) foreign_login(m);
}

}  // namespace mcpbx::conf::imports
