// The table of tasks: a list for each principal, so that one with many tasks pushes out its own.
#include "mcp/server/base/task_routes.hpp"

#include "mcp/protocol/revisions.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::server {

bool has_tasks(const modern_request& m) {
  return json::find_member(json::find_member(m.capabilities, "extensions"), "io.modelcontextprotocol/tasks")
      .is_object();
}

rpc::rpc_error tasks_undeclared() {
  return {protocol::mcp_code::missing_client_capability, "a caller that uses tasks must declare the extension",
          json::raw_json::literal(R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})")};
}

std::string task_routes::key_of(std::string_view id, bool modern) {
  return std::string(modern ? "m" : "l").append(id);
}

void task_routes::add(std::string_view principal, std::string_view id, route to) {
  if (id.empty() || id.size() > longest_id) return;
  std::string key = key_of(id, to.modern);
  share& own = shares_.try_emplace(std::string(principal)).first->second;
  const auto known = own.routes.find(key);
  to.number = known == own.routes.end() ? ++last_number_ : known->second.number;
  const auto [found, fresh] = own.routes.insert_or_assign(key, std::move(to));
  if (!fresh) return;
  own.order.push_back(std::move(key));
  if (++size_ <= most_tasks) return;
  const auto most = std::ranges::max_element(shares_, {}, [](const auto& one) { return one.second.order.size(); });
  most->second.routes.erase(most->second.order.front());
  most->second.order.pop_front();
  --size_;
  if (most->second.order.empty()) shares_.erase(most);
}

const task_routes::route* task_routes::find(std::string_view principal, std::string_view id, bool modern) const {
  const auto own = shares_.find(principal);
  if (own == shares_.end()) return nullptr;
  const auto found = own->second.routes.find(key_of(id, modern));
  return found == own->second.routes.end() ? nullptr : &found->second;
}

task_routes::listed task_routes::page(std::string_view principal, std::uint64_t after, std::size_t most) const {
  listed out;
  const auto own = shares_.find(principal);
  if (own == shares_.end()) return out;
  for (const std::string& key : own->second.order) {
    const route& to = own->second.routes.find(key)->second;
    if (to.modern || to.number <= after) continue;
    if (out.tasks.size() == most) {
      out.next = out.tasks.back().to.number;
      break;
    }
    out.tasks.push_back({key.substr(1), to});
  }
  return out;
}

}  // namespace mcpbx::mcp::server
