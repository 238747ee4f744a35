// The shell around the conversation of `mcpbx chat`: reads inputs, carries the actions out, follows runs.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/chat/conversation.hpp"

#include <string>

namespace mcpbx::cli::chat {

struct chat_options {
  chat_terms terms;
  std::string session;  ///< to go on with, or ""
  bool latest = false;  ///< go on with the last session of this terminal or folder
};

/// Talks with the person at the terminal, or takes each input from a pipe, until the end of the input. Returns the exit
/// status: `done` at a terminal, else that of the first turn that failed.
int chat_at(context& c, const chat_options& o);

}  // namespace mcpbx::cli::chat
