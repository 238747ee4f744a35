// The formats that texts of forms may have (2025-11-25, Elicitation, StringSchema), and hosts of addresses.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::mcp::questions {

/// Returns the wanted form in words ("an address of e-mail, such as a@example.com") if `text` does not have this
/// format;
/// "" if it has, or the format is not one of email, uri, date and date-time.
std::string_view unmet_format(std::string_view format, std::string_view text);

/// Returns the host of an address of http or https, without user and port; "" if it is no such address.
std::string host_of_url(std::string_view url);

}  // namespace mcpbx::mcp::questions
