// JSON Schema 2020-12: a schema is compiled once and judges values many times. What is wrong is said in words that a
// model can act on. Nothing is ever fetched, and every cost has a bound, because schemas come from tool servers.
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

namespace mcpbx::providers {

namespace schema {
struct program;
}

/// One thing that is wrong with a value, or with a schema.
struct violation {
  std::string path;      ///< where, from the root: "" or such as `.items[2].name`
  std::string expected;  ///< the expected form, such as `a string`
  std::string found;     ///< what is there, such as `the number 5`; "" where `expected` says it all
};

/// A schema that others may refer to: a document that is known beforehand, because nothing is ever fetched. Schemas of
/// tools and answers come without any; the official suite, which is the judge of this validator, needs them.
struct known_schema {
  std::string uri;  ///< of the document: absolute, without a fragment; of two with the same one the first counts
  raw_json text;
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
    std::string_view unread{};  ///< what kept the text from being looked at at all, such as `half of a surrogate
                                ///< pair`, and it is not complete; "" otherwise
  };

  /// References ($ref, $anchor, $dynamicRef, $id) are followed within the document and into the `known` ones, which
  /// need not outlive the call; one that leads elsewhere accepts everything, as do keywords with values that the
  /// standard does not allow and patterns that are not supported: notes() names each. Where $schema names a known
  /// metaschema, only the vocabularies that it lists mean anything (section 8.1 of JSON Schema Core).
  /// errc::parse, errc::limit, or errc::invalid_argument for what is no schema at all.
  static result<json_schema> compile(const raw_json& schema, std::span<const known_schema> known = {});

  /// What is nested too deeply, or has verdict::unread, is not checked.
  verdict check(const raw_json& value) const;

  /// What of the schema is not checked: the place in the schema, what would be checked there, and what is there
  /// instead; at most 16.
  const std::vector<violation>& notes() const noexcept;
  std::size_t subschemas() const noexcept;

 private:
  explicit json_schema(std::shared_ptr<const schema::program> p) : program_(std::move(p)) {}
  std::shared_ptr<const schema::program> program_;  // never null
};

/// One violation as a clause, `arguments.items[2].name: expected a string, found the number 5`, where `root` is
/// "arguments".
std::string describe(const violation& one, std::string_view root);
/// One line per violation, `- arguments.items[2].name: expected a string, found the number 5`, where `root` is
/// "arguments"; joined by newlines.
std::string describe(std::span<const violation> violations, std::string_view root);

}  // namespace mcpbx::providers
