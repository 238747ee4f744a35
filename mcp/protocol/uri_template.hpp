// Matches URIs against the templates of resources (RFC 6570, the expressions of levels 1 to 3). Only answers whether a
// URI may be an expansion; the values of the variables are the server's affair.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::protocol {

class uri_template {
 public:
  /// Number of expressions in a template; one with more matches nothing.
  static constexpr std::size_t most_expressions = 32;
  /// Cuts a template into its parts. Nullopt: it is no template, or has too many expressions.
  static std::optional<uri_template> parse(std::string_view text);

  /// Returns true if `uri` may be an expansion, with any values and with variables left out. The work is the length of
  /// the URI for each part of the template; it is taken from `budget`, and a template that needs more matches nothing.
  bool matches(std::string_view uri, std::size_t& budget) const;
  /// Returns true if the template does not begin with a scheme of its own, so that URIs of any kind may match.
  bool is_open() const noexcept;

 private:
  /// Characters that an expansion may have, beside those in front.
  enum class reach : unsigned char { segment, path, query, anything };
  struct part {
    std::string literal{};  // or, if empty, an expression:
    char first = 0;         // the character in front of its values; 0: none
    reach values = reach::segment;
  };
  static std::optional<part> expression(std::string_view text);
  static bool may_have(reach r, char c) noexcept;

  std::vector<part> parts_;
};

}  // namespace mcpbx::mcp::protocol
