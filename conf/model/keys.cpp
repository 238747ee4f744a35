// The table: every key of the configuration with its range and meaning. Defaults are the members' initial values.
#include "conf/model/spec.hpp"

namespace mcpbx::conf::model {
namespace {

// clang-format off: one key, one line

constexpr std::int64_t second = 1000, hour = 3600 * second, day = 24 * hour, week = 7 * day;
constexpr std::int64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

template <class Target>
std::vector<key_spec> filters() {
  using f = tool_filter;
  return {
    key<&f::allow, Target>("allow", "Globs of the tools that are offered; all are without it. It may not be empty: \"deny\": [\"*\"] offers none.").like(forms::tool_glob).filled_list(),
    key<&f::deny, Target>("deny", "Globs of the tools that are not offered; wins over allow.").like(forms::tool_glob),
    key<&f::rename, Target>("rename", "Tools that go by another name: from the server's name to the new one.").names(forms::filled).like(forms::tool_name),
  };
}

const section_spec& filter_keys() {
  static const section_spec s{"toolFilter", filters<tool_filter>()};
  return s;
}

const section_spec& server_tool_keys() {
  using t = server_tools;
  static const section_spec s = [] {
    section_spec made{"serverTools", filters<t>()};
    made.has_switches = true;
    for (auto& k : std::vector<key_spec>{
      key<&t::serial>("serial", "Globs of the tools whose calls in one reply are made one after another.").like(forms::tool_glob),
      key<&t::retry>("retry", "Globs of the tools whose calls may be made again when no answer came.").like(forms::tool_glob),
      key<&t::call_timeout_ms>("callTimeoutMs", "How long a call of these tools may be silent; the first glob that matches counts.").names(forms::tool_glob).range(1, day),
      key<&t::call_hard_timeout_ms>("callHardTimeoutMs", "How long a call of these tools may take at all; the first glob that matches counts.").names(forms::tool_glob).range(1, week),
    })
      made.keys.push_back(std::move(k));
    return made;
  }();
  return s;
}

template <class Target>
std::vector<key_spec> prompt_filters() {
  using f = name_filter;
  return {
    key<&f::allow, Target>("allow", "Globs of the prompts that are offered; all are without it. It may not be empty: \"deny\": [\"*\"] offers none.").like(forms::prompt_glob).filled_list(),
    key<&f::deny, Target>("deny", "Globs of the prompts that are not offered; wins over allow.").like(forms::prompt_glob),
  };
}

const section_spec& prompt_filter_keys() {
  static const section_spec s{"promptFilter", prompt_filters<name_filter>()};
  return s;
}

const section_spec& server_prompt_keys() {
  static const section_spec s = [] {
    section_spec made{"serverPrompts", prompt_filters<prompt_filter>()};
    made.keys.push_back(key<&prompt_filter::rename>("rename", "Prompts that go by another name: from the server's name to the new one.").names(forms::filled).like(forms::tool_name));
    return made;
  }();
  return s;
}

const section_spec& resource_filter_keys() {
  using f = name_filter;
  static const section_spec s{"resourceFilter", {
    key<&f::allow>("allow", "Globs of the URIs that are listed and may be read; all are without it. It may not be empty: \"deny\": [\"*\"] offers none.").like(forms::uri_glob).filled_list(),
    key<&f::deny>("deny", "Globs of the URIs that are not listed and may not be read; wins over allow.").like(forms::uri_glob),
  }};
  return s;
}

const section_spec& auth_keys() {
  static const section_spec s{"serverAuth", {
    key<&server_auth::open>("open", "The command that opens a browser, split at blanks; the address is appended. Without it the server waits for `mcpbx auth login`.").like(forms::filled),
    key<&server_auth::client_metadata_url>("clientMetadataUrl", "Where the client metadata document of this client is published.").like(forms::http_url),
    key<&server_auth::issuer>("issuer", "The only authorization server that is asked, by its issuer identifier. Without it a client with a `clientId` is bound to the one that the server names first, for as long as its tokens are kept.").like(forms::http_url),
    key<&server_auth::client_id>("clientId", "The id under which this client is registered.").like(forms::filled),
    key<&server_auth::client_secret>("clientSecret", "The secret of the registered client; better a reference than the value.").like(forms::filled).secret(),
    key<&server_auth::private_key>("privateKey", "The private key of the registered client, in PEM: it signs in place of the secret (private_key_jwt). P-256 (ES256) or RSA (RS256), without a passphrase; better a reference than the value.").like(forms::filled).secret(),
    key<&server_auth::private_key_id>("privateKeyId", "The id (kid) under which the authorization server knows that key.").like(forms::filled),
    key<&server_auth::assertion>("assertion", "A signed token (JWT): for `workload` that of the platform, for `enterprise` the ID token of a login at the identity provider. A reference; it is read anew for each login.").like(forms::filled).secret(),
    key<&server_auth::idp_token_url>("idpTokenUrl", "The token endpoint of the organization's identity provider, for `enterprise`.").like(forms::http_url),
    key<&server_auth::idp_client_id>("idpClientId", "The id of this client at the identity provider.").like(forms::filled),
    key<&server_auth::idp_client_secret>("idpClientSecret", "The secret of this client at the identity provider; better a reference than the value.").like(forms::filled).secret(),
    key<&server_auth::scopes>("scopes", "Scopes to ask for beside those that the server names.").like(forms::filled),
    key<&server_auth::grant>("grant", "Who logs in: a person with a browser, this client itself (clientCredentials), the platform it runs on (workload), or an organization's identity provider (enterprise)."),
    key<&server_auth::private_addresses>("privateAddresses", "Whether the authorization server of a public server may be in a private network."),
  }};
  return s;
}

/// Returns the keys of the loop's numbers, which `loop.max` takes as well.
template <class Target>
std::vector<key_spec> loop_number_keys() {
  std::vector<key_spec> keys;
  for (const auto& n : loop::loop_numbers()) keys.push_back(number_key<Target>(n));
  return keys;
}

const section_spec& round_text_keys() {
  using t = loop::round_prompt_texts;
  static const section_spec s{"roundPromptTexts", {
    key<&t::first>("first", "What the model is told in the first round; {round} and {remaining} stand for numbers, an empty text says nothing."),
    key<&t::middle>("middle", "The same for the rounds in between."),
    key<&t::last>("last", "The same for the last round, which is the one without tools unless onLimit is stop."),
  }};
  return s;
}

template <class Target, class T>
key_spec choice_key(const loop::loop_choice<std::optional<T>, T>& m) {
  auto k = member_key<Target>(m.open, m.key, m.meaning);
  if constexpr (std::is_same_v<T, std::string>) k.value_form = &forms::filled;
  return k;
}
template <class Target>
key_spec choice_key(const loop::loop_choice<loop::round_prompt_texts, loop::round_prompt_texts>& m) {
  return member_section<Target>(m.open, m.key, m.meaning, round_text_keys());
}

template <class Target>
std::vector<key_spec> loop_keys() {
  auto keys = loop_number_keys<Target>();
  loop::each_choice([&](const auto& m) {
    if (m.in_files) keys.push_back(choice_key<Target>(m));
  });
  return keys;
}

const section_spec& inner_loop_keys() {
  static const section_spec s{"loopSettings", loop_keys<loop_settings>()};
  return s;
}

const section_spec& loop_max_keys() {
  static const section_spec s{"loopMax", loop_number_keys<loop_settings>()};
  return s;
}

const section_spec& outer_loop_keys() {
  static const section_spec s = [] {
    section_spec made{"loop", loop_keys<loop_section>()};
    made.keys.push_back(key<&loop_section::resume_detached>("resumeDetached", "Whether detached runs that a crash of the daemon left go on by themselves; false closes them as interrupted."));
    made.keys.push_back(section<&loop_section::max>("max", "The ceiling that no model entry, profile or request can exceed.", loop_max_keys()));
    return made;
  }();
  return s;
}

const section_spec& sampling_keys() {
  using e = server_sampling;
  static const section_spec s{"serverSampling", {
    key<&e::model>("model", "The model entry (NAME or NAME/ID) that answers.").like(forms::filled),
    key<&e::max_tokens>("maxTokens", "How many tokens one answer may have; what the server asks for is cut to it.").range(1, 1'000'000),
    key<&e::per_minute>("perMinute", "How many requests of the server are answered in a minute; withdrawn ones count.").range(1, 1'000),
  }, {{"model", "write the name of an entry of \"models\""}}};
  return s;
}

const section_spec& root_keys() {
  using e = server_root;
  static const section_spec s{"serverRoot", {
    key<&e::uri>("uri", "The folder: a path, or an address that starts with file://.").like(forms::root_place),
    key<&e::name>("name", "Its name for people.").like(forms::filled),
  }, {{"uri", "write a path such as ~/Documents"}}};
  return s;
}

const section_spec& extension_keys() {
  using e = server_extension;
  static const section_spec s{"serverExtension", {
    key<&e::methods>("methods", "Globs of its methods and notifications that pass to the server and from it.").like(forms::method_glob),
  }};
  return s;
}

const section_spec& server_keys() {
  using e = server_entry;
  static const section_spec s{"server", {
    key<&e::command>("command", "The program to start; found in PATH or an absolute path.").like(forms::filled),
    key<&e::args>("args", "Its arguments, one string each; no shell is involved."),
    key<&e::env>("env", "Environment variables of the server, beside the minimal set.").names(forms::env_name).secret(),
    key<&e::env_file>("envFile", "A file of NAME=value lines with more of them.").like(forms::filled),
    key<&e::pass_env>("passEnv", "Names of variables that are passed on from the daemon's environment.").like(forms::env_name),
    key<&e::cwd>("cwd", "The directory the server runs in; $HOME when not given; \"caller\": that of its caller, with sharing other than shared.").like(forms::filled),
    key<&e::url>("url", "The address of a remote server, instead of command.").like(forms::server_url),
    key<&e::headers>("headers", "HTTP headers that are sent to a remote server.").names(forms::header_name).like(forms::header_value).secret(),
    key<&e::transport>("transport", "The transport of a remote server that is tried first; auto: http, which is Streamable HTTP; sse is the HTTP+SSE of 2024-11-05.").one_of(transport_words),
    key<&e::ca_file>("caFile", "A file of PEM certificates that the remote server's is verified by, in place of the system's.").like(forms::filled),
    key<&e::client_cert_file>("clientCertFile", "A PEM file with the certificate that mcpbx shows to the remote server.").like(forms::filled),
    key<&e::client_key_file>("clientKeyFile", "A PEM file with the key of that certificate; clientCertFile itself when not given.").like(forms::filled),
    section<&e::auth>("auth", "How a remote server is authorized with OAuth.", auth_keys()),
    key<&e::disabled>("disabled", "Whether the entry is kept but not used."),
    key<&e::start>("start", "Whether the server is started with the daemon or at its first use."),
    section<&e::tools>("tools", "Which of the server's tools are offered, under which names, and how they are called.", server_tool_keys()),
    section<&e::prompts>("prompts", "Which of the server's prompts are offered, and under which names.", server_prompt_keys()),
    section<&e::resources>("resources", "Which of the server's resources are listed and may be read, by URI.", resource_filter_keys()),
    key<&e::protocol>("protocol", "The revision of MCP to speak; auto finds out.").one_of(protocol_words),
    key<&e::tool_names>("toolNames", "Whether this server's tools and prompts carry its name in front; the global setting when not given."),
    key<&e::start_timeout_ms>("startTimeoutMs", "How long the server may take until it is ready.").range(1, hour),
    key<&e::call_timeout_ms>("callTimeoutMs", "How long a call may be silent; progress extends it.").range(1, day),
    key<&e::call_hard_timeout_ms>("callHardTimeoutMs", "How long a call may take at all; nothing extends it.").range(1, week),
    key<&e::idle_stop_ms>("idleStopMs", "Stops the server after so long without a call; 0: never.").range(0, week),
    key<&e::max_concurrency>("maxConcurrency", "How many calls the server gets at the same time; 1 makes it serial, 0: unlimited.").range(0, 10'000),
    key<&e::trust_annotations>("trustAnnotations", "Whether the hints of the server's tools are believed: calls of tools that say that they only read or are idempotent may then be made again."),
    key<&e::max_retries>("maxRetries", "How often a call that may be made again is made again when no answer came.").range(0, 20),
    key<&e::sharing>("sharing", "Who shares one process of the server: all, or each caller or each run has one of its own."),
    key<&e::max_instances>("maxInstances", "How many processes the server has at the same time for callers or runs, when it is not shared.").range(1, 1'000),
    key<&e::approve>("approve", "Globs of the tools that need a yes of the caller inside a run.").like(forms::tool_glob),
    section<&e::sampling>("sampling", "The model of ours that answers the server's sampling requests where the caller cannot; none when not given.", sampling_keys()),
    entries<&e::roots, &server_root::uri>("roots", "The folders that the server is told when it asks for roots and the caller cannot answer.", root_keys()).like(forms::root_place),
    named<&e::extensions>("extensions", "Extensions of MCP and experimental capabilities, by name, with those of their own methods that pass.", extension_keys(), forms::extension_name),
    key<&e::may_call>("mayCall", "Whether the server's own processes may connect to the daemon's socket."),
    key<&e::orphans>("orphans", "What becomes of processes that the server leaves behind."),
    key<&e::pin>("pin", "What becomes of tools whose definition is not the one that was pinned: offered, offered with a warning, or not offered until approved."),
  }, {}, {"command", "url"}, true};
  return s;
}

const section_spec& dialect_keys() {
  using d = dialect_settings;
  static const section_spec s{"dialect", {
    key<&d::max_tokens_field>("maxTokensField", "The member that limits the tokens of an answer."),
    key<&d::empty_content>("emptyContent", "The content of a message that only calls tools: an empty text, or null."),
    key<&d::system_role>("systemRole", "The role of system prompts."),
    key<&d::call_ids>("callIds", "The ids of tool calls that the server takes: any, or nine letters and digits."),
    key<&d::user_after_tool>("userAfterTool", "Whether the server takes a user's message right behind a tool's; false: a short one of the assistant is put between them. When not given: true, but false with short callIds."),
    key<&d::stream_options>("streamOptions", "Whether the stream is asked to count tokens at its end."),
    key<&d::parallel_tool_calls>("parallelToolCalls", "Sent with tools when given: whether one reply may call several."),
    key<&d::strict>("strict", "Sent with each tool when given; true: with those whose schema allows it."),
    key<&d::answer_schema>("answerSchema", "Whether the server takes a JSON Schema for its answer beside tools."),
    key<&d::echo_reasoning>("echoReasoning", "What of its reasoning goes back to the server: auto (as it came), none, or the member to send it under.").like(forms::filled),
  }};
  return s;
}

const section_spec& model_keys() {
  using e = model_entry;
  static const section_spec s{"model", {
    key<&e::api>("api", "The API to speak; rehearsal and replay need no network and are no language models."),
    key<&e::model>("model", "The provider's id of the model (the deployment for dial and azure).").like(forms::filled),
    key<&e::base_url>("baseUrl", "The address of the API, or unix:/PATH:/PATH for a server on a Unix socket; the provider's own when not given.").like(forms::endpoint_url),
    key<&e::api_key>("apiKey", "The key; better a reference than the value.").like(forms::filled).secret(),
    key<&e::api_version>("apiVersion", "The version of the API, for anthropic, azure and dial.").like(forms::filled),
    key<&e::ca_file>("caFile", "A file of PEM certificates that the endpoint's is verified by, in place of the system's.").like(forms::filled),
    key<&e::headers>("headers", "HTTP headers that are sent with each request, in place of ours of the same name.").names(forms::header_name).like(forms::header_value).secret(),
    key<&e::fallback_model>("fallbackModel", "The model entry (NAME or NAME/ID) that is asked when this one gives no answer.").like(forms::filled),
    key<&e::format>("toolFormat", "How tools are shown to the model: as its API has it (native), or as text in one of the forms that models know; auto begins with native and changes where that does not work."),
    key<&e::max_tools>("maxTools", "How many tools one request may have, 0: any number; what its API is known to take when not given. Where there are more, those that the question names are offered, then one of each server in turn.").range(0, 100'000),
    key<&e::max_tokens>("maxTokens", "How many tokens one reply may have; the provider's own limit when not given.").range(1, 10'000'000),
    key<&e::temperature>("temperature", "The temperature; the provider's own when not given.").real_range(0, 2),
    key<&e::top_p>("topP", "The nucleus to sample from; the provider's own when not given.").real_range(0, 1),
    key<&e::system>("system", "A system prompt for every run with this model.").like(forms::filled),
    key<&e::script>("script", "The file that rehearsal plays, or the recording for replay.").like(forms::filled),
    key<&e::record>("record", "For replay: the model entry that answers instead, each exchange being added to the recording; without it the recording is played.").like(forms::filled),
    section<&e::dialect>("dialect", "How the server speaks chat completions where it differs from what is known of its address.", dialect_keys()),
    key<&e::body>("body", "Further members of each request's body, over those that mcpbx sends; null takes one out."),
    key<&e::connect_timeout_ms>("connectTimeoutMs", "How long connecting may take.").range(1, hour),
    key<&e::first_byte_timeout_ms>("firstByteTimeoutMs", "How long the first byte of a reply may take.").range(1, hour),
    key<&e::idle_timeout_ms>("idleTimeoutMs", "How long a reply may be silent.").range(1, hour),
    key<&e::total_timeout_ms>("totalTimeoutMs", "How long a reply may take at all.").range(1, day),
    key<&e::max_retries>("maxRetries", "How often a request is repeated when that is safe.").range(0, 20),
    section<&e::loop>("loop", "Settings of the loop for this model.", inner_loop_keys()),
  }, {
    {"api", "write \"api\": \"openai-chat\", or another one of the list in conf/README.md"},
    {"model", "write the provider's id of the model", "api", {endpoint_apis.begin(), endpoint_apis.end()}},
    {"baseUrl", "write the address of the deployment's host", "api", {"dial", "azure"}},
    {"script", "write the path of the recording", "api", {"replay"}},
  }};
  return s;
}

const section_spec& profile_keys() {
  using e = profile_entry;
  static const section_spec s{"profile", {
    key<&e::model>("model", "The model of the profile: a configured name, or NAME/ID.").like(forms::filled),
    section<&e::tools>("tools", "Which tools the profile offers, and under which names.", filter_keys()),
    section<&e::prompts>("prompts", "Which prompts the profile offers.", prompt_filter_keys()),
    section<&e::resources>("resources", "Which resources the profile lists and reads, by URI.", resource_filter_keys()),
    key<&e::approve>("approve", "Globs of the tools that need a yes of the caller.").like(forms::tool_glob),
    key<&e::system>("system", "The system prompt of the profile, in place of the model's.").like(forms::filled),
    section<&e::loop>("loop", "Settings of the loop for this profile.", inner_loop_keys()),
  }};
  return s;
}

const section_spec& store_keys() {
  static const section_spec s{"store", {
    key<&store_settings::url>("url", "Where runs are kept: none, sqlite: (in the state directory), sqlite:PATH or postgresql://….").like(forms::store_url),
    key<&store_settings::sync>("sync", "What survives a loss of power before it goes on: turn (what callers are told is kept), or call (each tool call too, before it leaves for its server)."),
    key<&store_settings::max_age_days>("maxAgeDays", "How many days after its last use a session is kept; 0: for ever.").range(0, 36'500),
    key<&store_settings::max_bytes>("maxBytes", "How many bytes of records are kept before the longest unused sessions go; 0: no limit.").range(0, 1024 * gib),
  }};
  return s;
}

const section_spec& http_keys() {
  static const section_spec s{"http", {
    key<&http_settings::address>("address", "HOST:PORT on this machine; without it no TCP port is opened.").like(forms::loopback_address),
    key<&http_settings::token_file>("tokenFile", "The file with the bearer token; created beside the configuration when not given.").like(forms::filled),
    key<&http_settings::auth>("auth", "Whether the bearer token is asked for."),
  }};
  return s;
}

const section_spec& limit_keys() {
  using e = limit_settings;
  static const section_spec s{"limits", {
    key<&e::max_message_bytes>("maxMessageBytes", "The largest message that is accepted.").range(kib, gib),
    key<&e::max_json_depth>("maxJsonDepth", "The deepest nesting of a message that is accepted.").range(8, 10'000),
    key<&e::callers>("callers", "How many callers may be connected at the same time.").range(1, 65'536),
    key<&e::total_bytes>("totalBytes", "How many bytes of messages the daemon holds in total before it refuses large ones.").range(16 * mib, 1024 * gib),
    key<&e::held_call_ms>("heldCallMs", "How long a call waits until its caller comes back with answers to the tool server's questions (MCP 2026-07-28).").range(1'000, 86'400'000),
  }};
  return s;
}

const section_spec& log_keys() {
  static const section_spec s{"log", {
    key<&log_settings::level>("level", "How much is logged."),
  }};
  return s;
}

}  // namespace

const section_spec& root_section() {
  using c = configuration;
  static const section_spec s{"configuration", {
    key<&c::schema>("$schema", "The address of this schema, for editors."),
    named<&c::servers>("mcpServers", "The tool servers, in the convention of desktop MCP hosts.", server_keys(), forms::entry_name),
    named<&c::models>("models", "The language models, each under a name of its own.", model_keys(), forms::model_name),
    key<&c::default_model>("defaultModel", "The model for requests that name none: a configured name, NAME/ID or profile:NAME.").like(forms::filled),
    key<&c::tool_names>("toolNames", "Whether tools are called server__tool or by the server's own name."),
    section<&c::loop>("loop", "Limits and manners of a run.", outer_loop_keys()),
    named<&c::profiles>("profiles", "Named sets of a model, tools and settings.", profile_keys(), forms::entry_name),
    section<&c::store>("store", "Where runs are kept.", store_keys()),
    section<&c::http>("http", "The HTTP entrance on a TCP port of this machine.", http_keys()),
    section<&c::limits>("limits", "Bounds that protect the daemon.", limit_keys()),
    section<&c::log>("log", "The daemon's log.", log_keys()),
    key<&c::audit>("audit", "A file that gets a line for every tool call: off, on (audit.jsonl in the state directory), or its path.").like(forms::filled),
    key<&c::idle_exit_ms>("idleExitMs", "When a daemon that the CLI started ends without callers and runs; 0: never.").range(0, week),
    key<&c::watch>("watch", "Reads the configuration again when one of its files has changed, as `mcpbx reload` does."),
  }};
  return s;
}

// clang-format on

const std::vector<later_rule>& later_rules() {
  static const std::vector<later_rule> rules;
  return rules;
}

}  // namespace mcpbx::conf::model
