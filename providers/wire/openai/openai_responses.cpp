// Encodes requests to the Responses API. A message becomes one or several items of `input`, cached as one fragment. The
// raw form of an answer is the list of its output items, which goes back item by item.
#include "providers/wire/openai/openai_responses.hpp"

#include "providers/model/names.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/finished_calls.hpp"
#include "providers/wire/openai/openai_apis.hpp"
#include "providers/wire/openai/responses_decoder.hpp"
#include "providers/wire/request_body.hpp"
#include "providers/wire/results.hpp"
#include "providers/wire/strict_schema.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mcpbx::providers {
namespace {

constexpr std::int64_t least_output_tokens = 16;  // smallest limit that the API accepts

void append_input_text(std::string& out, std::string_view text) {
  out += R"({"type":"input_text","text":)";
  append_quoted(out, text);
  out += '}';
}

void append_input_image(std::string& out, std::string_view url, std::string_view detail = "") {
  out += R"({"type":"input_image","detail":)";
  append_quoted(out, detail.empty() ? std::string_view("auto") : detail);
  out += R"(,"image_url":)";
  append_quoted(out, url);
  out += '}';
}

void append_file_part(std::string& out, std::string_view name, std::string_view mime, std::string_view data) {
  out += R"({"type":"input_file","filename":)";
  append_quoted(out, !name.empty() ? name : mime == "application/pdf" ? "file.pdf" : "file");
  out += R"(,"file_data":)";
  append_quoted(out, data_url(mime, data));
  out += '}';
}

/// The items of one message.
class item_list {
 public:
  /// Adds a message; `content` is a JSON string or a list of parts.
  void said(std::string_view role, std::string_view content) {
    next();
    out_ += R"({"type":"message","role":")";
    out_ += role;
    out_ += R"(","content":)";
    out_ += content;
    out_ += '}';
  }

  void call(const tool_call_block& call) {
    next();
    out_ += R"({"type":"function_call","call_id":)";
    append_quoted(out_, fitting_id(call.id));
    out_ += R"(,"name":)";
    append_quoted(out_, fitting_name(call.name));
    out_ += R"(,"arguments":)";
    append_quoted(out_, sent_arguments(call));
    out_ += '}';
  }

  void result(const tool_result_block& block) {
    next();
    out_ += R"({"type":"function_call_output","call_id":)";
    append_quoted(out_, fitting_id(block.call_id));
    out_ += R"(,"output":)";
    const auto converted = convert_result(block, {.images = media_place::inside, .documents = media_place::inside});
    bool media = false;
    for (const auto& part : converted.parts) media = media || !part.is_text();
    if (!media) {
      append_quoted(out_, converted.text());
    } else {
      char before = '[';
      for (const auto& part : converted.parts) {
        out_ += std::exchange(before, ',');
        if (part.is_text())
          append_input_text(out_, part.text);
        else if (is_shown_image(part.mime))
          append_input_image(out_, data_url(part.mime, part.data));
        else
          append_file_part(out_, part.name, part.mime, part.data);
      }
      out_ += ']';
    }
    out_ += '}';
  }

  raw_json finish() const { return out_.empty() ? raw_json() : raw_json::own(out_); }

 private:
  void next() {
    if (!out_.empty()) out_ += ',';
  }
  std::string out_;
};

std::string user_content(const message& m) {
  std::string parts;
  char before = '[';
  bool media = false;
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      parts += std::exchange(before, ',');
      append_input_text(parts, text->text);
    } else if (const auto* image = std::get_if<image_block>(&b)) {
      media = true;
      parts += std::exchange(before, ',');
      if (image->url.empty() && !is_shown_image(image->mime))
        append_input_text(parts, left_out(*image));
      else
        append_input_image(parts, image->url.empty() ? data_url(image->mime, image->data) : image->url, image->detail);
    } else if (const auto* file = std::get_if<file_block>(&b)) {
      media = true;
      parts += std::exchange(before, ',');
      if (!file->url.empty()) {
        parts += R"({"type":"input_file","file_url":)";
        append_quoted(parts, file->url);
        parts += '}';
      } else if (file->mime.starts_with("audio/") || file->mime.starts_with("video/")) {
        append_input_text(parts, left_out(*file));
      } else {
        append_file_part(parts, file->name, file->mime, file->data);
      }
    }
  }
  return media ? parts + "]" : json_quoted(m.text());
}

// Encodes our own messages and those of other APIs, without reasoning, which only its origin may get.
raw_json encode_message(const message& m) {
  item_list out;
  if (m.role == role::user) {
    out.said("user", user_content(m));
    return out.finish();
  }
  std::string text;  // text of neighbouring blocks
  const auto flush = [&] {
    if (!text.empty()) out.said("assistant", json_quoted(std::exchange(text, {})));
  };
  for (const auto& b : m.blocks) {
    if (const auto* t = std::get_if<text_block>(&b)) {
      text += t->text;
    } else if (const auto* refusal = std::get_if<refusal_block>(&b)) {
      text += refusal->text;
    } else if (const auto* call = std::get_if<tool_call_block>(&b)) {
      flush();
      out.call(*call);
    } else if (const auto* result = std::get_if<tool_result_block>(&b)) {
      out.result(*result);
    }
  }
  flush();
  return out.finish();
}

// Returns the member tool_choice for a required call. `name` is the tool to call, or "" for any.
std::string responses_tool_choice(std::string_view name) {
  if (name.empty()) return R"("required")";
  return R"({"type":"function","name":)" + json_quoted(name) + "}";
}

// Returns all system messages, wherever they are in the conversation.
std::string instructions(const model_request& request) {
  std::string all;
  for (const auto& m : request.messages)
    if (m->role == role::system) all = with_note(std::move(all), m->text());
  return all;
}

}  // namespace

wire_request openai_responses::encode(const model_request& request, const wire_options& options) const {
  wire_request out;
  out.url = join_url(options.base_url, "/responses");
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}};

  const auto tools = request.offered();
  const auto asked = settings_of(request, options);
  body_members members;
  members.add_text("model", options.model);
  members.add("stream", "true");
  members.add("store", "false");
  members.add("include", R"(["reasoning.encrypted_content"])");
  if (asked.max_output_tokens > 0)
    members.add("max_output_tokens", std::to_string(std::max(asked.max_output_tokens, least_output_tokens)));
  if (!asked.temperature.empty()) members.add("temperature", asked.temperature);
  if (!asked.top_p.empty()) members.add("top_p", asked.top_p);
  if (!asked.reasoning_effort.empty())
    members.add("reasoning", R"({"effort":)" + json_quoted(asked.reasoning_effort) + "}");
  if (const auto system = instructions(request); !system.empty()) members.add_text("instructions", system);
  if (asked.parallel_tool_calls) members.add("parallel_tool_calls", *asked.parallel_tool_calls ? "true" : "false");
  if (must_call(request)) members.add("tool_choice", responses_tool_choice(request.required_tool));
  if (options.answer_schema && request.answer_schema)
    members.add("text", std::string(R"({"format":{"type":"json_schema","name":"answer","strict":)") +
                            (is_strict_schema(request.answer_schema.text(), strict_rules::openai) ? "true" : "false") +
                            R"(,"schema":)" + std::string(request.answer_schema.text()) + "}}");
  out.body.append_copy("{" + members.write(options.body));
  if (tools) {
    out.body.append_literal(R"(,"tools":)");
    out.body.append(tool_list(openai_responses_api().tools, *tools, options.strict == true));
  }
  out.body.append_literal(R"(,"input":[)");
  bool first = true;
  const auto add = [&](raw_json items) {
    if (items.empty()) return;
    if (!std::exchange(first, false)) out.body.append_literal(",");
    out.body.append(std::move(items));
  };
  for (const auto& m : request.messages) {
    if (m->role == role::system) continue;
    if (is_own(*m, api, options) && m->raw.is_array())
      add(m->raw.slice(m->raw.text().substr(1, m->raw.text().size() - 2)));
    else
      add(encoded_once(*m, api, [&] { return encode_message(*m); }));
  }
  if (!request.note.empty() && !request.messages.empty()) {
    const auto speaker = request.messages.back()->role;
    if (speaker == role::user || speaker == role::tool_results) {
      item_list note;
      note.said("user", json_quoted(request.note));
      add(note.finish());
    }
  }
  out.body.append_literal("]}");
  return out;
}

std::unique_ptr<stream_decoder> openai_responses::make_decoder(std::string_view content_type,
                                                               const wire_options& options,
                                                               const model_request* request) const {
  return std::make_unique<responses_decoder>(std::string(content_type), options, request);
}

model_error openai_responses::decode_error(int status, std::string_view body, const wire_options& options) const {
  return status_error(status, body, options);
}

}  // namespace mcpbx::providers
