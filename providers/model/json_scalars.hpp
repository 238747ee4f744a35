// Numbers and words of a text that is nearly JSON, as JSON.
#pragma once
#include "providers/model/json_repair.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::providers::json_scalars {

/// A number or word as strict JSON, or the reason why it is none.
struct scalar {
  std::size_t size = 0;         ///< bytes that were read; with a fault, those before it
  std::string json = {};        ///< "" with a fault
  std::string_view note = {};   ///< name of the repair, or ""
  std::string_view fault = {};  ///< "": there is none
};

/// Reads the number at the beginning of `text`. One at the very end is refused, since it may go on.
scalar read_number(std::string_view text, number_form form);
/// Reads true, false or null at the beginning of `text`, in the words of JSON, Python or JavaScript.
scalar read_literal(std::string_view text);

}  // namespace mcpbx::providers::json_scalars
