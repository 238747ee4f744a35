// Validator for JSON Schema 2020-12: compiles a schema once and checks many values. Its findings are words that a model
// can act on. It never fetches anything, and every cost has a bound, because schemas come from tool servers.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::schema {

struct program;

/// One thing that is wrong with a value, or with a schema.
struct violation {
  std::string path;      ///< path from the root, such as `.items[2].name`; "": the root
  std::string expected;  ///< the expected form, such as `a string`
  std::string found;     ///< the actual value, such as `the number 5`; "" if `expected` says it all
};

/// A document that schemas may refer to, given beforehand because nothing is fetched. Schemas of tools and answers have
/// none; the official test suite of JSON Schema needs them.
struct known_schema {
  std::string uri;  ///< of the document: absolute, without a fragment; of two with the same one the first counts
  json::raw_json text;
};

class json_schema {
 public:
  static constexpr std::size_t max_text = 1U << 20;        ///< bytes of a schema; of all known ones together as well
  static constexpr std::size_t max_subschemas = 10'000;    ///< of one schema and what of known ones it refers to
  static constexpr std::size_t max_base_bytes = 1U << 20;  ///< of the addresses that its "$id"s make, together
  static constexpr std::size_t max_steps = 1'000'000;      ///< of one check, patterns included
  static constexpr std::size_t max_violations = 8;         ///< told at once
  static constexpr int max_depth = 256;                    ///< of schemas and values; references count as well

  struct verdict {
    std::vector<violation> violations;  ///< empty: the value fits, or nothing is known against it
    bool complete = true;               ///< false: a bound ended the check, and what was not looked at is accepted
    std::string_view unread{};          ///< reason why the text could not be read at all, such as `half of a surrogate
                                        ///< pair`; `complete` is false then. "" otherwise
  };

  /// Compiles a schema, with references into `known` ones, which need not outlive the call. Accepts everything where it
  /// cannot check; notes() names each place. errc::parse, errc::limit; errc::invalid_argument: this is no schema.
  static result<json_schema> compile(const json::raw_json& schema, std::span<const known_schema> known = {});

  /// Checks a value. Skips parts that are nested too deep; a text with verdict::unread is not checked at all.
  verdict check(const json::raw_json& value) const;

  /// Returns the parts of the schema that are not checked, at most 16: their place, the expected form and the actual
  /// one.
  const std::vector<violation>& notes() const noexcept;
  std::size_t subschemas() const noexcept;

 private:
  explicit json_schema(std::shared_ptr<const program> p) : program_(std::move(p)) {}
  std::shared_ptr<const program> program_;  // never null
};

/// Returns one violation as a clause: `arguments.items[2].name: expected a string, found the number 5` if `root` is
/// "arguments".
std::string describe(const violation& one, std::string_view root);
/// Returns one line for each violation, `- ` and the clause, joined by newlines.
std::string describe(std::span<const violation> violations, std::string_view root);

}  // namespace mcpbx::providers::schema
