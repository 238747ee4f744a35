// Marks of DeepSeek V3.2 and V4: <｜DSML｜invoke name="NAME"> and its like, with bars of either script, single or
// doubled.
#pragma once
#include "providers/text/marks/text_scan.hpp"

#include <cstddef>
#include <string_view>

namespace mcpbx::providers::text::marks {

enum class dsml_kind : unsigned char {
  section,      ///< calls follow
  section_end,  ///< closes the mark around calls
  invoke,
  invoke_end,
  parameter,
  parameter_end,
  other  ///< damaged
};
struct dsml_mark {
  match is = match::no;
  dsml_kind kind = dsml_kind::other;
  std::size_t size = 0;         ///< bytes
  std::string_view attributes;  ///< the text behind its word
};
/// Finds such a mark at the beginning of `s`. A damaged one reaches up to the next angle bracket or line end.
dsml_mark match_dsml(std::string_view s);

/// Longest mark in bytes.
inline constexpr std::size_t longest_dsml = 512;

}  // namespace mcpbx::providers::text::marks
