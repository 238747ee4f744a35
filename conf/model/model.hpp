// The checked configuration as plain structs. The members' initial values are the defaults; keys.cpp has the name, the
// range and the meaning of each key. Only daemon/app turns these structs into options of other rooms.
#pragma once
#include "conf/document/diagnostic.hpp"
#include "conf/loop/loop_choices.hpp"
#include "conf/loop/loop_numbers.hpp"
#include "conf/model/key_values.hpp"
#include "conf/model/references.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::conf::model {

using std::chrono::milliseconds;

/// Names with values, in the order of the file.
using reference_map = std::vector<std::pair<std::string, reference_string>>;
using string_map = std::vector<std::pair<std::string, std::string>>;
using span_map = std::vector<std::pair<std::string, milliseconds>>;

/// Filter of the offered tools. Globs (`*`, `?`) match the server's own tool names in server entries, exposed names in
/// profiles. An empty `allow` allows all; `deny` wins over `allow`.
struct tool_filter {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  string_map rename;  ///< the server's own name → the name to use instead
};

/// Filter of the offered prompts and resources. Globs match the server's own names and URIs in server entries, those
/// that callers see in profiles. An empty `allow` allows all; `deny` wins over `allow`.
struct name_filter {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
};

/// `prompts` of a server entry.
struct prompt_filter : name_filter {
  string_map rename;  ///< the server's own name → the name to use instead
};

/// `tools` of a server entry: the filter, and rules for calls. Globs match the server's own tool names.
struct server_tools : tool_filter {
  std::vector<std::string> serial;  ///< tools whose calls of one reply are made one after another
  std::vector<std::string> retry;   ///< tools whose call may be repeated if no answer came
  span_map call_timeout_ms;         ///< in place of the server's; the first glob that matches counts
  span_map call_hard_timeout_ms;
};

/// OAuth settings of a remote tool server.
struct server_auth {
  std::optional<reference_string> open;  ///< the browser command, split at blanks; the URL is appended
  std::optional<reference_string> client_metadata_url;
  std::optional<reference_string> issuer;  ///< the only authorization server that is asked
  std::optional<reference_string> client_id;
  std::optional<reference_string> client_secret;  ///< this and the next two: resolve with resolve_secret
  std::optional<reference_string> private_key;
  std::optional<reference_string> assertion;
  std::optional<reference_string> private_key_id;
  std::optional<reference_string> idp_token_url, idp_client_id;
  std::optional<reference_string> idp_client_secret;  ///< resolve with resolve_secret
  std::vector<std::string> scopes;                    ///< asked for beside those that the server names
  login_grant grant = login_grant::person;
  bool private_addresses = false;  ///< the authorization server may be in a private network
};

/// `sampling` of a server entry: how one of our models answers the server's sampling/createMessage for callers that
/// cannot.
struct server_sampling {
  std::string model;                ///< NAME or NAME/ID; the name exists
  std::int64_t max_tokens = 4'096;  ///< of one answer, at most
  std::int64_t per_minute = 10;     ///< requests of the server
};

/// One of the folders that a server is told by roots/list.
struct server_root {
  reference_string uri;  ///< a path, or an address that begins with file://
  std::string name;      ///< for people, or ""
};

/// One of `extensions` of a server entry: what passes of an extension or experimental capability.
struct server_extension {
  std::string name;  ///< the extension's
  documents::place at;
  std::vector<std::string> methods;  ///< globs
};

/// One tool server: a program to spawn (`command`) or an address (`url`), exactly one of the two.
struct server_entry {
  std::string name;    ///< the key in mcpServers, 1 … 64 printable characters
  std::string prefix;  ///< `name` made of [A-Za-z0-9_-] without `__`, unique among all entries: the front of tool names
  documents::place at;
  bool bundled =
      false;  ///< the toolbox that stands in when there is no file: `command` is found beside the daemon's binary

  std::optional<reference_string> command;
  std::vector<reference_string> args;
  reference_map env;
  std::optional<reference_string> env_file;
  std::vector<std::string> pass_env;
  std::optional<reference_string> cwd;  ///< unset: $HOME; "caller": the caller's working directory
  std::optional<reference_string> url;
  reference_map headers;
  std::string transport = "auto";  ///< or one of transport_words
  std::optional<reference_string> ca_file, client_cert_file, client_key_file;
  std::optional<server_auth> auth;
  bool disabled = false;
  start_mode start = start_mode::eager;
  server_tools tools;
  prompt_filter prompts;
  name_filter resources;
  std::string protocol = "auto";         ///< or one of protocol_words
  std::optional<name_style> tool_names;  ///< unset: configuration::tool_names
  milliseconds start_timeout_ms{30'000};
  milliseconds call_timeout_ms{60'000};        ///< idle: progress extends it
  milliseconds call_hard_timeout_ms{600'000};  ///< nothing extends it
  milliseconds idle_stop_ms{0};                ///< 0: never
  std::int64_t max_concurrency = 0;            ///< 0: unlimited
  bool trust_annotations = false;              ///< believe readOnlyHint and idempotentHint: such calls may be retried
  std::int64_t max_retries = 2;                ///< of a call that may be made again
  sharing_mode sharing = sharing_mode::shared;
  std::int64_t max_instances = 16;          ///< processes for callers or runs, unless it is shared
  std::vector<std::string> approve;         ///< globs of tools that need approval
  std::optional<server_sampling> sampling;  ///< unset: none of our models answers the server
  std::vector<server_root> roots;
  std::vector<server_extension> extensions;
  bool may_call = false;  ///< allows the server's own processes to connect to our socket
  orphan_policy orphans = orphan_policy::end;
  std::optional<pin_mode> pin;  ///< unset: see pinning()

  /// Returns true if the server runs in the working directory of the caller or run that it works for.
  bool runs_at_caller() const noexcept { return cwd && cwd->text == "caller" && sharing != sharing_mode::shared; }
  /// Returns `pin` if set, else warn for a program, block for an address, off for the bundled toolbox.
  pin_mode pinning() const noexcept {
    if (pin) return *pin;
    if (bundled) return pin_mode::off;
    return url ? pin_mode::block : pin_mode::warn;
  }
};

/// Settings of a run at one level. An unset member leaves the decision to the next level: request, profile, model,
/// configuration (which default_loop() completes).
struct loop_settings : loop::open_counts, loop::open_choices {};

/// `loop` of the configuration itself: settings, and the ceiling that no profile, model or request can exceed.
struct loop_section : loop_settings {
  loop_settings max;            ///< only the members that are numbers
  bool resume_detached = true;  ///< continue detached runs that an earlier daemon left; false: close them
};

/// Deviations of a server from OpenAI's chat completions. Unset: derived from its address.
struct dialect_settings {
  std::optional<token_limit_member> max_tokens_field;
  std::optional<empty_content> empty_content;
  std::optional<system_role> system_role;
  std::optional<call_id_shape> call_ids;
  std::optional<bool> user_after_tool, stream_options, parallel_tool_calls, strict, answer_schema;
  std::optional<std::string> echo_reasoning;  ///< "auto", "none", or the member under which reasoning goes back
};

/// Any JSON object of the file, as JSON text without comments.
struct json_text {
  std::string text;
};

/// One way to reach a language model (or one of the two that are none).
struct model_entry {
  std::string name;  ///< the key in models
  documents::place at;
  bool built_in = false;  ///< not from a file: `demo`, or taken from the environment

  std::optional<model_api> api;           ///< always set after load()
  std::optional<reference_string> model;  ///< the provider's id; unset only for rehearsal and replay
  std::optional<reference_string> base_url;
  std::optional<reference_string> api_key;  ///< resolve with resolve_secret
  std::optional<reference_string> api_version;
  std::optional<reference_string> ca_file;  ///< CA certificates that replace those of the system
  reference_map headers;
  std::optional<std::string> fallback_model;  ///< the entry (NAME or NAME/ID) that is asked when this one fails
  tool_format format = tool_format::automatic;
  std::optional<std::int64_t> max_tools;  ///< of one request; 0: any number; unset: the known limit of the API
  std::optional<std::int64_t> max_tokens;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<reference_string> system;
  std::optional<reference_string> script;  ///< the file that rehearsal or replay plays
  std::optional<std::string> record;       ///< replay: the entry (NAME or NAME/ID) whose exchanges go into the file
  dialect_settings dialect;
  std::optional<json_text> body;  ///< further members of each request's body
  milliseconds connect_timeout_ms{10'000};
  milliseconds first_byte_timeout_ms{300'000};
  milliseconds idle_timeout_ms{120'000};
  milliseconds total_timeout_ms{600'000};
  std::int64_t max_retries = 2;
  loop_settings loop;
};

/// A named set of a model, tools, and loop settings.
struct profile_entry {
  std::string name;
  documents::place at;
  std::optional<std::string> model;
  tool_filter tools;
  name_filter prompts, resources;
  std::vector<std::string> approve;
  std::optional<reference_string> system;
  loop_settings loop;
};

struct store_settings {
  std::optional<reference_string> url;  ///< none, sqlite:…, postgresql://…; unset: the daemon's default
  std::int64_t max_age_days = 0;        ///< days since the last use of a session; 0: no limit
  store_sync sync = store_sync::turn;
  std::int64_t max_bytes = 1'073'741'824;  ///< of the records of all sessions; 0: no limit
};

struct http_settings {
  std::optional<reference_string> address;  ///< HOST:PORT on loopback; unset: no TCP
  std::optional<reference_string> token_file;
  http_auth auth = http_auth::token;
};

struct limit_settings {
  std::int64_t max_message_bytes = 33'554'432;
  std::int64_t max_json_depth = 256;
  std::int64_t callers = 4096;
  std::int64_t total_bytes = 536'870'912;
  std::int64_t held_call_ms = 600'000;  ///< time that a call waits for its modern caller's answers
};

struct log_settings {
  log_level level = log_level::info;
};

/// A finding that is no error. The alias only names the list it is in.
using notice = documents::diagnostic;

struct configuration {
  std::optional<std::string> schema;  ///< "$schema", for editors
  std::vector<server_entry> servers;  ///< in the order of the files
  std::vector<model_entry> models;    ///< in the order of the files; `demo` is appended when no entry has that name
  std::optional<std::string> default_model;  ///< NAME, NAME/ID or profile:NAME; the name exists
  name_style tool_names = name_style::prefixed;
  loop_section loop;
  std::vector<profile_entry> profiles;
  store_settings store;
  http_settings http;
  limit_settings limits;
  log_settings log;
  loop::switch_or_text audit;          ///< the text is the path of its file
  milliseconds idle_exit_ms{900'000};  ///< of a daemon that the CLI started; 0: never
  bool watch = false;                  ///< read the files again when one has changed

  std::vector<notice> notices;
  std::vector<std::string> sources;  ///< the files that were read, in order

  const server_entry* find_server(std::string_view name) const;
  const model_entry* find_model(std::string_view name) const;
  const profile_entry* find_profile(std::string_view name) const;
};

}  // namespace mcpbx::conf::model
