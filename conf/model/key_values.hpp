// The closed sets of words that keys take, each as an enum with its spelling in the file.
#pragma once
#include "conf/loop/loop_words.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mcpbx::conf {

/// When a tool server is started.
enum class start_mode : std::uint8_t { eager, lazy };
/// Who shares one process of a tool server.
enum class sharing_mode : std::uint8_t { shared, per_caller, per_run };
/// What becomes of processes that a tool server leaves behind.
enum class orphan_policy : std::uint8_t { end, keep };
/// What becomes of tool definitions that are not those that were pinned.
enum class pin_mode : std::uint8_t { off, warn, block };
/// How tools are called: `server__tool`, or the server's own name.
enum class name_style : std::uint8_t { prefixed, plain };
/// Which API a model entry speaks; rehearsal and replay need no network.
enum class model_api : std::uint8_t {
  openai_chat,
  openai_responses,
  anthropic,
  gemini,
  ollama,
  dial,
  azure,
  rehearsal,
  replay
};
/// How tools are shown to a model; tagged_json is an older word for hermes.
enum class tool_format : std::uint8_t {
  automatic,
  native,
  react,
  hermes,
  qwen3_coder,
  llama3,
  mistral,
  xml,
  glm,
  tagged_json
};
/// What a chat-completions server calls the limit on an answer's tokens.
enum class token_limit_member : std::uint8_t { max_tokens, max_completion_tokens };
/// What stands as content of a message that only calls tools.
enum class empty_content : std::uint8_t { text, null };
/// The role of system prompts.
enum class system_role : std::uint8_t { system, developer };
/// Which ids of tool calls a server takes: any, or nine letters and digits.
enum class call_id_shape : std::uint8_t { any, short_ids };
/// What is on the disk, safe from a loss of power, before it goes on: the answers to callers, or the calls too.
enum class store_sync : std::uint8_t { turn, call };
enum class http_auth : std::uint8_t { token, none };
enum class log_level : std::uint8_t { trace, debug, info, warn, error, off };

template <>
inline constexpr std::array<std::string_view, 2> words_of<start_mode>{"eager", "lazy"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<sharing_mode>{"shared", "perCaller", "perRun"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<orphan_policy>{"end", "keep"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<pin_mode>{"off", "warn", "block"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<name_style>{"prefixed", "plain"};
template <>
inline constexpr std::array<std::string_view, 9> words_of<model_api>{
    "openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "dial", "azure", "rehearsal", "replay"};
template <>
inline constexpr std::array<std::string_view, 10> words_of<tool_format>{
    "auto", "native", "react", "hermes", "qwen3-coder", "llama3", "mistral", "xml", "glm", "tagged-json"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<token_limit_member>{"max_tokens", "max_completion_tokens"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<empty_content>{"text", "null"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<system_role>{"system", "developer"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<call_id_shape>{"any", "short"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<store_sync>{"turn", "call"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<http_auth>{"token", "none"};
template <>
inline constexpr std::array<std::string_view, 6> words_of<log_level>{"trace", "debug", "info", "warn", "error", "off"};

/// What `protocol` of a server entry takes: "auto", or one revision of MCP.
inline constexpr std::array<std::string_view, 6> protocol_words{"auto",       "2024-11-05", "2025-03-26",
                                                                "2025-06-18", "2025-11-25", "2026-07-28"};

}  // namespace mcpbx::conf
