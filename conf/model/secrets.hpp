// Tells the redactor which values of the configuration are secret (docs/guarantees.md, G35). secret_name() in
// references.hpp decides which names stand for a secret.
#pragma once
#include "conf/model/references.hpp"

#include <string_view>
#include <vector>

namespace mcpbx::conf::model {

/// Returns the secret parts of the addresses in `text`, as views of it: the password of each
/// `scheme://user:password@host`, the token of each `https://token@host`, and of the query of an address the values of
/// parameters with a secret's name. Parts that hold references are left out.
std::vector<std::string_view> address_secrets(std::string_view text);

/// Registers the value of a variable or header: all of it if `name` is a secret's name, else the passwords of the
/// addresses in it.
void register_secrets(std::string_view name, std::string_view value);

/// Registers the password of each `scheme://user:password@host` in `text`, as written and percent-decoded, and the
/// token of each `https://token@host`.
void register_url_passwords(std::string_view text);

/// Registers secret values in the query of an address: those of parameters with a secret's name (`api-key`, `token`,
/// `sig`, `code`, …) and those that contain references. Skips references that cannot be resolved: the caller that
/// resolves the whole address reports them.
void register_query_secrets(const reference_string& written, reference_source& source);

}  // namespace mcpbx::conf::model
