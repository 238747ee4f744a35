// The description as it is answered, without the version. A test walks all paths and checks real answers by it.
#include "daemon/front/api/openapi.hpp"

#include "mcp/json/raw_json.hpp"

namespace mcpbx::daemon::api_door {
namespace {

constexpr std::string_view before_version = R"json({
"openapi": "3.1.0",
"info": {"title": "mcpbx", "summary": "One daemon between programs, models and MCP tool servers.",
  "license": {"name": "see the file LICENSE"}, "version": )json";

// Responses of all paths but those of the probes: errors before and in the handler.
constexpr std::string_view after_version = R"json(},
"servers": [{"url": "/", "description": "the Unix socket, or http.address on this machine"}],
"security": [{"bearer": []}, {"key": []}],
"paths": {
"/v1/chat/completions": {"post": {"summary": "OpenAI's Chat Completions: a run, with the tools of mcpbx",
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChatCompletionRequest"}}}},
  "responses": {"200": {"description": "the answer, or chunks of it", "content": {
    "application/json": {"schema": {"$ref": "#/components/schemas/ChatCompletion"}},
    "text/event-stream": {"schema": {"type": "string"}}}}, "default": {"$ref": "#/components/responses/Error"}}}},
"/v1/responses": {"post": {"summary": "OpenAI's Responses: a run, with the tools of mcpbx",
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ResponseRequest"}}}},
  "responses": {"200": {"description": "the response, or events", "content": {
    "application/json": {"schema": {"$ref": "#/components/schemas/Response"}},
    "text/event-stream": {"schema": {"type": "string"}}}}, "default": {"$ref": "#/components/responses/Error"}}}},
"/v1/messages": {"post": {"summary": "Anthropic's Messages: a run, with the tools of mcpbx",
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/MessagesRequest"}}}},
  "responses": {"200": {"description": "the message, or events", "content": {
    "application/json": {"schema": {"$ref": "#/components/schemas/Message"}},
    "text/event-stream": {"schema": {"type": "string"}}}}, "default": {"$ref": "#/components/responses/MessagesError"}}}},
"/v1/messages/count_tokens": {"post": {"summary": "Refused: mcpbx counts no tokens in advance",
  "responses": {"404": {"$ref": "#/components/responses/MessagesError"}, "default": {"$ref": "#/components/responses/MessagesError"}}}},
"/v1/models": {"get": {"summary": "The configured models and profiles",
  "responses": {"200": {"description": "a list", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Models"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/v1/models/{id}": {"get": {"summary": "One of them",
  "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
  "responses": {"200": {"description": "a model", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Model"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/api/chat": {"post": {"summary": "mcpbx/chat: a run with its events or its result",
  "parameters": [{"name": "Last-Event-ID", "in": "header", "schema": {"type": "string", "pattern": "^.+:[0-9]+$"},
    "description": "goes on behind this event; the body is not read then"}],
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChatRequest"}}}},
  "responses": {"200": {"description": "the result; or, with Accept: text/event-stream, one event for each `data:`", "content": {
    "application/json": {"schema": {"$ref": "#/components/schemas/RunResult"}},
    "text/event-stream": {"schema": {"type": "string"}, "x-data": {"$ref": "#/components/schemas/Event"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/api/status": {"get": {"summary": "mcpbx/status",
  "responses": {"200": {"description": "the state of the daemon", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/api/servers": {"get": {"summary": "mcpbx/servers",
  "responses": {"200": {"description": "the tool servers", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Server"}}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/api/tools": {"get": {"summary": "mcpbx/tools",
  "parameters": [{"name": "pattern", "in": "query", "schema": {"type": "string"}}, {"name": "name", "in": "query", "schema": {"type": "string"}},
    {"name": "format", "in": "query", "schema": {"type": "string"}}],
  "responses": {"200": {"description": "the tools, as their servers define them or as a model's API gets them", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tools"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/api/sessions": {"get": {"summary": "mcpbx/sessions/list",
  "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}, {"name": "before", "in": "query", "schema": {"type": "string"}},
    {"name": "all", "in": "query", "schema": {"type": "boolean"}}],
  "responses": {"200": {"description": "a page of sessions", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Sessions"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/api/sessions/{id}": {"get": {"summary": "mcpbx/sessions/get",
  "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
    {"name": "from", "in": "query", "schema": {"type": "integer"}}, {"name": "limit", "in": "query", "schema": {"type": "integer"}}],
  "responses": {"200": {"description": "a page of its messages", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/api/openapi.json": {"get": {"summary": "This description",
  "responses": {"200": {"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object", "required": ["openapi", "paths"]}}}}}}},
"/livez": {"get": {"summary": "Does the daemon live?", "security": [],
  "responses": {"200": {"description": "yes", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Alive"}}}}}}},
"/healthz": {"get": {"summary": "The same", "security": [],
  "responses": {"200": {"description": "yes", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Alive"}}}}}}},
"/readyz": {"get": {"summary": "Does the daemon take work?", "security": [],
  "responses": {"200": {"description": "yes", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ready"}}}},
    "503": {"description": "no, for these reasons", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ready"}}}}}}},
"/metrics": {"get": {"summary": "Counters of the daemon and of its tool servers, for Prometheus",
  "responses": {"200": {"description": "text format 0.0.4", "content": {"text/plain": {"schema": {"type": "string"}}}},
    "default": {"$ref": "#/components/responses/Error"}}}},
"/mcp": {
  "post": {"summary": "MCP's Streamable HTTP", "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object"}}}},
    "responses": {"200": {"description": "a response, or a stream", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Rpc"}},
      "text/event-stream": {"schema": {"type": "string"}}}}, "202": {"description": "taken"}, "default": {"$ref": "#/components/responses/RpcError"}}},
  "get": {"summary": "The stream of a session", "responses": {"200": {"description": "events", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
    "default": {"$ref": "#/components/responses/RpcError"}}},
  "delete": {"summary": "Ends a session", "responses": {"200": {"description": "ended"}, "204": {"description": "ended"}, "default": {"$ref": "#/components/responses/RpcError"}}}}
},
)json";

constexpr std::string_view components = R"json("components": {
"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}, "key": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
"responses": {
  "Error": {"description": "a refusal or a failure", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}},
  "MessagesError": {"description": "a refusal or a failure", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/MessagesError"}}}},
  "RpcError": {"description": "a refusal or a failure", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Rpc"}}}}
},
"schemas": {
"Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object", "required": ["message", "type", "param", "code"], "properties": {
  "message": {"type": "string", "minLength": 1}, "type": {"type": "string"}, "param": {"type": ["string", "null"]}, "code": {"type": ["string", "null"]}}}}},
"MessagesError": {"type": "object", "required": ["type", "error"], "properties": {"type": {"const": "error"}, "error": {"type": "object", "required": ["type", "message"],
  "properties": {"type": {"type": "string"}, "message": {"type": "string", "minLength": 1}, "param": {"type": "string"}}}}},
"Rpc": {"type": "object", "required": ["jsonrpc"], "properties": {"jsonrpc": {"const": "2.0"}, "result": {"type": "object"}, "error": {"type": "object", "required": ["code", "message"]}}},
"Alive": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
"Ready": {"type": "object", "required": ["status", "reasons"], "properties": {"status": {"enum": ["ready", "waiting", "stopping"]},
  "reasons": {"type": "array", "items": {"enum": ["stopping", "servers_starting", "journal_unwritable"]}},
  "servers": {"description": "with the token only: those that are not ready", "type": "array", "items": {"type": "string"}}}},
"ChatCompletionRequest": {"type": "object", "required": ["messages"], "properties": {"model": {"type": "string"}, "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
  "stream": {"type": "boolean"}, "tools": {"type": "array"}, "temperature": {"type": "number", "minimum": 0, "maximum": 2}}},
"ChatCompletion": {"type": "object", "required": ["id", "object", "created", "model", "choices", "usage"], "properties": {"id": {"type": "string"}, "object": {"const": "chat.completion"},
  "created": {"type": "integer"}, "model": {"type": "string"}, "choices": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "object", "required": ["index", "message", "finish_reason"],
  "properties": {"finish_reason": {"enum": ["stop", "length", "tool_calls", "content_filter"]}, "message": {"type": "object", "required": ["role", "content"]}}}}, "usage": {"type": "object"}}},
"ResponseRequest": {"type": "object", "properties": {"model": {"type": "string"}, "input": {"type": ["string", "array"]}, "instructions": {"type": "string"},
  "previous_response_id": {"type": "string"}, "stream": {"type": "boolean"}, "tools": {"type": "array"}}},
"Response": {"type": "object", "required": ["id", "object", "created_at", "status", "error", "incomplete_details", "model", "output", "usage", "tools", "tool_choice", "instructions", "metadata"],
  "properties": {"id": {"type": "string", "pattern": "^resp_"}, "object": {"const": "response"}, "status": {"enum": ["completed", "incomplete", "failed", "in_progress"]},
  "output": {"type": "array", "items": {"type": "object", "required": ["id", "type"], "properties": {"type": {"enum": ["message", "reasoning", "function_call"]}}}}}},
"MessagesRequest": {"type": "object", "required": ["messages"], "properties": {"model": {"type": "string"}, "max_tokens": {"type": "integer", "minimum": 1},
  "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}}, "system": {"type": ["string", "array"]}, "stream": {"type": "boolean"}, "tools": {"type": "array"}}},
"Message": {"type": "object", "required": ["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"], "properties": {"id": {"type": "string", "pattern": "^msg_"},
  "type": {"const": "message"}, "role": {"const": "assistant"}, "content": {"type": "array", "items": {"type": "object", "required": ["type"],
  "properties": {"type": {"enum": ["text", "thinking", "tool_use"]}}}}, "stop_reason": {"enum": ["end_turn", "max_tokens", "tool_use", "refusal"]},
  "usage": {"type": "object", "required": ["input_tokens", "output_tokens"]}}},
"Models": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}},
"Model": {"type": "object", "required": ["id", "object", "created", "owned_by"], "properties": {"id": {"type": "string"}, "object": {"const": "model"}, "created": {"type": "integer"}}},
"ChatRequest": {"type": "object", "properties": {"input": {"type": "string"}, "messages": {"type": "array"}, "model": {"type": "string"}, "profile": {"type": "string"}, "session": {"type": "string"},
  "run": {"type": "string"}, "detach": {"type": "boolean"}, "stream": {"type": "boolean"}, "clientTools": {"type": "array"}, "limits": {"type": "object"}}},
"RunResult": {"type": "object", "required": ["run"], "properties": {"run": {"type": "string"}, "session": {"type": "string"}, "text": {"type": "string"}, "stopReason": {"type": "string"},
  "rounds": {"type": "integer"}, "toolCalls": {"type": "array"}, "usage": {"type": "object"}, "messages": {"type": "array"}}},
"Event": {"type": "object", "required": ["run", "seq", "type"], "properties": {"run": {"type": "string"}, "seq": {"type": "integer", "minimum": 1}, "type": {"enum": ["status", "text", "reasoning",
  "round", "tool_call", "tool_progress", "tool_log", "tool_result", "question", "answer", "usage", "error", "snapshot", "done"]}}},
"Status": {"type": "object", "required": ["version", "protocol", "pid", "uptimeMs", "callers", "runs", "servers", "memory"], "properties": {"version": {"type": "string"}, "pid": {"type": "integer"},
  "callers": {"type": "object", "required": ["open", "max"]}, "runs": {"type": "object", "required": ["active", "total"]}, "servers": {"type": "object", "required": ["total", "states"]}}},
"Server": {"type": "object", "required": ["name", "state"], "properties": {"name": {"type": "string"},
  "state": {"enum": ["disabled", "starting", "ready", "lazy", "restarting", "crash_loop", "failed", "stopped"]}, "tools": {"type": "integer"}}},
"Tools": {"type": "object", "anyOf": [{"required": ["tools"]}, {"required": ["prompt"]}], "properties": {"tools": {"type": "array"}, "prompt": {"type": "string"}}},
"SessionRow": {"type": "object", "required": ["session", "title", "model", "createdMs", "usedMs", "runCount"], "properties": {"session": {"type": "string"}, "createdMs": {"type": "integer"}}},
"Sessions": {"type": "object", "required": ["sessions"], "properties": {"sessions": {"type": "array", "items": {"$ref": "#/components/schemas/SessionRow"}}, "next": {"type": "string"}}},
"Session": {"allOf": [{"$ref": "#/components/schemas/SessionRow"}], "required": ["from", "total", "runs", "messages"], "properties": {"runs": {"type": "array"}, "messages": {"type": "array"}}}
}}}
)json";

}  // namespace

std::string api_description(std::string_view version) {
  std::string text(before_version);
  text += json::json_quoted(version);
  text += after_version;
  text += components;
  return text;
}

}  // namespace mcpbx::daemon::api_door
