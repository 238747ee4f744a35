// The closed sets of words that keys take, each as an enum with its spelling in the file.
#pragma once
#include "conf/loop/loop_words.hpp"
#include "providers/apis/model_apis.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mcpbx::conf::model {

/// Time of a tool server's start: with the daemon, or at the first call.
enum class start_mode : std::uint8_t { eager, lazy };
/// Sharing of one tool server process among callers and runs.
enum class sharing_mode : std::uint8_t { shared, per_caller, per_run };
/// Fate of the processes that a tool server leaves behind.
enum class orphan_policy : std::uint8_t { end, keep };
/// Treatment of tools whose definitions differ from their pins.
enum class pin_mode : std::uint8_t { off, warn, block };
/// Style of tool names: `server__tool`, or the server's own name.
enum class name_style : std::uint8_t { prefixed, plain };
// Makes the values and their words out of rows of MCPBX_MODEL_APIS.
#define MCPBX_API_VALUE(room, name, word) name,
#define MCPBX_API_WORD(room, name, word) word,
/// API of a model entry: those of providers/wire/registry, then rehearsal and replay, which need no network.
enum class model_api : std::uint8_t { MCPBX_MODEL_APIS(MCPBX_API_VALUE) rehearsal, replay };
/// Form in which a model sees and calls tools; tagged_json is the older word for hermes.
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
  harmony,
  deepseek,
  gemma,
  minimax,
  tagged_json
};
/// Member of a chat-completions request that limits the answer's tokens.
enum class token_limit_member : std::uint8_t { max_tokens, max_completion_tokens };
/// Content of a message that only calls tools: "" or null.
enum class empty_content : std::uint8_t { text, null };
/// The role of system prompts.
enum class system_role : std::uint8_t { system, developer };
/// Form of the ids of tool calls that a server accepts: any, or nine letters and digits.
enum class call_id_shape : std::uint8_t { any, short_ids };
/// Time of fsync: before callers get their answer (turn), or also before each tool call (call).
enum class store_sync : std::uint8_t { turn, call };
enum class http_auth : std::uint8_t { token, none };
/// The OAuth grant of a remote server: a person logs in, or mcpbx itself is the client that the tokens are for.
enum class login_grant : std::uint8_t { person, client_credentials, workload, enterprise };
enum class log_level : std::uint8_t { trace, debug, info, warn, error, off };

}  // namespace mcpbx::conf::model

namespace mcpbx::conf::loop {

template <>
inline constexpr std::array<std::string_view, 2> words_of<model::start_mode>{"eager", "lazy"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<model::sharing_mode>{"shared", "perCaller", "perRun"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::orphan_policy>{"end", "keep"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<model::pin_mode>{"off", "warn", "block"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::name_style>{"prefixed", "plain"};
template <>
inline constexpr auto words_of<model::model_api> =
    std::to_array<std::string_view>({MCPBX_MODEL_APIS(MCPBX_API_WORD) "rehearsal", "replay"});
template <>
inline constexpr std::array<std::string_view, 14> words_of<model::tool_format>{
    "auto", "native", "react",   "hermes",   "qwen3-coder", "llama3",  "mistral",
    "xml",  "glm",    "harmony", "deepseek", "gemma",       "minimax", "tagged-json"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::token_limit_member>{"max_tokens",
                                                                                     "max_completion_tokens"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::empty_content>{"text", "null"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::system_role>{"system", "developer"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::call_id_shape>{"any", "short"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::store_sync>{"turn", "call"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<model::http_auth>{"token", "none"};
template <>
inline constexpr std::array<std::string_view, 4> words_of<model::login_grant>{"person", "clientCredentials", "workload",
                                                                              "enterprise"};
template <>
inline constexpr std::array<std::string_view, 6> words_of<model::log_level>{"trace", "debug", "info",
                                                                            "warn",  "error", "off"};
#undef MCPBX_API_VALUE
#undef MCPBX_API_WORD

}  // namespace mcpbx::conf::loop

namespace mcpbx::conf::model {

using loop::to_string;

static_assert(loop::to_string(model_api::rehearsal) == "rehearsal" &&
              loop::to_string(model_api::replay) == loop::words_of<model_api>.back());
/// Words of the APIs that send requests, in the order in which people are shown them.
inline constexpr auto endpoint_apis =
    std::span(loop::words_of<model_api>).first<static_cast<std::size_t>(model_api::rehearsal)>();

/// Values of `protocol` in a server entry: "auto", or one revision of MCP.
inline constexpr std::array<std::string_view, 3> transport_words{"auto", "http", "sse"};
inline constexpr std::array<std::string_view, 6> protocol_words{"auto",       "2024-11-05", "2025-03-26",
                                                                "2025-06-18", "2025-11-25", "2026-07-28"};

}  // namespace mcpbx::conf::model
