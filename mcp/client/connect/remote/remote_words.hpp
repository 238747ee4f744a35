// Sentences about answers of servers over HTTP, and small readers of header values. No I/O.
#pragma once
#include "mcp/client/connect/connector.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::remote {

/// Returns true if `id` is this number. Makes no id to compare with, as it is asked several times for each answer.
bool is_number(const rpc::rpc_id& id, std::int64_t number);
/// Returns the values of all headers of this name, joined as one list (RFC 9110, section 5.2).
std::string joined_headers(const std::vector<http::header>& headers, std::string_view name);
/// Returns the type of a Content-Type value, without parameters; its letters may be of either case.
std::string_view media_type(std::string_view value);
/// Returns the wait of a Retry-After, which has seconds or a date: a day at most, and for a date a second at least.
/// nullopt: none. `wall_ms` is the present time in milliseconds since 1970.
std::optional<milliseconds> retry_after(std::string_view value, std::int64_t wall_ms);
/// Resolves a Location or an endpoint against the address it came from. nullopt: it leads to another origin.
std::optional<std::string> same_origin(std::string_view base, std::string_view location);
/// Returns "HTTP status 404" with a short printable excerpt of the body, if that is text.
std::string status_text(int status, std::string_view body);
/// Returns the predicate for a server that answers 401. `has_token`: its entry has an Authorization header.
std::string unauthorized_text(bool has_token);
/// Returns the word for remote_status::problem for a failed exchange.
std::string_view problem_of(const http::clients::failure& f);
/// Returns what a person can do about such a problem, to be appended to its sentence, or "".
std::string_view way_out(std::string_view problem);
/// Returns a sentence of the HTTP client as a clause, without its full stop.
std::string clause(const std::string& sentence);

}  // namespace mcpbx::mcp::remote
