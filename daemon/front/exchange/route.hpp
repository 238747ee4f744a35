// Types of the table of HTTP routes: method and path to handler. The table itself is in daemon/front/http/routes.cpp.
// Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::routes {

class exchange;

/// Requirement on the body of a request.
enum class body_kind : std::uint8_t {
  any,  ///< none; the handler checks it
  json  ///< a request whose Content-Type is not JSON is refused before the body is read
};

/// Form of the answers to requests that are refused before their handler sees them.
enum class fault_form : std::uint8_t {
  openai,     ///< {"error": {message, type, param, code}}
  anthropic,  ///< {"type": "error", "error": {type, message}}
  json_rpc    ///< a JSON-RPC error response without an id
};

/// One row: a method of a path, and the function that answers it.
struct route {
  std::string_view method;  ///< as a request has it: "GET"
  /// "/v1/models", or with a parameter at its end: "/v1/models/{id}". The parameter takes all that follows, also a
  /// slash, also nothing. A path is compared byte by byte, before its percent escapes are decoded.
  std::string_view path;
  /// Answers one request. Called once, when the whole body is there; see exchange.
  void (*handle)(const std::shared_ptr<exchange>& x);
  body_kind body = body_kind::any;
  fault_form faults = fault_form::openai;
  /// The handler itself decides what a daemon that is stopping still takes.
  bool while_stopping = false;
  /// Needs no token on the port: it says nothing but whether the daemon lives.
  bool without_token = false;

  /// Returns the path up to its parameter ("/v1/models/"), or the whole path.
  constexpr std::string_view fixed_part() const { return path.substr(0, path.find('{')); }
  constexpr bool has_parameter() const { return fixed_part().size() < path.size(); }
  /// Returns the parameter's value in `request_path` ("" without a parameter), or nothing if the path does not match.
  constexpr std::optional<std::string_view> match(std::string_view request_path) const {
    if (!has_parameter()) return request_path == path ? std::optional<std::string_view>("") : std::nullopt;
    if (!request_path.starts_with(fixed_part())) return std::nullopt;
    return request_path.substr(fixed_part().size());
  }
};

/// The outcome of a search in a table.
struct found_route {
  const route* row = nullptr;              ///< null: no row has this path and method
  std::string_view parameter;              ///< parameter of the path, as sent; a view into the argument of find_route()
  fault_form faults = fault_form::openai;  ///< of the first row of this path
  std::vector<std::string_view>
      methods;  ///< methods of this path, in the order of the rows; empty: the path is unknown
};

/// Finds the first row for a path, without its query, and a method.
found_route find_route(std::span<const route> table, std::string_view method, std::string_view path);

/// Returns true if the row `earlier` takes all requests of `later`.
constexpr bool hides(const route& earlier, const route& later) {
  return earlier.method == later.method && (earlier.has_parameter() || !later.has_parameter()) &&
         earlier.match(later.fixed_part());
}

/// Returns true if each row can be reached: it has a method, an absolute path with a parameter only at its end, and no
/// row before it takes the same requests. For a static_assert beside the table.
constexpr bool is_sound(std::span<const route> table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto& r = table[i];
    if (r.method.empty() || !r.path.starts_with('/') || r.handle == nullptr) return false;
    const auto parameter = r.path.substr(r.fixed_part().size());
    if (r.has_parameter() && (!r.fixed_part().ends_with('/') || parameter.find('}') != parameter.size() - 1))
      return false;
    for (std::size_t before = 0; before < i; ++before)
      if (hides(table[before], r)) return false;
  }
  return true;
}

}  // namespace mcpbx::daemon::routes
