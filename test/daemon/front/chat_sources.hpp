// Configurations for a door under test: what requests start from, by one function.
#pragma once
#include "daemon/front/chat/chat_params.hpp"

#include <memory>
#include <utility>

namespace mcpbx::test {

inline std::shared_ptr<const daemon::chat::chat_defaults> defaults_by(
    decltype(daemon::chat::chat_defaults::base) base) {
  auto made = std::make_shared<daemon::chat::chat_defaults>();
  made->base = std::move(base);
  return made;
}

}  // namespace mcpbx::test
