// Collects the members of an object and sorts them if there are many.
#include "mcp/json/object_index.hpp"

#include "mcp/json/json_walk.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace mcpbx::json {

void object_index::clear() {
  more_.clear();
  unescaped_.clear();
  count_ = 0;
  sorted_ = false;
}

bool object_index::open(std::string_view object) {
  clear();
  walk::member_walk members(object);
  while (members.next()) {
    const member m{members.key_has_escapes ? unescaped_.emplace_front(unescaped(members.key))
                                           : members.key.substr(1, members.key.size() - 2),
                   members.value};
    if (count_ < few_.size())
      few_[count_] = m;
    else
      more_.push_back(m);
    ++count_;
  }
  if (members.broken()) clear();
  // Members of one key keep their order, because the last one counts.
  sorted_ = more_.size() > few_.size();
  if (sorted_)
    std::ranges::sort(more_, [](const member& a, const member& b) {
      return a.key != b.key ? a.key < b.key : a.value.data() < b.value.data();
    });
  return !members.broken();
}

std::string_view object_index::find(std::string_view key) const {
  const auto last_in = [&](std::span<const member> some) -> std::string_view {
    for (auto i = some.size(); i-- > 0;)
      if (const auto& m = some[i]; m.key.size() == key.size() && std::memcmp(m.key.data(), key.data(), key.size()) == 0)
        return m.value;
    return {};
  };
  const auto last_of_sorted = [&]() -> std::string_view {
    const auto behind = std::ranges::upper_bound(more_, key, {}, &member::key);
    return behind != more_.begin() && (behind - 1)->key == key ? (behind - 1)->value : std::string_view();
  };
  const auto found = sorted_ ? last_of_sorted() : last_in(more_);
  return found.empty() ? last_in(std::span(few_).first(std::min(count_, few_.size()))) : found;
}

}  // namespace mcpbx::json
