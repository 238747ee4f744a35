// The rules of the envelope, and its building.
#include "mcp/rpc/message.hpp"

#include "mcp/support/byte_search.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace mcpbx::mcp {
namespace {

constexpr std::size_t longest_id = 256;
/// An id that is kept for a while must not keep a message larger than this alive.
constexpr std::size_t pinned_at_most = 4096;

constexpr std::array<std::string_view, 6> member_names = {"jsonrpc", "id", "method", "params", "result", "error"};

bool integer_token(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  return !token.empty() && std::ranges::all_of(token, [](char c) { return c >= '0' && c <= '9'; });
}

bool text_is(const raw_json& token, std::string_view text) {
  const std::string_view t = token.text();
  if (t.size() == text.size() + 2 && t.front() == '"' && t.substr(1, text.size()) == text) return true;
  return token.is_string() && t.find('\\') != std::string_view::npos && unescaped(t) == text;
}

std::string first_duplicate(const envelope_index& index) {
  for (std::size_t i = 0; i < member_names.size(); ++i)
    if (index.duplicate(static_cast<envelope_member>(i)))
      return "member \"" + std::string(member_names[i]) + "\" occurs twice";
  return {};
}

/// What is wrong with an error object, or "".
std::string wrong_error_object(const raw_json& error) {
  const auto object = raw_object::open(error, {"code", "message"});
  if (!object) return "member \"error\" is wrong: " + object.error().message;
  if (!object->find("code").as_integer()) return "member \"error\" has no integer \"code\"";
  if (!object->find("message").is_string()) return "member \"error\" has no string \"message\"";
  return {};
}

/// Takes the members of one envelope object. Returns what is wrong with it, or "".
std::string take_members(message& m, const envelope_index& index) {
  const auto part = [&](envelope_member which) {
    const envelope_index::span& s = index[which];
    return m.whole.slice(m.whole.text().substr(s.begin, s.end - s.begin));
  };
  if (index.duplicates != 0) return first_duplicate(index);
  if (!index[envelope_member::jsonrpc].present()) return "member \"jsonrpc\" is missing";
  if (!text_is(part(envelope_member::jsonrpc), "2.0")) return "member \"jsonrpc\" must be \"2.0\"";
  if (index[envelope_member::id].present() && m.id.empty())
    return "member \"id\" must be a string of at most 256 bytes or an integer";

  const bool has_result = index[envelope_member::result].present(), has_error = index[envelope_member::error].present();
  if (index[envelope_member::method].present()) {
    if (has_result || has_error) return "a message has either a \"method\" or a \"result\" or \"error\"";
    m.method_token = part(envelope_member::method);
    if (!m.method_token.is_string()) return "member \"method\" must be a string";
    const std::string_view token = m.method_token.text();
    m.method_ = token.substr(1, token.size() - 2);
    if (m.method_.find('\\') != std::string_view::npos) m.method_storage = unescaped(token);
    m.params = part(envelope_member::params);
    if (!m.params.empty() && !m.params.is_object()) return "member \"params\" must be an object";
    m.type = m.id.empty() ? message::kind::notification : message::kind::request;
    return {};
  }

  m.type = message::kind::response;
  if (!has_result && !has_error) return "a message needs a \"method\", a \"result\" or an \"error\"";
  if (has_result && has_error) return "a response has either a \"result\" or an \"error\", not both";
  if (m.id.empty()) return "a response needs an \"id\"";
  if (has_result) {
    m.result = part(envelope_member::result);
    return "";
  }
  m.error = part(envelope_member::error);
  return wrong_error_object(m.error);
}

/// The id of an envelope whose text may be cut off behind the index. A repeated id is none: it would name two calls.
rpc_id id_in(const raw_json& whole, const envelope_index& index) {
  const envelope_index::span& s = index[envelope_member::id];
  if (!s.present() || index.duplicate(envelope_member::id) || s.end > whole.text().size()) return {};
  return rpc_id::from(whole.slice(whole.text().substr(s.begin, s.end - s.begin))).value_or(rpc_id());
}

bool looks_like_response(const envelope_index& index) {
  return index.has_seen(envelope_member::result) || index.has_seen(envelope_member::error);
}

raw_json trimmed(raw_json whole) {
  const std::string_view t = whole.text();
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  std::size_t begin = 0, end = t.size();
  while (begin < end && blank(t[begin])) ++begin;
  while (end > begin && blank(t[end - 1])) --end;
  return begin == 0 && end == t.size() ? whole : whole.slice(t.substr(begin, end - begin));
}

/// The same value without raw line breaks; only to be called for checked text, where they stand between tokens.
raw_json on_one_line(const raw_json& value) {
  std::string text(value.text());
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
  return raw_json::own(text);
}

std::string head(std::string_view begin, const rpc_id& id, std::string_view end) {
  std::string out(begin);
  out += id.empty() ? std::string_view("null") : id.token().text();
  out += end;
  return out;
}

segments with_params(std::string start, std::string_view method, const segments& params) {
  segments out;
  append_quoted(start, method);
  if (params.empty()) {
    start += '}';
    out.append_copy(start);
    return out;
  }
  start += ",\"params\":";
  out.append_copy(start);
  out.append(params);
  out.append_literal("}");
  return out;
}

segments one(const raw_json& value) {
  segments s;
  s.append(value);
  return s;
}

constexpr std::string_view response_head = R"({"jsonrpc":"2.0","id":)";
constexpr std::string_view notification_head = R"({"jsonrpc":"2.0","method":)";

}  // namespace

std::optional<rpc_id> rpc_id::from(raw_json token) {
  rpc_id id;
  const std::string_view text = token.text();
  if (token.is_string()) {
    // Each byte takes at most six as an escape; what is longer need not be unescaped to be refused.
    if (text.size() > 6 * longest_id + 2) return std::nullopt;
    std::string plain = unescaped(text);
    if (plain.size() > longest_id) return std::nullopt;
    // U+FFFD may stand for any lone surrogate, and two different ids must never become equal: those compare as written.
    if (plain.find(utf8::replacement) != std::string::npos) {
      id.key_ = 'r';
      id.key_ += text;
    } else {
      id.key_ = 's';
      id.key_ += plain;
    }
  } else {
    if (text.size() > longest_id || !integer_token(text)) return std::nullopt;
    id.key_ = 'n';
    id.key_ += text == "-0" ? std::string_view("0") : text;
  }
  id.token_ = token.owner().size() > pinned_at_most ? token.detached() : std::move(token);
  return id;
}

rpc_id rpc_id::number(std::int64_t value) {
  rpc_id id;
  id.token_ = raw_json::integer(value);
  id.key_ = 'n';
  id.key_ += id.token_.text();
  return id;
}

raw_json rpc_error::json() const {
  std::string out = "{\"code\":" + std::to_string(code) + ",\"message\":";
  append_quoted(out, message);
  if (!data.empty()) {
    out += ",\"data\":";
    out += data.text();
  }
  out += '}';
  return raw_json::own(out);
}

std::expected<message, envelope_fault> make_message(raw_json whole, const envelope_index& index) {
  message m;
  m.whole = std::move(whole);
  if (m.whole.is_array()) {
    m.type = message::kind::batch;
    return m;
  }
  envelope_fault fault;
  if (!m.whole.is_object()) {
    fault.what = "a message must be an object";
    return std::unexpected(std::move(fault));
  }
  m.id = id_in(m.whole, index);
  fault.what = take_members(m, index);
  if (fault.what.empty()) return m;
  fault.id = std::move(m.id);
  fault.answers = looks_like_response(index);
  fault.is_response =
      fault.answers || (index.has_seen(envelope_member::id) && !index.has_seen(envelope_member::method));
  return std::unexpected(std::move(fault));
}

std::expected<message, envelope_fault> parse_message(raw_json whole, int max_depth) {
  whole = trimmed(std::move(whole));
  json_scanner scanner({.max_depth = max_depth});
  if (!scanner.feed(whole.text()) || !scanner.finish()) {
    const bool deep = scanner.fault_kind() == json_scanner::fault::depth;
    return std::unexpected(
        fault_of(whole.text(), scanner.envelope(), deep ? code::invalid_request : code::parse_error,
                 std::string(to_string(scanner.fault_kind())) + " at byte " + std::to_string(scanner.fault_offset())));
  }
  if (scanner.saw_line_break()) whole = on_one_line(whole);
  return make_message(std::move(whole), scanner.envelope());
}

envelope_fault fault_of(std::string_view text, const envelope_index& index, int code, std::string what) {
  envelope_fault fault;
  fault.code = code;
  const envelope_index::span& s = index[envelope_member::id];
  if (s.present() && s.end <= text.size() && !index.duplicate(envelope_member::id))
    fault.id = rpc_id::from(raw_json::own(text.substr(s.begin, s.end - s.begin))).value_or(rpc_id());
  fault.answers = fault.is_response = looks_like_response(index);
  fault.what = std::move(what);
  return fault;
}

segments make_request(std::int64_t id, std::string_view method, const segments& params) {
  return with_params(std::string(response_head) + std::to_string(id) + ",\"method\":", method, params);
}

segments make_notification(std::string_view method, const segments& params) {
  return with_params(std::string(notification_head), method, params);
}

segments make_notification(std::string_view method, const raw_json& params) {
  return with_params(std::string(notification_head), method, one(params));
}

segments make_result(const rpc_id& id, const segments& result) {
  segments out;
  out.append_copy(head(response_head, id, ",\"result\":"));
  out.append(result);
  out.append_literal("}");
  return out;
}

segments make_result(const rpc_id& id, const raw_json& result) {
  return make_result(id, one(result));
}

segments make_error(const rpc_id& id, const rpc_error& error) {
  return make_error(id, error.json());
}

segments make_error(const rpc_id& id, const raw_json& error) {
  segments out;
  out.append_copy(head(response_head, id, ",\"error\":"));
  out.append(error);
  out.append_literal("}");
  return out;
}

}  // namespace mcpbx::mcp
