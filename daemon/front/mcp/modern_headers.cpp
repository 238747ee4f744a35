// Compares headers with the members of the body that they mirror.
#include "daemon/front/mcp/modern_headers.hpp"

#include "mcp/protocol/header_params.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <charconv>
#include <expected>
#include <utility>

namespace mcpbx::daemon::mcp_door {
namespace {

using found_error = std::optional<mcp::rpc::rpc_error>;

mcp::rpc::rpc_error mismatch(std::string text) {
  return {mcp::protocol::mcp_code::header_mismatch, "Header mismatch: " + std::move(text), {}};
}

std::string shown(std::string_view value) {
  return "'" + redact::cut_for_people(value, 100) + "'";
}

/// Returns the value of the one header of this name, or the error.
std::expected<std::string_view, mcp::rpc::rpc_error> the_one(const std::vector<http::header>& headers,
                                                             std::string_view name) {
  std::optional<std::string_view> value;
  for (const auto& h : headers) {
    if (!http::is_word(h.name, name)) continue;
    if (value) return std::unexpected(mismatch("the header " + std::string(name) + " is given twice"));
    value = trimmed(h.value);
  }
  if (!value) return std::unexpected(mismatch("the header " + std::string(name) + " is missing"));
  return *value;
}

found_error differs(std::string_view name, std::string_view in_header, std::string_view in_body) {
  return mismatch(std::string(name) + " header value " + shown(in_header) + " does not match body value " +
                  shown(in_body));
}

/// Compares a header with a text of the body.
found_error check_text(const std::vector<http::header>& headers, std::string_view name, std::string_view expected,
                       bool may_be_encoded) {
  const auto value = the_one(headers, name);
  if (!value) return value.error();
  const auto meaning = may_be_encoded ? header_meaning(*value) : std::string(*value);
  if (!meaning) return mismatch("the value of the header " + std::string(name) + " is malformed");
  if (*meaning != expected) return differs(name, *meaning, expected);
  return {};
}

/// A decimal number, exactly: 0.DIGITS times ten to the power of `exponent`.
struct exact_number {
  bool negative = false;
  std::string digits;  // without zeros at either end; "": zero
  std::int64_t exponent = 0;
  bool operator==(const exact_number&) const = default;
};

std::optional<exact_number> number_of(std::string_view text) {
  exact_number n;
  if (text.starts_with('-')) {
    n.negative = true;
    text.remove_prefix(1);
  }
  bool any = false, fraction = false;
  for (; !text.empty() && text.front() != 'e' && text.front() != 'E'; text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && any && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') return {};
    any = true;
    if (c == '0' && n.digits.empty()) {
      if (fraction) --n.exponent;
      continue;
    }
    n.digits += c;
    if (!fraction) ++n.exponent;
  }
  if (!any) return {};
  if (!text.empty()) {
    text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    int power = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), power);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return {};
    n.exponent += power;
  }
  while (n.digits.ends_with('0')) n.digits.pop_back();
  return n.digits.empty() ? exact_number() : n;
}

/// Returns the value at the path; absent if there is none, or null. Nothing: a key is given twice, or there are too
/// many of them, so that nobody can say which value its server takes.
std::optional<json::raw_json> value_at(const std::vector<std::string>& path, const json::raw_json& arguments) {
  json::raw_json value = arguments;
  for (const auto& key : path) {
    if (!value.is_object()) return json::raw_json();
    const std::string_view wanted[] = {key};
    const auto found = json::read_members(value, wanted);
    if (!found) return {};
    value = found->front().empty() ? json::raw_json() : value.slice(found->front().text());
  }
  return value.is_null() ? json::raw_json() : value;
}

found_error check_param(const std::vector<http::header>& headers, const mcp::protocol::header_param& p,
                        const json::raw_json& arguments) {
  const auto name = "Mcp-Param-" + p.name;
  const bool given = std::ranges::any_of(headers, [&](const http::header& h) { return http::is_word(h.name, name); });
  const auto at = value_at(p.path, arguments);
  if (!at)
    return mismatch("the argument that the header " + name + " mirrors is given more than once, or beside too many");
  const json::raw_json& body = *at;
  if (!given && body.empty()) return {};
  const auto value = the_one(headers, name);
  if (!value) return value.error();
  const auto meaning = header_meaning(*value);
  if (!meaning) return mismatch("the value of the header " + name + " is malformed");
  if (body.empty()) return mismatch("the header " + name + " is given, and the argument that it mirrors is not");
  if (body.is_string()) {
    const auto text = body.as_string().value_or("");
    if (*meaning != text) return differs(name, *meaning, text);
    return {};
  }
  if (*meaning == body.text()) return {};
  // Numbers are compared as such: 42.0 is 42.
  if (body.type() == json::raw_json::kind::number) {
    const auto sent = number_of(*meaning), meant = number_of(body.text());
    if (sent && meant && *sent == *meant) return {};
  }
  return differs(name, *meaning, body.text());
}

bool has(const std::vector<http::header>& headers, std::string_view name) {
  return std::ranges::any_of(headers, [&](const http::header& h) { return http::is_word(h.name, name); });
}

}  // namespace

std::optional<std::string> header_meaning(std::string_view value) {
  constexpr std::string_view begin = "=?base64?", end = "?=";
  if (!std::ranges::all_of(value, [](char c) { return (c >= 0x20 && c <= 0x7E) || c == '\t'; })) return {};
  if (!value.starts_with(begin) || !value.ends_with(end) || value.size() < begin.size() + end.size())
    return std::string(value);
  return base64_bytes(value.substr(begin.size(), value.size() - begin.size() - end.size()));
}

found_error check_modern_headers(const std::vector<http::header>& headers, const mcp::rpc::message& request,
                                 const json::raw_json& named, const definition_lookup& definition) {
  const auto revision = named.as_string();
  if (auto e = check_text(headers, "MCP-Protocol-Version", revision.value_or(""), false)) return e;
  // An unknown revision is answered as such, without a look at other headers.
  if (revision != mcp::protocol::revision::modern) return {};
  const auto method = request.method();
  if (auto e = check_text(headers, "Mcp-Method", method, false)) return e;
  const auto member = mcp::protocol::named_member(method);
  if (member.empty()) return {};
  if (!request.params.is_object()) return {};  // the method refuses its params
  const auto members = json::read_members(request.params, {member, "arguments"});
  if (!members) return mcp::rpc::rpc_error{mcp::rpc::code::invalid_params, "params: " + members.error().message, {}};
  const auto& [named_thing, arguments] = *members;
  const auto name = named_thing.as_string();
  if (!name) return {};  // the method refuses its params
  // The revision itself demands the header of its own methods only.
  if (member == "taskId" && !has(headers, "Mcp-Name")) return {};
  if (auto e = check_text(headers, "Mcp-Name", *name, true)) return e;
  if (method != "tools/call") return {};
  const auto params = mcp::protocol::read_header_params(json::find_member(definition(*name), "inputSchema"));
  if (!params) return {};  // annotations that break the rules mean nothing
  for (const auto& p : *params)
    if (auto e = check_param(headers, p, arguments)) return e;
  return {};
}

}  // namespace mcpbx::daemon::mcp_door
