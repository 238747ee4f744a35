// Tells the redactor which values of the configuration are secret (docs/guarantees.md, G35). secret_name() in
// references.hpp decides which names stand for a secret.
#pragma once
#include "conf/model/references.hpp"

#include <string_view>

namespace mcpbx::conf {

/// Of the value of a variable or header called `name`: all of it where that is a secret's name, and else the passwords
/// of the addresses in it.
void register_secrets(std::string_view name, std::string_view value);

/// The password of each `scheme://user:password@host` in `text`, as it is written and percent-decoded; of
/// `https://token@host` the token.
void register_url_passwords(std::string_view text);

/// Of the query of an address what is secret: the values of parameters with a secret's name (`api-key`, `token`, `sig`,
/// `code`, …), and each value of `written` that references stand in. A reference that cannot be resolved is left to
/// whoever resolves the whole.
void register_query_secrets(const reference_string& written, reference_source& source);

}  // namespace mcpbx::conf
