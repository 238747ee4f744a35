// Checks and builds JSON-RPC envelopes.
#include "mcp/rpc/rpc_message.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/support/byte_search.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace mcpbx::mcp::rpc {
namespace {

constexpr std::size_t longest_id = 256;
/// Size below which a body is copied into one block with its envelope. That is cheaper than a piece of its own, which
/// must be shared, counted and freed.
constexpr std::size_t shared_from = 4096;

constexpr std::array<std::string_view, 6> member_names = {"jsonrpc", "id", "method", "params", "result", "error"};

bool integer_token(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  return !token.empty() && std::ranges::all_of(token, [](char c) { return c >= '0' && c <= '9'; });
}

bool text_is(std::string_view token, std::string_view text) {
  if (!token.starts_with('"')) return false;
  if (token.size() == text.size() + 2 && token.substr(1, text.size()) == text) return true;
  return token.find('\\') != std::string_view::npos && json::unescaped(token) == text;
}

std::string first_duplicate(const json::envelope_index& index) {
  for (std::size_t i = 0; i < member_names.size(); ++i)
    if (index.duplicate(static_cast<json::envelope_member>(i)))
      return "member \"" + std::string(member_names[i]) + "\" occurs twice";
  return {};
}

/// Returns the fault of an error object, or "".
std::string wrong_error_object(const json::raw_json& error) {
  const auto object = json::raw_object::open(error, {"code", "message"});
  if (!object) return "member \"error\" is wrong: " + object.error().message;
  if (!object->find("code").as_integer()) return "member \"error\" has no integer \"code\"";
  if (!object->find("message").is_string()) return "member \"error\" has no string \"message\"";
  return {};
}

/// Takes the members of one envelope object. Returns its fault, or "".
std::string take_members(message& m, const json::envelope_index& index) {
  const auto text = [&](json::envelope_member which) {
    const json::envelope_index::span& s = index[which];
    return m.whole.text().substr(s.begin, s.end - s.begin);
  };
  const auto part = [&](json::envelope_member which) { return m.whole.slice(text(which)); };
  if (index.duplicates != 0) return first_duplicate(index);
  if (!index[json::envelope_member::jsonrpc].present()) return "member \"jsonrpc\" is missing";
  if (!text_is(text(json::envelope_member::jsonrpc), "2.0")) return "member \"jsonrpc\" must be \"2.0\"";
  if (index[json::envelope_member::id].present() && m.id.empty())
    return "member \"id\" must be a string of at most 256 bytes or an integer";

  const bool has_result = index[json::envelope_member::result].present(),
             has_error = index[json::envelope_member::error].present();
  if (index[json::envelope_member::method].present()) {
    if (has_result || has_error) return "a message has either a \"method\" or a \"result\" or \"error\"";
    const std::string_view token = text(json::envelope_member::method);
    if (!token.starts_with('"')) return "member \"method\" must be a string";
    m.method_ = token.substr(1, token.size() - 2);
    if (m.method_.find('\\') != std::string_view::npos) m.method_storage = json::unescaped(token);
    if (index[json::envelope_member::params].present()) m.params = part(json::envelope_member::params);
    if (!m.params.empty() && !m.params.is_object()) return "member \"params\" must be an object";
    m.type = m.id.empty() ? message::kind::notification : message::kind::request;
    return {};
  }

  m.type = message::kind::response;
  if (!has_result && !has_error) return "a message needs a \"method\", a \"result\" or an \"error\"";
  if (has_result && has_error) return "a response has either a \"result\" or an \"error\", not both";
  if (m.id.empty()) return "a response needs an \"id\"";
  if (has_result) {
    m.result = part(json::envelope_member::result);
    return "";
  }
  m.error = part(json::envelope_member::error);
  return wrong_error_object(m.error);
}

/// Reads the id of an envelope whose text may be cut off behind the index. A repeated id does not count, since it would
/// name two calls.
void read_id(rpc_id& id, std::string_view whole, const json::envelope_index& index) {
  const json::envelope_index::span& s = index[json::envelope_member::id];
  if (s.present() && !index.duplicate(json::envelope_member::id) && s.end <= whole.size())
    id.read(whole.substr(s.begin, s.end - s.begin));
}

bool looks_like_response(const json::envelope_index& index) {
  return index.has_seen(json::envelope_member::result) || index.has_seen(json::envelope_member::error);
}

json::raw_json trimmed(json::raw_json whole) {
  const std::string_view t = whole.text();
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  std::size_t begin = 0, end = t.size();
  while (begin < end && blank(t[begin])) ++begin;
  while (end > begin && blank(t[end - 1])) --end;
  return begin == 0 && end == t.size() ? whole : whole.slice(t.substr(begin, end - begin));
}

/// Returns the value without raw line breaks. Only for checked text, where they are between tokens.
json::raw_json on_one_line(const json::raw_json& value) {
  std::string text(value.text());
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
  return json::raw_json::own(text);
}

using pieces = std::span<const json::raw_json>;

pieces one(const json::raw_json& value) {
  return {&value, value.empty() ? 0u : 1u};
}

/// Returns a line of `head`, `body` and the envelope's closing brace.
json::segments enclosed(std::initializer_list<std::string_view> head, pieces body) {
  std::size_t head_size = 0, body_size = 0;
  for (const std::string_view part : head) head_size += part.size();
  for (const json::raw_json& piece : body) body_size += piece.text().size();
  const bool shared = body_size >= shared_from;

  byte_buffer text;
  char* end = text.extend(head_size + (shared ? 0 : body_size + 1));
  const auto put = [&end](std::string_view part) { end = std::copy(part.begin(), part.end(), end); };
  for (const std::string_view part : head) put(part);
  if (!shared) {
    for (const json::raw_json& piece : body) put(piece.text());
    put("}");
  }
  json::segments out;
  out.append(json::raw_json::whole(text.take()));
  if (shared) {
    for (const json::raw_json& piece : body) out.append(piece);
    out.append_literal("}");
  }
  return out;
}

constexpr std::string_view id_head = R"({"jsonrpc":"2.0","id":)";
constexpr std::string_view notification_head = R"({"jsonrpc":"2.0","method":)";

std::string_view params_key(pieces params) {
  return params.empty() ? "" : R"(,"params":)";
}

json::segments request(std::int64_t id, std::string_view method, pieces params) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), id).ptr;
  return enclosed({id_head, {digits.data(), end}, R"(,"method":)", json::json_quoted(method), params_key(params)},
                  params);
}

json::segments notification(std::string_view method, pieces params) {
  return enclosed({notification_head, json::json_quoted(method), params_key(params)}, params);
}

json::segments response(const rpc_id& id, std::string_view key, pieces body) {
  return enclosed({id_head, id.empty() ? std::string_view("null") : id.token(), key}, body);
}

}  // namespace

std::optional<rpc_id> rpc_id::from(const json::raw_json& token) {
  std::optional<rpc_id> id(std::in_place);
  if (!id->read(token.text())) id.reset();
  return id;
}

bool rpc_id::read(std::string_view token) {
  key_.clear();
  token_.clear();
  if (token.starts_with('"')) {
    // An escaped byte takes at most six, so a longer token can be refused without unescaping it.
    if (token.size() > 6 * longest_id + 2) return false;
    const std::string plain = json::unescaped(token);
    if (plain.size() > longest_id) return false;
    token_ = token;
    // U+FFFD may replace any lone surrogate, and different ids must stay different, so compare such ids as written.
    if (plain.find(utf8::replacement) == std::string::npos)
      key_.append(1, 's').append(plain);
    else
      key_.append(1, 'r').append(token);
  } else if (token == "-0") {
    token_ = token;
    key_ = "n0";
  } else if (token.size() <= longest_id && integer_token(token)) {
    key_.append(1, 'n').append(token);
  }
  return !key_.empty();
}

rpc_id rpc_id::number(std::int64_t value) {
  rpc_id id;
  id.key_ = 'n' + std::to_string(value);
  return id;
}

json::raw_json rpc_error::json() const {
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("code", code).member("message", message).given("data", data).end_object();
  return json::raw_json::own(out);
}

std::expected<message, envelope_fault> make_message(json::raw_json& whole, const json::envelope_index& index) {
  // Fill the returned object in place: moving a message would cost half as much as all of this.
  std::expected<message, envelope_fault> out;
  message& m = *out;
  m.whole = std::move(whole);
  std::string wrong;
  if (m.whole.is_object()) {
    read_id(m.id, m.whole.text(), index);
    wrong = take_members(m, index);
  } else if (m.whole.is_array()) {
    m.type = message::kind::batch;
  } else {
    wrong = "a message must be an object";
  }
  if (wrong.empty()) return out;

  whole = std::move(m.whole);
  envelope_fault fault;
  fault.what = std::move(wrong);
  fault.id = std::move(m.id);
  fault.answers = looks_like_response(index);
  fault.is_response =
      fault.answers || (index.has_seen(json::envelope_member::id) && !index.has_seen(json::envelope_member::method));
  out = std::unexpected(std::move(fault));
  return out;
}

std::expected<message, envelope_fault> parse_message(json::raw_json whole, int max_depth) {
  whole = trimmed(std::move(whole));
  json::json_scanner scanner({.max_depth = max_depth});
  if (!scanner.feed(whole.text()) || !scanner.finish()) {
    const bool deep = scanner.fault_kind() == json::json_scanner::fault::depth;
    return std::unexpected(fault_of(
        whole.text(), scanner.envelope(), deep ? code::invalid_request : code::parse_error,
        std::string(json::to_string(scanner.fault_kind())) + " at byte " + std::to_string(scanner.fault_offset())));
  }
  if (scanner.saw_line_break()) whole = on_one_line(whole);
  return make_message(whole, scanner.envelope());
}

envelope_fault fault_of(std::string_view text, const json::envelope_index& index, int code, std::string what) {
  envelope_fault fault;
  fault.code = code;
  read_id(fault.id, text, index);
  fault.answers = fault.is_response = looks_like_response(index);
  fault.what = std::move(what);
  return fault;
}

json::segments make_request(std::int64_t id, std::string_view method, const json::segments& params) {
  return request(id, method, params.pieces());
}

json::segments make_request(std::int64_t id, std::string_view method, const json::raw_json& params) {
  return request(id, method, one(params));
}

json::segments make_notification(std::string_view method, const json::segments& params) {
  return notification(method, params.pieces());
}

json::segments make_notification(std::string_view method, const json::raw_json& params) {
  return notification(method, one(params));
}

json::segments make_cancelled(std::int64_t id, std::string_view reason) {
  return make_notification(
      "notifications/cancelled",
      json::raw_json::own("{\"requestId\":" + std::to_string(id) + ",\"reason\":" + json::json_quoted(reason) + "}"));
}

json::segments make_result(const rpc_id& id, const json::segments& result) {
  return response(id, R"(,"result":)", result.pieces());
}

json::segments make_result(const rpc_id& id, const json::raw_json& result) {
  return response(id, R"(,"result":)", one(result));
}

json::segments make_error(const rpc_id& id, const rpc_error& error) {
  return make_error(id, error.json());
}

json::segments make_error(const rpc_id& id, const json::raw_json& error) {
  return response(id, R"(,"error":)", one(error));
}

}  // namespace mcpbx::mcp::rpc
