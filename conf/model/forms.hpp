// Forms of strings, such as URLs and names: each as a check, as a regular expression for the published schema, and as
// words for errors.
#pragma once
#include <string_view>
#include <vector>

namespace mcpbx::conf::model {

struct form {
  std::string_view says;   ///< "a URL that starts with http:// or https://"
  std::string_view regex;  ///< ECMA 262 with the `u` flag; accepts what `accepts` accepts
  bool (*accepts)(std::string_view);
  std::string_view mend;  ///< instruction for the user: "write it like …"
};

namespace forms {
/// Returns true if the address of a store names a PostgreSQL database.
constexpr bool is_postgres_url(std::string_view url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

extern const form entry_name;    ///< names of servers and profiles
extern const form model_name;    ///< an entry name without `/` that does not start with `profile:`
extern const form filled;        ///< any text but the empty one
extern const form env_name;      ///< the name of an environment variable
extern const form header_name;   ///< a token of HTTP
extern const form header_value;  ///< one line
extern const form http_url;
extern const form server_url;    ///< the address of a tool server of any kind
extern const form endpoint_url;  ///< an http_url or unix:/PATH
extern const form tool_glob;
extern const form prompt_glob;
extern const form uri_glob;
extern const form method_glob;
extern const form extension_name;
extern const form tool_name;   ///< a name of a tool as models see it
extern const form root_place;  ///< a path, or an address that begins with file://
extern const form loopback_address;
extern const form store_url;
/// Returns true for the forms of patterns.
bool is_glob(const form* f);
/// Returns the word for one of the things that a pattern of this form stands for: "tool".
std::string_view thing_of(const form* f);
}  // namespace forms

}  // namespace mcpbx::conf::model
