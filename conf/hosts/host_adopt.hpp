// Turns the keys of other hosts in one entry of mcpServers into ours, before the entry is checked like any other.
#pragma once
#include "conf/document/diagnostic.hpp"
#include "conf/document/jsonc.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::conf {

/// Where findings go: place, what is wrong, where in the document, what to do.
struct finding_sink {
  using report = std::function<void(const place& at, std::string what, std::string path, std::string mend)>;
  report error, notice;
};

/// Takes the keys of other hosts out of `entry` (an object at `path`, of the server `name`) and adds what they mean as
/// our keys. Of two keys that disagree the stricter one holds, and a notice says so. What narrows and cannot be
/// honoured is an error.
void adopt_host_keys(node& entry, std::string_view name, const std::string& path, const finding_sink& sink);

}  // namespace mcpbx::conf
