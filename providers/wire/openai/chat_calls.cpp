// Assembles streamed tool calls. Each rule below answers a server that was seen in the field.
#include "providers/wire/openai/chat_calls.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"

#include <charconv>

namespace mcpbx::providers::openai {
namespace {

bool to_index(std::string_view value, std::int64_t& out) {
  const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), out);
  return !value.empty() && ec == std::errc() && end == value.data() + value.size();
}

// Returns an id as text; some servers send a number.
std::string id_of(std::string_view value) {
  if (json::walk::is_string(value)) return json::unescaped(value);
  std::int64_t number = 0;
  return to_index(value, number) ? std::string(value) : std::string();
}

struct call_piece {
  std::string_view index, id, function, name, arguments, extra;
};

call_piece read_piece(std::string_view element) {
  call_piece p;
  std::string_view own_name, own_arguments;
  json::walk::members(element, [&](std::string_view key, std::string_view value) {
    if (key == "index")
      p.index = value;
    else if (key == "id")
      p.id = value;
    else if (key == "function")
      p.function = value;
    else if (key == "name")
      own_name = value;
    else if (key == "arguments")
      own_arguments = value;
    else if (key == "extra_content")
      p.extra = value;
  });
  if (json::walk::is_object(p.function)) {
    json::walk::members(p.function, [&](std::string_view key, std::string_view value) {
      if (key == "name")
        p.name = value;
      else if (key == "arguments")
        p.arguments = value;
    });
  } else {
    p.name = own_name;
    p.arguments = own_arguments;
  }
  if (p.arguments == "null") p.arguments = {};
  return p;
}

}  // namespace

call_assembler::slot& call_assembler::new_slot() {
  slots_.emplace_back();
  touched_ = slots_.size() - 1;
  return slots_.back();
}

void call_assembler::take(std::string_view tool_calls) {
  ++list_;
  if (json::walk::is_object(tool_calls)) return take_call(tool_calls, false);
  std::size_t count = 0;
  json::walk::elements(tool_calls, [&](std::string_view) { ++count; });
  int bare = 0;  // number of entries with neither index nor id
  if (count > 1)
    json::walk::elements(tool_calls, [&](std::string_view element) {
      const auto p = read_piece(element);
      std::int64_t index = 0;
      if (!to_index(p.index, index) && id_of(p.id).empty()) ++bare;
    });
  json::walk::elements(tool_calls, [&](std::string_view element) { take_call(element, bare > 1); });
}

void call_assembler::take_function_call(std::string_view function_call) {
  ++list_;
  if (json::walk::is_object(function_call)) take_call(function_call, false);
}

void call_assembler::take_call(std::string_view element, bool one_of_many) {
  if (!json::walk::is_object(element) || overflowed_) return;
  const auto p = read_piece(element);
  const std::string id = id_of(p.id), name = json::walk::text(p.name);
  std::int64_t index = 0;
  const bool has_index = to_index(p.index, index);
  slot* s = nullptr;
  bool repeated = false;
  auto use = [&](std::size_t i) {
    touched_ = i;
    s = &slots_[i];
  };
  // Returns true if a slot is complete and this entry is another call.
  auto over = [&](const slot& last) {
    return !name.empty() && (last.whole || (last.scanner.first_byte() == '{' && last.scanner.complete()));
  };

  if (has_index) {
    const auto is_at_index = [&](const slot& one) { return one.has_index && one.index == index; };
    for (std::size_t i = slots_.size(); !id.empty() && i-- > 0 && s == nullptr;)
      if (slots_[i].id == id && is_at_index(slots_[i])) use(i);
    for (std::size_t i = slots_.size(); i-- > 0 && s == nullptr;)
      if (is_at_index(slots_[i])) use(i);
    // Some servers always send index 0. A new id with a name is another call then; without ids, a name behind complete
    // arguments is one.
    if (s != nullptr && !name.empty()) {
      const bool other_id = !id.empty() && !s->id.empty() && id != s->id;
      const bool again = id.empty() && !json::walk::text(p.arguments).empty() && over(*s);
      if (other_id || again) s = nullptr;
    }
  } else if (!id.empty()) {
    for (std::size_t i = slots_.size(); i-- > 0 && s == nullptr;)
      if (slots_[i].id == id) use(i);
    // Two calls may have one id. Of one list they are two; else another name, or other arguments behind complete ones,
    // begins the second. A repeated call is one, and `{}` may stand for arguments that are still to come.
    if (s != nullptr && !name.empty() && s->list == list_) {
      s = nullptr;
    } else if (s != nullptr && over(*s)) {
      const std::string text =
          json::walk::is_string(p.arguments) ? json::unescaped(p.arguments) : std::string(p.arguments);
      const auto before = s->complete_arguments(), now = trimmed(text);
      const bool other_name = !s->name.empty() && name != s->name;
      repeated = !other_name && (now.empty() || now == before);
      if (other_name || (!repeated && before != "{}")) s = nullptr;
    }
  } else if (!slots_.empty()) {
    const auto& last = slots_.back();
    const bool other_name = !name.empty() && !last.name.empty() && name != last.name;
    if (!(one_of_many && !name.empty()) && !other_name && !over(last)) use(slots_.size() - 1);
  }
  if (s == nullptr) {
    if (slots_.size() == max_reply_calls) {
      overflowed_ = true;
      return;
    }
    s = &new_slot();
    s->list = list_;
    s->has_index = has_index;
    s->index = index;
  }

  if (s->id.empty()) s->id = id;
  if (s->name.empty()) s->name = name;
  bytes_ += name.size();
  if (!p.arguments.empty() && !s->whole && !repeated) {
    if (json::walk::is_string(p.arguments)) {
      const auto text = s->joiner.take(p.arguments);
      s->arguments += text;
      s->scanner.feed(text);
      bytes_ += text.size();
    } else if (trimmed(s->arguments).empty()) {
      s->arguments = p.arguments;
      s->whole = true;
      bytes_ += p.arguments.size();
    }
  }
  if (!p.extra.empty()) s->extras.add("extra_content", p.extra);
}

call_assembler::finished call_assembler::finish(bool cut, wire::call_ids& ids) {
  finished all;
  all.too_many = overflowed_;
  std::vector<slot*> kept;
  std::vector<std::string> sent;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (cut && (i + 1 == slots_.size() || i == touched_)) {
      ++all.cut;
    } else if (slots_[i].name.empty() && slots_[i].id.empty() && trimmed(slots_[i].arguments).empty()) {
      ++all.empty;
    } else {
      kept.push_back(&slots_[i]);
      sent.push_back(slots_[i].id);
    }
  }
  auto settled = ids.settle(std::move(sent));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    auto& s = *kept[i];
    tool_call_block call;
    call.id = std::move(settled[i]);
    call.provider_id = std::move(s.id);
    call.name = std::move(s.name);
    call.arguments_text = std::move(s.arguments);
    read_arguments(call);
    wire::name_nameless(call);
    all.calls.push_back(std::move(call));
    all.extras.push_back(s.extras.object());
  }
  slots_.clear();
  return all;
}

void write_call(json::json_writer& w, const tool_call_block& call, std::string_view id, std::string_view extra) {
  w.begin_object().member("id", id).member("type", "function").key("function").begin_object();
  w.member("name", fitting_name(call.name)).member("arguments", wire::sent_arguments(call)).end_object();
  if (extra.size() > 2) w.token(extra.substr(1, extra.size() - 2));
  w.end_object();
}

}  // namespace mcpbx::providers::openai
