// Each rule below answers a server that was seen in the field.
#include "providers/wire/chat_calls.hpp"

#include "providers/model/json_walk.hpp"

#include <algorithm>
#include <charconv>

namespace mcpbx::providers {
namespace {

// Far above any sensible round; what comes beyond it is not kept.
constexpr std::size_t max_calls = 1024;

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto from = s.find_first_not_of(blanks);
  return from == std::string_view::npos ? std::string_view() : s.substr(from, s.find_last_not_of(blanks) - from + 1);
}

bool to_index(std::string_view value, std::int64_t& out) {
  const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), out);
  return !value.empty() && ec == std::errc() && end == value.data() + value.size();
}

// An id as text; servers were seen that send a number.
std::string id_of(std::string_view value) {
  if (walk::is_string(value)) return unescaped(value);
  std::int64_t number = 0;
  return to_index(value, number) ? std::string(value) : std::string();
}

struct piece {
  std::string_view index, id, function, name, arguments, extra;
};

piece read_piece(std::string_view element) {
  piece p;
  std::string_view own_name, own_arguments;
  walk::members(element, [&](std::string_view key, std::string_view value) {
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
  if (walk::is_object(p.function)) {
    walk::members(p.function, [&](std::string_view key, std::string_view value) {
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
  if (walk::is_object(tool_calls)) return take_call(tool_calls, false);
  int bare = 0;  // entries without index and without id
  walk::elements(tool_calls, [&](std::string_view element) {
    const auto p = read_piece(element);
    std::int64_t index = 0;
    if (!to_index(p.index, index) && id_of(p.id).empty()) ++bare;
  });
  walk::elements(tool_calls, [&](std::string_view element) { take_call(element, bare > 1); });
}

void call_assembler::take_function_call(std::string_view function_call) {
  if (walk::is_object(function_call)) take_call(function_call, false);
}

void call_assembler::take_call(std::string_view element, bool one_of_many) {
  if (!walk::is_object(element) || overflowed_) return;
  const auto p = read_piece(element);
  const std::string id = id_of(p.id), name = walk::text(p.name);
  std::int64_t index = 0;
  const bool has_index = to_index(p.index, index);
  slot* s = nullptr;
  auto use = [&](std::size_t i) {
    touched_ = i;
    s = &slots_[i];
  };
  // Whether a slot cannot go on: it has its whole arguments and this is a call of its own.
  auto over = [&](const slot& last) {
    return !name.empty() && (last.whole || (last.scanner.first_byte() == '{' && last.scanner.complete()));
  };

  if (has_index) {
    for (std::size_t i = slots_.size(); i-- > 0 && s == nullptr;)
      if (slots_[i].has_index && slots_[i].index == index) use(i);
    // Servers that send index 0 always: another id with a name is another call; without ids, a name after complete
    // arguments is.
    if (s != nullptr && !name.empty()) {
      const bool other_id = !id.empty() && !s->id.empty() && id != s->id;
      const bool again = id.empty() && !walk::text(p.arguments).empty() && over(*s);
      if (other_id || again) s = nullptr;
    }
  } else if (!id.empty()) {
    for (std::size_t i = 0; i < slots_.size() && s == nullptr; ++i)
      if (slots_[i].id == id) use(i);
  } else if (!slots_.empty()) {
    const auto& last = slots_.back();
    const bool other_name = !name.empty() && !last.name.empty() && name != last.name;
    if (!(one_of_many && !name.empty()) && !other_name && !over(last)) use(slots_.size() - 1);
  }
  if (s == nullptr) {
    if (slots_.size() == max_calls) {
      overflowed_ = true;
      return;
    }
    s = &new_slot();
    s->has_index = has_index;
    s->index = index;
  }

  if (s->id.empty()) s->id = id;
  if (s->name.empty()) s->name = name;
  bytes_ += name.size();
  if (!p.arguments.empty() && !s->whole) {
    if (walk::is_string(p.arguments)) {
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

call_assembler::finished call_assembler::finish(bool cut, const std::function<bool(std::string_view)>& taken) {
  finished all;
  all.too_many = overflowed_;
  std::vector<std::string> used;
  auto known = [&](std::string_view id) {
    return std::find(used.begin(), used.end(), id) != used.end() || (taken && taken(id));
  };
  std::size_t counter = 0;
  auto made_id = [&] {
    for (;;) {
      auto digits = std::to_string(++counter);
      std::string id = "call" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
      if (!known(id)) return id;
    }
  };
  // Ids that came are settled first, so that a made one cannot take the place of one that came later.
  std::vector<std::string> ids;
  for (const auto& s : slots_) {
    ids.push_back(!s.id.empty() && !s.name.empty() && !known(s.id) ? s.id : std::string());
    if (!ids.back().empty()) used.push_back(ids.back());
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto& s = slots_[i];
    if (cut && (i + 1 == slots_.size() || i == touched_)) {
      ++all.cut;
      continue;
    }
    if (s.name.empty()) {
      ++all.nameless;
      continue;
    }
    tool_call_block call;
    call.provider_id = s.id;
    call.id = ids[i].empty() ? made_id() : ids[i];
    if (ids[i].empty()) used.push_back(call.id);
    call.name = std::move(s.name);
    call.arguments_text = std::move(s.arguments);
    read_arguments(call);
    all.calls.push_back(std::move(call));
    all.extras.push_back(s.extras.object());
  }
  slots_.clear();
  return all;
}

}  // namespace mcpbx::providers
