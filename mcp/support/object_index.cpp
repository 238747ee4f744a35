// See object_index.hpp.
#include "mcp/support/object_index.hpp"

#include "mcp/support/member_walk.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace mcpbx {

void object_index::clear() {
  more_.clear();
  unescaped_.clear();
  count_ = 0;
}

bool object_index::open(std::string_view object) {
  clear();
  member_walk walk(object);
  while (walk.next()) {
    const member m{
        walk.key_has_escapes ? unescaped_.emplace_front(unescaped(walk.key)) : walk.key.substr(1, walk.key.size() - 2),
        walk.value};
    if (count_ < few_.size())
      few_[count_] = m;
    else
      more_.push_back(m);
    ++count_;
  }
  if (walk.broken()) clear();
  return !walk.broken();
}

std::string_view object_index::find(std::string_view key) const {
  const auto last_in = [&](std::span<const member> some) -> std::string_view {
    for (auto i = some.size(); i-- > 0;)
      if (const auto& m = some[i]; m.key.size() == key.size() && std::memcmp(m.key.data(), key.data(), key.size()) == 0)
        return m.value;
    return {};
  };
  const auto found = last_in(more_);
  return found.empty() ? last_in(std::span(few_).first(std::min(count_, few_.size()))) : found;
}

}  // namespace mcpbx
