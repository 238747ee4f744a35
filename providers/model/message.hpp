// The provider-neutral chat model. Codecs convert every API's messages to it and back without loss: blocks keep the
// provider's order, and an assistant message keeps its raw bytes, which are echoed to the same provider and model.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"
#include "mcp/trace/trace_context.hpp"
#include "providers/model/call_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mcpbx::providers {

enum class role : std::uint8_t { system, user, assistant, tool_results };
std::string_view to_string(role r);

struct text_block {
  std::string text;
  bool foreign = false;  ///< in a system prompt: words of a tool server, which are data (a call in them is a quotation)
};
struct image_block {
  std::string mime, data, url;  ///< `data` is base64; exactly one of data and url is set
  std::string detail{};         ///< resolution for OpenAI's APIs: "low", "high", "auto"; "": not given
};
/// A document, a recording or another file of the caller.
struct file_block {
  std::string mime, name, data, url;  ///< `data` is base64; exactly one of data and url is set; `name` may be ""
};
/// Reasoning of the model. `opaque` (signature, encrypted text, vendor field) goes back to the same origin only.
struct reasoning_block {
  std::string text;
  json::raw_json opaque;
};
/// A tool call as the model made it.
struct tool_call_block {
  std::string id;              ///< our id, unique in the conversation; events and results carry it
  std::string provider_id;     ///< the provider's id; empty if it sent none
  std::string name;            ///< the name the model was shown
  json::raw_json arguments;    ///< an object on one line; absent when `problem` says why there is none
  std::string arguments_text;  ///< the arguments as the model wrote them
  std::string problem;         ///< fault of the arguments, in words the model can act on; empty: none
  bool repaired = false;       ///< `arguments_text` was malformed and json_repair.hpp made `arguments` of it
};
/// Largest number of calls in one reply, far above any sensible round. Later calls are dropped.
inline constexpr std::size_t max_reply_calls = 1024;
/// The result of one call.
struct tool_result_block {
  std::string call_id;  ///< tool_call_block::id
  std::string name;
  json::raw_json result;  ///< the tool server's result object as sent (content, structuredContent, isError), or our own
  bool is_error = false;
};
struct refusal_block {
  std::string text;
};
/// Something that only its origin understands; echoed verbatim to it, dropped for everybody else.
struct opaque_block {
  json::raw_json json;
};
using block = std::variant<text_block, image_block, reasoning_block, tool_call_block, tool_result_block, refusal_block,
                           opaque_block, file_block>;

/// Origin of an assistant message. Its raw bytes and opaque parts may go back there only.
struct origin {
  std::string api, endpoint, model;
  friend bool operator==(const origin&, const origin&) = default;
};

struct message;

/// Cache of a value's encoded forms, so that a round encodes new messages only and the prefix of a request stays
/// identical. The codec chooses the key (API, dialect and origin); the last fragment of a key counts.
class fragment_cache {
 public:
  /// Returns the fragment of this key, or an absent value.
  json::raw_json remembered(std::string_view key) const;
  void remember(std::string_view key, json::raw_json fragment) const;
  /// Returns the translation of this message that providers/call/text_conversation.hpp keeps here, or null. Only the
  /// latest few are kept; each has fragments of its own.
  std::shared_ptr<const message> form(std::string_view key) const;
  void keep_form(std::string_view key, std::shared_ptr<const message> form) const;

 private:
  mutable std::vector<std::pair<std::string, json::raw_json>> fragments_;
  mutable std::vector<std::pair<std::string, std::shared_ptr<const message>>> forms_;
};

/// One message of a conversation. Immutable once it is in a history; shared by the rounds that carry it.
struct message : fragment_cache {
  providers::role role = role::user;
  std::vector<block> blocks;
  providers::origin origin;  ///< assistant messages only
  json::raw_json raw;        ///< the provider's own message, assembled; absent for ours

  /// Returns all text blocks joined.
  std::string text() const;
  std::vector<const tool_call_block*> calls() const;
  /// Returns true if a text block is foreign.
  bool has_foreign_text() const;
};
using message_ptr = std::shared_ptr<const message>;

message_ptr user_message(std::string text);
message_ptr system_message(std::string text);

/// Tokens as the provider counted them; `estimated`: the provider sent no counts, so bytes were counted.
struct usage {
  std::int64_t input = 0, output = 0, cached = 0, cache_write = 0, reasoning = 0;
  bool estimated = false;
  usage& operator+=(const usage& other);
  /// Subtracts `part`.
  usage& operator-=(const usage& part);
};

enum class end_reason : std::uint8_t {
  stop,
  tool_calls,
  length,
  filter,
  refusal,
  pause,
  context_full,
  malformed_call,
  unknown  ///< an unknown word of the provider: the answer may be incomplete
};
std::string_view to_string(end_reason r);
/// Returns true if an answer with this end may be incomplete. Its last call is then not executed (F5).
constexpr bool is_cut(end_reason r) {
  return r == end_reason::length || r == end_reason::filter || r == end_reason::refusal ||
         r == end_reason::malformed_call || r == end_reason::context_full || r == end_reason::unknown;
}

/// A tool as a model sees it: name and schema already fit the API (providers/schema).
struct tool_definition {
  std::string name;         ///< as the model sees it
  std::string description;  ///< cleaned and capped
  json::raw_json schema;    ///< the input schema as this API accepts it
  /// Encoded forms, shared by all sets that contain the tool, so that a changed set encodes new tools only; null: none
  /// are kept.
  std::shared_ptr<const fragment_cache> encoded{};
  std::vector<std::string> changes{};  ///< losses between the server's definition and this one, in clauses for people
  bool strict = false;                 ///< the caller wants the API to hold calls to the schema, if it has such a mode
};
/// Converts each tool of a set for another API, in order; nullopt for a tool that it cannot take, which is logged.
using tool_forms = std::function<std::vector<std::optional<tool_definition>>(std::string_view api)>;
/// The tools of one round.
struct tool_set : fragment_cache {
  std::vector<tool_definition> tools;
  /// Converts the tools for another API, starting from the servers' own lists, because the definitions here may have
  /// lost something already. The caller keeps the names. Empty: no conversion is possible.
  tool_forms forms_for;
  std::size_t own = 0;       ///< number of the run's own tools, the last ones; a model with a limit gets these first
  std::size_t reserved = 1;  ///< places kept for the run's own tools, since one may join in a later round
};

/// One model call.
struct model_request {
  std::vector<message_ptr> messages;
  std::shared_ptr<const tool_set> tools;  ///< null or empty: none
  std::string note;              ///< text for this call only, sent behind the last user or tool_results message; or ""
  json::raw_json answer_schema;  ///< JSON Schema of the answer, for APIs that take one; or absent
  call_settings settings;
  /// With `none` no tool may be called. `tools` is still sent to APIs that demand the definitions of earlier calls.
  providers::tool_mode tool_mode = providers::tool_mode::automatic;
  std::string required_tool;        ///< with tool_mode::required the tool to call, by its name in `tools`; "": any
  bool may_repeat = true;           ///< false: no retry, because a late answer is worthless
  time_point needed_by = never;     ///< time from which an answer is worthless; no retry waits that long
  trace::trace_context trace = {};  ///< trace of the caller, for the endpoint's headers; or none

  /// Returns the tools that may be called; null if there are none.
  std::shared_ptr<const tool_set> offered() const;
  /// Returns true if the conversation contains a call.
  bool has_calls() const;
};

/// Result of a completed call.
struct model_reply {
  message_ptr message;  ///< role::assistant
  end_reason reason = end_reason::stop;
  std::string raw_reason;
  providers::usage usage;
};

/// Failure of a model call (docs/guarantees.md, G28, G31).
struct model_error {
  enum class kind : std::uint8_t {
    connection,    ///< not reached, or broken before the first byte
    time_limit,    ///< one of the four limits
    refused,       ///< the endpoint answered with an error status
    overloaded,    ///< 429, 503, 529 after the retries
    bad_request,   ///< 400 family: key, model name, schema
    context_full,  ///< too long for the model
    cut,           ///< the stream ended without its end mark
    garbage,       ///< an answer in no known form
    configuration  ///< unresolved key, unknown model
  };
  kind type = kind::connection;
  int http_status = 0;
  std::int64_t retry_after_ms = -1;  ///< wait that the endpoint asked for; -1: none
  std::string message;               ///< sentence for people: provider, model, cause, fix
  std::string partial_text;          ///< text that was streamed before the failure
  std::string failed_generation;     ///< the model's text in which its server found no readable tool call; or ""
  std::string said;                  ///< the endpoint's words, for the log: cut, without known secrets; or ""
  bool retryable = false;
  /// Estimate of the tokens that the failed call cost; none if no request was sent or an error status refused it.
  providers::usage usage{};
};

/// Receiver of a call's events. on_reply or on_error comes exactly once, as the last one, and never from inside
/// prepare() or begin().
class model_events {
 public:
  virtual ~model_events() = default;
  virtual void on_text(std::string_view delta) = 0;
  virtual void on_reasoning(std::string_view delta) = 0;
  virtual void on_reply(model_reply reply) = 0;
  virtual void on_error(model_error e) = 0;
};

/// One call. Destroying it closes the connection and stops its events.
class model_call {
 public:
  virtual ~model_call() = default;
  /// Sends the request. To be called once.
  virtual void begin() = 0;
  /// Returns an estimate of the tokens used so far, as model_error::usage. A caller asks before it cancels the call.
  virtual usage spent() const { return {}; }
};

/// One configured model of any API.
class model {
 public:
  virtual ~model() = default;
  virtual const std::string& name() const = 0;  ///< configured name, or NAME/ID
  virtual const std::string& id() const = 0;    ///< the provider's model id
  virtual const std::string& api() const = 0;
  /// Returns the system prompt for runs that bring none, or "".
  virtual std::string_view default_system() const { return {}; }
  /// Returns the largest number of tools in a request; 0: any number.
  virtual std::size_t max_tools() const { return 0; }
  /// Prepares a call: encodes the request and may connect. Nothing is sent and no event comes before its begin(), so a
  /// caller can write its journal meanwhile.
  virtual std::unique_ptr<model_call> prepare(model_request request, model_events& events) = 0;
  /// Prepares a call and begins it at once.
  std::unique_ptr<model_call> start(model_request request, model_events& events) {
    auto call = prepare(std::move(request), events);
    call->begin();
    return call;
  }
};

}  // namespace mcpbx::providers
