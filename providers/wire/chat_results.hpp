// What chat completions can carry of our messages: calls with their arguments as strings, tool results as text, images
// in a user message of their own.
#pragma once
#include "providers/model/message.hpp"

#include <string>
#include <vector>

namespace mcpbx::providers {

/// Appends one entry of `tool_calls`. Arguments that could not be read are sent inside an object that holds them as
/// text: servers that parse their own history would refuse the whole request otherwise.
void append_call(std::string& out, const tool_call_block& call);

/// A tool result as text, and the images that go into the user message after all tool messages.
struct result_parts {
  std::string text;
  std::vector<image_block> images;
};
result_parts convert_result(const tool_result_block& block);

/// Appends `{"type":"image_url",…}`.
void append_image(std::string& out, const image_block& image);

}  // namespace mcpbx::providers
