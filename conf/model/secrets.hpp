// Making known to the redactor what is secret in the values of the configuration (guarantees row 35). Which names mean
// a secret says secret_name() in references.hpp.
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
