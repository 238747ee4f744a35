// The searches of byte_search for long texts: 128 bytes at a time with AVX2 if the processor has it. A large message is
// searched twice, which took a fifth of all that is done for it.
#pragma once

namespace mcpbx::search::byte_search {

/// Finds the same as string_special().
const char* string_special_far(const char* p, const char* end) noexcept;
/// Finds the same as quote_or_escape().
const char* quote_or_escape_far(const char* p, const char* end) noexcept;

}  // namespace mcpbx::search::byte_search
