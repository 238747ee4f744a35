// Turns events into output items, and items into one message.
#include "providers/wire/openai/responses_decoder.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"
#include "providers/wire/openai/openai_responses.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <ranges>
#include <unordered_map>
#include <utility>

namespace mcpbx::providers::openai {
namespace {

// Largest number of items, far above any sensible answer. Later items are dropped.
constexpr std::size_t max_items = 4096;

// Joins the parts of this type in a message item.
std::string parts_of(std::string_view item, std::string_view type, std::string_view member) {
  std::string all;
  json::walk::elements(json::walk::find(item, "content"), [&](std::string_view part) {
    if (json::walk::text(json::walk::find(part, "type")) == type)
      all += json::walk::text(json::walk::find(part, member));
  });
  return all;
}

std::string thought_of(std::string_view item) {
  std::string all;
  for (const auto* list : {"summary", "content"})
    json::walk::elements(json::walk::find(item, list), [&](std::string_view part) {
      if (!all.empty()) all += "\n\n";
      all += json::walk::text(json::walk::find(part, "text"));
    });
  return all;
}

}  // namespace

struct responses_decoder::pieces {
  std::string_view type, index, item_id, delta, item, response, arguments, error;
};

// Names that identify an item; one that was not sent is empty.
struct responses_decoder::item_name {
  std::string id, call_id, type;

  bool may_be(const output_item& item) const {
    const auto agree = [](std::string_view a, std::string_view b) { return a.empty() || b.empty() || a == b; };
    return agree(type, item.type) && agree(call_id, item.call_id);
  }
};

responses_decoder::responses_decoder(std::string content_type, wire::wire_options options, const model_request* request)
    : wire::event_decoder(std::string(openai_responses::api), std::move(content_type), std::move(options), request) {}

void responses_decoder::take_event(std::string_view name, std::string_view json, wire::decoder_sink& sink) {
  pieces p;
  json::walk::members(json, [&](std::string_view key, std::string_view value) {
    if (key == "type")
      p.type = value;
    else if (key == "output_index")
      p.index = value;
    else if (key == "item_id")
      p.item_id = value;
    else if (key == "delta")
      p.delta = value;
    else if (key == "item")
      p.item = value;
    else if (key == "response")
      p.response = value;
    else if (key == "arguments")
      p.arguments = value;
    else if (key == "error")
      p.error = value;
  });
  std::string held;
  auto word = json::walk::is_string(p.type) ? word_of(p.type, held) : name;
  if (word == "error" || (json::walk::is_object(p.error) && !word.starts_with("response.")))
    return fail(wire::read_error_body(json), json, sink);
  if (!word.starts_with("response.")) return;
  word.remove_prefix(9);
  if (word == "output_text.delta") {
    if (auto* const item = item_at(p, "message"); item != nullptr && json::walk::is_string(p.delta))
      add_text(*item, item->joiner.take(p.delta), sink);
  } else if (word == "function_call_arguments.delta") {
    if (auto* const item = item_at(p, "function_call"); item != nullptr && json::walk::is_string(p.delta))
      item->arguments += item->joiner.take(p.delta);
  } else if (word == "function_call_arguments.done") {
    if (auto* const item = item_at(p, "function_call"); item != nullptr && json::walk::is_string(p.arguments)) {
      item->arguments = json::unescaped(p.arguments);
      item->ended = true;
    }
  } else if (word == "reasoning_summary_text.delta" || word == "reasoning_text.delta") {
    if (auto* const item = item_at(p, "reasoning"); item != nullptr && json::walk::is_string(p.delta))
      add_thought(*item, item->joiner.take(p.delta), sink);
  } else if (word == "reasoning_summary_part.added") {
    if (auto* const item = item_at(p, "reasoning"); item != nullptr && !item->thought.empty())
      add_thought(*item, "\n\n", sink);
  } else if (word == "refusal.delta") {
    if (auto* const item = item_at(p, "message"); item != nullptr && json::walk::is_string(p.delta))
      item->refusal += item->joiner.take(p.delta);
  } else if (word == "output_item.added" || word == "output_item.done") {
    const bool done = word == "output_item.done";
    if (auto* const item = json::walk::is_object(p.item) ? item_at(p, "", !done) : nullptr)
      take_item(*item, p.item, done, sink);
  } else if (word == "completed" || word == "incomplete" || word == "failed" || word == "cancelled") {
    take_response(p.response, word, sink);
  }
}

std::size_t responses_decoder::kept_bytes() const {
  std::size_t bytes = text_.capacity();
  for (const auto& i : items_)
    bytes +=
        i.json.capacity() + i.text.capacity() + i.refusal.capacity() + i.arguments.capacity() + i.thought.capacity();
  return bytes;
}

void responses_decoder::take_body(std::string_view json, wire::decoder_sink& sink) {
  if (json::walk::is_array(json::walk::find(json, "output"))) return take_response(json, "", sink);
  const auto said = wire::read_error_body(json);
  if (said.found() && json::walk::find(json, "object") != "\"response\"") return fail(said, json, sink);
  if (json::walk::is_object(json::walk::find(json, "error"))) return take_response(json, "failed", sink);
  fail_foreign(json, sink);
}

void responses_decoder::take_stream_end(bool, wire::decoder_sink& sink) {
  fail_cut(sink);  // only a terminal event confirms that the answer is complete
}

responses_decoder::item_name responses_decoder::name_of(std::string_view item) {
  return {json::walk::text(json::walk::find(item, "id")), json::walk::text(json::walk::find(item, "call_id")),
          json::walk::text(json::walk::find(item, "type"))};
}

responses_decoder::output_item* responses_decoder::new_item() {
  if (items_.size() == max_items) {
    too_many_ = true;
    return nullptr;
  }
  return &items_.emplace_back();
}

void responses_decoder::remember(output_item& item, item_name name) {
  const auto place = static_cast<std::size_t>(&item - items_.data());
  if (item.id.empty()) item.id = std::move(name.id);
  if (item.call_id.empty()) item.call_id = std::move(name.call_id);
  if (!item.id.empty()) by_id_[item.id] = place;
  if (!item.call_id.empty()) by_call_id_[item.call_id] = place;
}

responses_decoder::output_item* responses_decoder::find_named(const item_name& name) {
  for (const auto& [names, own] : {std::pair(&by_id_, &name.id), std::pair(&by_call_id_, &name.call_id)})
    if (const auto found = names->find(*own); found != names->end() && name.may_be(items_[found->second]))
      return &items_[found->second];
  return nullptr;
}

responses_decoder::output_item* responses_decoder::find_indexed(const item_name& name, std::int64_t index, bool added) {
  // An announced item is new, whatever its index says, unless it is announced twice.
  if (added) return nullptr;
  for (auto i = items_.rbegin(); index >= 0 && i != items_.rend(); ++i)
    if (i->index == index && !i->done && name.may_be(*i)) return &*i;
  // Without an id, and with no index or one that no item has, continue the last open item of the same type.
  if (name.id.empty())
    for (auto i = items_.rbegin(); i != items_.rend(); ++i)
      if (!i->done && i->type == name.type && name.may_be(*i) && (index < 0 || !i->json.empty())) return &*i;
  return nullptr;
}

responses_decoder::output_item* responses_decoder::item_at(const pieces& p, std::string_view type, bool added) {
  std::int64_t index = -1;
  std::from_chars(p.index.data(), p.index.data() + p.index.size(), index);
  auto name =
      json::walk::is_object(p.item) ? name_of(p.item) : item_name{json::walk::text(p.item_id), {}, std::string(type)};
  // An item that is announced behind the end of an item of the same name is another one.
  if (auto* const known = find_named(name); known != nullptr && !(added && known->done)) return known;
  if (auto* const known = find_indexed(name, index, added)) return known;
  auto* const item = new_item();
  if (item == nullptr) return nullptr;
  item->index = index;
  item->type = name.type;
  remember(*item, std::move(name));
  return item;
}

void responses_decoder::take_item(output_item& item, std::string_view json, bool done, wire::decoder_sink& sink) {
  item.json = json;
  auto name = name_of(json);
  item.type = name.type;
  remember(item, std::move(name));
  const auto status = json::walk::text(json::walk::find(json, "status"));
  if (done)
    item.ended = status != "incomplete";
  else if (status == "completed")
    item.ended = true;
  if (!done) return;
  item.done = true;
  // Some servers send no deltas, only the finished item.
  if (item.type == "message") {
    if (item.text.empty()) add_text(item, parts_of(json, "output_text", "text"), sink);
    if (item.refusal.empty()) item.refusal = parts_of(json, "refusal", "refusal");
  } else if (item.type == "reasoning") {
    if (item.thought.empty()) add_thought(item, thought_of(json), sink);
  } else if (item.type == "function_call") {
    take_arguments(item);
  }
}

void responses_decoder::take_arguments(output_item& item) {
  const auto arguments = json::walk::find(item.json, "arguments");
  if (json::walk::is_string(arguments) && arguments != "\"\"") item.arguments = json::unescaped(arguments);
  if (json::walk::is_object(arguments)) item.arguments = arguments;
}

void responses_decoder::add_text(output_item& item, std::string_view text, wire::decoder_sink& sink) {
  if (text.empty()) return;
  item.text += text;
  text_ += text;
  sink.on_text(text);
}

void responses_decoder::add_thought(output_item& item, std::string_view text, wire::decoder_sink& sink) {
  if (text.empty()) return;
  item.thought += text;
  sink.on_reasoning(text);
}

void responses_decoder::take_usage(std::string_view used) {
  if (!json::walk::is_object(used)) return;
  usage_.input = json::walk::count(used, "input_tokens");
  usage_.output = json::walk::count(used, "output_tokens");
  usage_.cached = json::walk::count(json::walk::find(used, "input_tokens_details"), "cached_tokens");
  usage_.cache_write = json::walk::count(json::walk::find(used, "input_tokens_details"), "cache_write_tokens");
  usage_.reasoning = json::walk::count(json::walk::find(used, "output_tokens_details"), "reasoning_tokens");
  usage_seen_ = usage_.input > 0 || usage_.output > 0;
}

void responses_decoder::take_response(std::string_view response, std::string_view event, wire::decoder_sink& sink) {
  std::string_view output, used, error, details;
  std::string status;
  json::walk::members(response, [&](std::string_view key, std::string_view value) {
    if (key == "output")
      output = value;
    else if (key == "usage")
      used = value;
    else if (key == "error")
      error = value;
    else if (key == "incomplete_details")
      details = value;
    else if (key == "status")
      status = json::walk::text(value);
  });
  if (status.empty()) status = event;
  if (event == "failed" || event == "cancelled" || status == "failed" || status == "cancelled") {
    wire::error_body said;
    said.message = json::walk::text(json::walk::find(error, "message"));
    said.type = json::walk::text(json::walk::find(error, "type"));
    said.code = json::walk::text(json::walk::find(error, "code"));
    if (!said.found()) said.message = "the response is " + (status.empty() ? std::string(event) : status);
    return fail(said, response, sink);
  }
  take_usage(used);
  take_final(output, sink);
  if (event != "incomplete" && status != "incomplete")
    return status.empty() || status == "completed" ? end(end_reason::stop, "completed", sink) : fail_cut(sink);
  const auto why = json::walk::text(json::walk::find(details, "reason"));
  end(why == "content_filter" ? end_reason::filter : end_reason::length, why.empty() ? "incomplete" : why, sink);
}

void responses_decoder::take_final(std::string_view output, wire::decoder_sink& sink) {
  std::vector<std::string_view> listed;
  json::walk::elements(output, [&](std::string_view json) {
    if (json::walk::is_object(json) && listed.size() < max_items) listed.push_back(json);
  });
  const auto streamed = items_.size();
  std::vector<output_item*> place(listed.size());
  const auto put = [&](std::size_t n, output_item* item) {
    item->in_final = static_cast<std::int64_t>(n);
    place[n] = item;
  };
  items_.reserve(streamed + listed.size());  // the pointers below must stay valid
  // Match items by name first, then the rest of each type by order.
  for (std::size_t n = 0; n < listed.size(); ++n)
    if (auto* const item = find_named(name_of(listed[n])); item != nullptr && item->in_final < 0) put(n, item);
  std::unordered_map<std::string_view, std::vector<std::size_t>> left;  // unmatched items by type, in reverse order
  for (auto i = streamed; i-- > 0;)
    if (items_[i].in_final < 0) left[items_[i].type].push_back(i);
  for (std::size_t n = 0; n < listed.size(); ++n) {
    if (place[n] != nullptr) continue;
    const auto name = name_of(listed[n]);
    const auto same = left.find(name.type);
    if (same != left.end() && !same->second.empty() && name.may_be(items_[same->second.back()])) {
      put(n, &items_[same->second.back()]);
      same->second.pop_back();
    } else if (auto* const item = new_item()) {
      put(n, item);
    }
  }
  // Do not take finished items twice.
  for (std::size_t n = 0; n < listed.size(); ++n)
    if (place[n] != nullptr && !place[n]->done) take_item(*place[n], listed[n], true, sink);
}

// Sorts items as the terminal event lists them if it lists all; else by index if each has its own; else as they came.
void responses_decoder::sort_items() {
  if (std::ranges::none_of(items_, [](const auto& i) { return i.in_final < 0; }))
    return void(std::ranges::sort(items_, {}, &output_item::in_final));
  auto by_index = items_ | std::views::transform(&output_item::index);
  std::vector<std::int64_t> indexes(by_index.begin(), by_index.end());
  std::ranges::sort(indexes);
  if (indexes.front() >= 0 && std::ranges::adjacent_find(indexes) == indexes.end())
    std::ranges::sort(items_, {}, &output_item::index);
}

bool responses_decoder::complete(output_item& item) {
  if (item.done) return true;
  if (item.type == "message") {
    if (item.text.empty() && item.refusal.empty()) return false;
    // An output item needs an id and a status, which this one never got. A plain message needs neither.
    item.json = json::json_object("type", "message", "role", "assistant", "content", item.text + item.refusal);
    return true;
  }
  return item.type == "function_call" && json::walk::is_object(item.json);
}

tool_call_block responses_decoder::read_call(output_item& item, std::string id) const {
  tool_call_block call;
  call.id = std::move(id);
  call.provider_id = json::walk::text(json::walk::find(item.json, "call_id"));
  const auto written = json::walk::text(json::walk::find(item.json, "name"));
  call.name = called_name(written);
  if (item.arguments.empty()) take_arguments(item);
  call.arguments_text = item.arguments;
  if (item.ended)
    read_arguments(call);
  else
    wire::read_unended_arguments(call);
  wire::name_nameless(call);
  // The item goes back as it came, except for an id that was taken, a name that the API would refuse, and arguments
  // that the server could not parse again.
  auto object = json::raw_object::open(json::raw_json::own(item.json));
  if (!object) return call;
  if (call.id != call.provider_id) object->set("call_id", json::raw_json::string(call.id));
  if (const auto name = fitting_name(call.name); object->find("name").as_string() != name)
    object->set("name", json::raw_json::string(name));
  const auto arguments = object->find("arguments");
  if (!arguments.is_string() || !call.arguments || trimmed(arguments.as_string().value_or("")) != call.arguments.text())
    object->set("arguments", json::raw_json::string(wire::sent_arguments(call)));
  item.json = object->json().text();
  return call;
}

void responses_decoder::end(end_reason reason, std::string raw_reason, wire::decoder_sink& sink) {
  if (too_many_)
    log::warn("The " + wire::who(options()) + " sent more than " + std::to_string(max_items) +
              " items; the later ones are dropped.");
  if (!items_.empty()) sort_items();
  const bool refused = std::any_of(items_.begin(), items_.end(), [](const auto& i) { return !i.refusal.empty(); });
  const bool cut = reason != end_reason::stop || refused;
  // A call at the cut may be incomplete, even if it is marked as done.
  if (cut && !items_.empty() && items_.back().type == "function_call") {
    warn_cut_call();
    items_.pop_back();
  }
  std::size_t bytes = 0;
  std::erase_if(items_, [&](output_item& item) {
    bytes += item.text.size() + item.refusal.size() + item.arguments.size() + item.thought.size();
    if (!complete(item)) return true;
    if (item.type != "function_call") return false;
    const auto status = json::walk::text(json::walk::find(item.json, "status"));
    return cut && !item.done && status != "completed";
  });
  std::vector<std::string> sent;
  for (const auto& item : items_) {
    if (item.type != "function_call") continue;
    auto id = json::walk::text(json::walk::find(item.json, "call_id"));
    sent.push_back(wire::is_fitting_id(id) ? std::move(id) : std::string());
  }
  auto settled = ids().settle(std::move(sent));

  auto m = new_message();
  std::string all = "[";
  std::size_t kept = 0, calls = 0;  // reasoning must not be last: it belongs to the item behind it
  for (auto& item : items_) {
    if (item.type == "message") {
      if (!item.text.empty()) m->blocks.emplace_back(text_block{item.text});
      if (!item.refusal.empty()) m->blocks.emplace_back(refusal_block{item.refusal});
    } else if (item.type == "function_call") {
      m->blocks.emplace_back(read_call(item, std::move(settled[calls++])));
    } else if (item.type == "reasoning") {
      m->blocks.emplace_back(reasoning_block{item.thought, json::raw_json::own(item.json)});
    } else {
      m->blocks.emplace_back(opaque_block{json::raw_json::own(item.json)});
    }
    if (all.size() > 1) all += ',';
    all += item.json;
    if (item.type != "reasoning") kept = all.size();
  }
  all.resize(kept);
  if (kept > 0) m->raw = json::raw_json::own(all + "]");

  model_reply reply;
  reply.raw_reason = std::move(raw_reason);
  reply.reason = reason;
  if (reason == end_reason::stop) {
    if (refused)
      reply.reason = end_reason::refusal;
    else if (calls > 0)
      reply.reason = end_reason::tool_calls;
  }
  reply.message = std::move(m);
  reply.usage = usage_seen_ ? usage_ : estimated(bytes);
  succeed(std::move(reply), sink);
}

}  // namespace mcpbx::providers::openai
