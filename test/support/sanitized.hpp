// Tells tests that the build has AddressSanitizer or ThreadSanitizer: sizes of processes mean nothing then, and a fork
// costs tens of times as much.
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
