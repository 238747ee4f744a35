// Words that several parts of the findings share.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::cli::doctor {

/// Returns three octal digits, such as "600".
std::string octal(unsigned mode);
/// Returns the mend of a reference that does not resolve, given the sentence about it.
std::string export_for(std::string_view sentence);
/// Returns ": REASON", bounded, from what the daemon says about an address, or "". Leaves out a beginning that says
/// what the finding says itself.
std::string reason_behind(std::string_view detail);
/// Returns true if an address was asked for TLS and answered something else.
bool speaks_no_tls(std::string_view detail);
/// Returns the mend for it. Only an address of this machine is told to do without TLS: anywhere else the plain answer
/// may be that of somebody between, who would then get the key. `correct` is the mend of a wrong address.
std::string mend_without_tls(std::string_view address, std::string_view member, std::string_view entry,
                             std::string_view correct);

}  // namespace mcpbx::cli::doctor
