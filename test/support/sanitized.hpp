// Whether this build carries AddressSanitizer or ThreadSanitizer. Sizes of processes then say nothing, and a fork costs
// tens of times as much.
#pragma once

namespace mcpbx::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace mcpbx::test
