// The descriptions of OpenAI's APIs, and of Azure and DIAL, which have Chat Completions at the address of a deployment.
#pragma once
#include "providers/wire/api_description.hpp"

namespace mcpbx::providers::openai {

const wire::api_description& openai_chat_api();
const wire::api_description& openai_responses_api();
const wire::api_description& dial_api();
const wire::api_description& azure_api();

}  // namespace mcpbx::providers::openai
