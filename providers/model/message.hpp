// The neutral chat model: what every provider's messages become and are made from, losing nothing. Block order is the
// provider's order; the provider's own assistant message is kept as bytes and echoed to the same provider and model.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"
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
};
struct image_block {
  std::string mime, data, url;  ///< `data` is base64; exactly one of data and url is set
  std::string detail{};         ///< how closely to look at it, for OpenAI's APIs: "low", "high", "auto"; "": not said
};
/// A document, a recording or another file of the caller.
struct file_block {
  std::string mime, name, data, url;  ///< `data` is base64; exactly one of data and url is set; `name` may be ""
};
/// What the model thought. `opaque` (signature, encrypted text, vendor field) goes back to the same origin only.
struct reasoning_block {
  std::string text;
  raw_json opaque;
};
/// A tool call as the model made it.
struct tool_call_block {
  std::string id;              ///< ours: unique in the conversation, what events and results carry
  std::string provider_id;     ///< the provider's; empty when it sent none
  std::string name;            ///< the name the model was shown
  raw_json arguments;          ///< an object on one line; absent when `problem` says why there is none
  std::string arguments_text;  ///< what the model wrote
  std::string problem;         ///< why arguments could not be read, in words the model can act on; empty: all is well
  bool repaired = false;       ///< `arguments_text` was no JSON and `arguments` is what it meant (json_repair.hpp)
};
/// Far above any sensible round. Of more calls in one reply the later ones are dropped.
inline constexpr std::size_t max_reply_calls = 1024;
/// The one result of a call.
struct tool_result_block {
  std::string call_id;  ///< tool_call_block::id
  std::string name;
  raw_json result;  ///< the tool server's result object as sent (content, structuredContent, isError), or our own
  bool is_error = false;
};
struct refusal_block {
  std::string text;
};
/// Something that only its origin understands; echoed verbatim to it, dropped for everybody else.
struct opaque_block {
  raw_json json;
};
using block = std::variant<text_block, image_block, reasoning_block, tool_call_block, tool_result_block, refusal_block,
                           opaque_block, file_block>;

/// Who made an assistant message: its raw bytes and opaque parts may go back only there.
struct origin {
  std::string api, endpoint, model;
  friend bool operator==(const origin&, const origin&) = default;
};

struct message;

/// What codecs encoded a value to, kept so that a round encodes only what is new and the prefix of a request stays
/// identical. The key is the codec's own (API, dialect and origin match); the last fragment of a key counts.
class fragment_cache {
 public:
  /// Absent when nothing is kept for this key.
  raw_json remembered(std::string_view key) const;
  void remember(std::string_view key, raw_json fragment) const;
  /// The message that stands for this value in another conversation (providers/call/text_conversation.hpp), so that it
  /// is made once and keeps its own fragments. Null when none is kept; only the latest few are.
  std::shared_ptr<const message> form(std::string_view key) const;
  void keep_form(std::string_view key, std::shared_ptr<const message> form) const;

 private:
  mutable std::vector<std::pair<std::string, raw_json>> fragments_;
  mutable std::vector<std::pair<std::string, std::shared_ptr<const message>>> forms_;
};

/// One message of a conversation. Immutable once it is in a history; shared by the rounds that carry it.
struct message : fragment_cache {
  providers::role role = role::user;
  std::vector<block> blocks;
  providers::origin origin;  ///< assistant messages only
  raw_json raw;              ///< the provider's own message, assembled; absent for ours

  /// All text blocks joined.
  std::string text() const;
  std::vector<const tool_call_block*> calls() const;
};
using message_ptr = std::shared_ptr<const message>;

message_ptr user_message(std::string text);
message_ptr system_message(std::string text);

/// Tokens as the provider counted them; `estimated` when it sent none and we counted bytes.
struct usage {
  std::int64_t input = 0, output = 0, cached = 0, cache_write = 0, reasoning = 0;
  bool estimated = false;
  usage& operator+=(const usage& other);
  /// Without `part` of it.
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
  unknown  ///< a word that is not known here: the answer may be whole, or not
};
std::string_view to_string(end_reason r);
/// Whether an answer that ended so may lack its rest: its last call is then not executed (F5).
constexpr bool is_cut(end_reason r) {
  return r == end_reason::length || r == end_reason::filter || r == end_reason::refusal ||
         r == end_reason::malformed_call || r == end_reason::context_full || r == end_reason::unknown;
}

/// A tool as a model sees it: name and schema already fit the API (providers/schema).
struct tool_definition {
  std::string name;         ///< as the model sees it
  std::string description;  ///< cleaned and capped
  raw_json schema;          ///< the input schema as this API accepts it
  /// What codecs encoded it to, shared by all sets that hold it, so that a changed set encodes only what is new; null:
  /// nothing is kept.
  std::shared_ptr<const fragment_cache> encoded{};
  std::vector<std::string> changes{};  ///< what its server wrote and models are not shown, in clauses for people
  bool strict = false;  ///< who brought it wants calls held to its schema by the API, where that has such a mode
};
/// Each tool of a set as another API takes it, in their order; nothing for one that it cannot take, which was logged.
using tool_forms = std::function<std::vector<std::optional<tool_definition>>(std::string_view api)>;
/// The tools of one round.
struct tool_set : fragment_cache {
  std::vector<tool_definition> tools;
  /// Converts them from what their servers list, not from what is here, which may have lost something; names are for
  /// the caller to keep. Empty: there are no other forms.
  tool_forms forms_for;
  std::size_t own = 0;  ///< how many of them, the last ones, are the run's own: a model that takes fewer gets these
  std::size_t reserved = 1;  ///< places for the run's own in any of its rounds: one may join later
};

/// One model call.
struct model_request {
  std::vector<message_ptr> messages;
  std::shared_ptr<const tool_set> tools;  ///< null or empty: there are none
  std::string note;        ///< said at the end of this call only, behind the last user or tool_results message; or ""
  raw_json answer_schema;  ///< the JSON Schema that an answer must fit, for APIs that take one; or absent
  call_settings settings;
  /// With `none` no tool may be called: `tools` then only defines those of earlier calls for an API that demands it.
  providers::tool_mode tool_mode = providers::tool_mode::automatic;
  std::string required_tool;     ///< with tool_mode::required the one to call, by the name in its definition; "": any
  bool may_repeat = true;        ///< false: asked once, where a late answer is worth no more than none
  time_point needed_by = never;  ///< then an answer is of no use: no attempt that late is waited for

  /// The tools that may be called; null when there are none.
  std::shared_ptr<const tool_set> offered() const;
  /// Whether there is a call in the conversation.
  bool has_calls() const;
};

/// What a completed call gave.
struct model_reply {
  message_ptr message;  ///< role::assistant
  end_reason reason = end_reason::stop;
  std::string raw_reason;
  providers::usage usage;
};

/// A model call that gave nothing usable (docs/guarantees.md, G28, G31).
struct model_error {
  enum class kind : std::uint8_t {
    connection,    ///< not reached, or broken before the first byte
    time_limit,    ///< one of the four limits
    refused,       ///< the endpoint answered with an error status
    overloaded,    ///< 429, 503, 529 after the retries
    bad_request,   ///< 400 family: key, model name, schema
    context_full,  ///< too long for the model
    cut,           ///< the stream ended without its end mark
    garbage,       ///< an answer that is none
    configuration  ///< unresolved key, unknown model
  };
  kind type = kind::connection;
  int http_status = 0;
  std::int64_t retry_after_ms = -1;  ///< what the endpoint asked for, -1: nothing
  std::string message;               ///< for people: provider, model, what happened, the mend
  std::string partial_text;          ///< text that had been streamed before it broke
  std::string failed_generation;     ///< what the model wrote where its server could read no tool call in it; or ""
  std::string said;                  ///< what the endpoint sent, for the log: cut, without known secrets; or ""
  bool retryable = false;
  /// What the call used up all the same, an estimate: none where no request left, or an error status refused it.
  providers::usage usage{};
};

/// Told while a call runs; on_reply or on_error comes exactly once, last, and never from inside prepare() or begin().
class model_events {
 public:
  virtual ~model_events() = default;
  virtual void on_text(std::string_view delta) = 0;
  virtual void on_reasoning(std::string_view delta) = 0;
  virtual void on_reply(model_reply reply) = 0;
  virtual void on_error(model_error e) = 0;
};

/// A call; destroying it cancels it (the connection is closed) and silences its events.
class model_call {
 public:
  virtual ~model_call() = default;
  /// Sends it. To be called once.
  virtual void begin() = 0;
  /// What it has used up so far, an estimate, for whoever is about to end it: as model_error::usage.
  virtual usage spent() const { return {}; }
};

/// One configured model, whatever API it speaks.
class model {
 public:
  virtual ~model() = default;
  virtual const std::string& name() const = 0;  ///< configured name, or NAME/ID
  virtual const std::string& id() const = 0;    ///< the provider's model id
  virtual const std::string& api() const = 0;
  /// The system prompt of runs that bring none, or "".
  virtual std::string_view default_system() const { return {}; }
  /// How many tools a request to it may have; 0: any number.
  virtual std::size_t max_tools() const { return 0; }
  /// Makes a call as ready as it can be. Nothing is asked, and no delta told, before its begin(): who has to keep
  /// something safe first makes it ready meanwhile.
  virtual std::unique_ptr<model_call> prepare(model_request request, model_events& events) = 0;
  /// A call that is made at once.
  std::unique_ptr<model_call> start(model_request request, model_events& events) {
    auto call = prepare(std::move(request), events);
    call->begin();
    return call;
  }
};

}  // namespace mcpbx::providers
