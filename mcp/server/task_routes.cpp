// The table of tasks.
#include "mcp/server/task_routes.hpp"

#include <utility>

namespace mcpbx::mcp {

std::string task_routes::key_of(std::string_view principal, std::string_view id, bool modern) {
  std::string key(modern ? "m" : "l");
  key += std::to_string(principal.size()) + " ";
  return key.append(principal).append(id);
}

void task_routes::add(std::string_view principal, std::string_view id, route to) {
  if (id.empty() || id.size() > longest_id) return;
  std::string key = key_of(principal, id, to.modern);
  const auto [found, fresh] = routes_.insert_or_assign(key, std::move(to));
  if (!fresh) return;
  order_.push_back(std::move(key));
  if (order_.size() <= most_tasks) return;
  routes_.erase(order_.front());
  order_.pop_front();
}

const task_routes::route* task_routes::find(std::string_view principal, std::string_view id, bool modern) const {
  const auto found = routes_.find(key_of(principal, id, modern));
  return found == routes_.end() ? nullptr : &found->second;
}

}  // namespace mcpbx::mcp
