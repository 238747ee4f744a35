// Asks for the state of each task and joins the answers.
#include "mcp/server/task_listing.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/server/base/task_routes.hpp"
#include "mcp/server/caller_session.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace mcpbx::mcp::callers {
namespace {

/// Returns the number in a cursor of ours, 0 without one; nullopt after an error.
std::optional<std::uint64_t> read_cursor(const json::raw_json& params, const server::reply_once& reply) {
  const json::raw_json cursor = json::find_member(params, "cursor");
  if (!cursor || cursor.is_null()) return 0;
  const auto text = cursor.as_string();
  std::uint64_t number = 0;
  const char* const end = text ? text->data() + text->size() : nullptr;
  const bool good = text && !text->empty() && std::from_chars(text->data(), end, number).ptr == end;
  if (good) return number;
  reply.error(server::invalid_params("params.cursor: expected the nextCursor of an earlier tasks/list"));
  return std::nullopt;
}

}  // namespace

void task_listing::start(caller_session& s, const json::raw_json& params, const server::reply_once& reply) {
  const auto after = read_cursor(params, reply);
  if (!after) return;
  if (auto admitted = s.host().admit_call(); !admitted) return reply.error(server::to_rpc_error(admitted.error()));
  const std::shared_ptr<task_listing> self(new task_listing(reply));
  const server::task_routes* const routes = s.host().tasks();
  const auto page = routes ? routes->page(s.host().principal(), *after, most_tasks) : server::task_routes::listed();
  self->next_ = page.next;
  for (const auto& task : page.tasks) self->tasks_.push_back({task.to.owner, 0, {}});
  ++self->open_;  // counts this function
  reply.on_cancel([weak = std::weak_ptr(self)] {
    if (const auto listing = weak.lock()) listing->cancel();
  });
  for (std::size_t i = 0; i < page.tasks.size() && reply.open(); ++i) {
    const auto server = page.tasks[i].to.owner.lock();
    if (!server) continue;
    clients::server_call c;
    c.method = "tasks/get";
    c.name = page.tasks[i].id;
    c.params = json::raw_json::own(json::json_object("taskId", page.tasks[i].id));
    c.meta = json::raw_json();
    s.describe_caller(c, reply, false, page.tasks[i].to.server);
    c.done = [self, i](const rpc::call_outcome& outcome) { self->told(i, outcome); };
    ++self->open_;
    self->tasks_[i].ticket = server->call(std::move(c));
  }
  if (--self->open_ == 0) self->answer();
}

void task_listing::told(std::size_t place, const rpc::call_outcome& outcome) {
  if (outcome.type == rpc::call_outcome::kind::result && outcome.value.text().size() <= longest_task) {
    // Its `_meta` is about the request that told it.
    if (auto o = json::raw_object::open(outcome.value)) {
      o->erase("_meta");
      tasks_[place].task = o->json();
    }
  }
  if (outcome.type == rpc::call_outcome::kind::failed && outcome.failure.code == errc::limit)
    overload_ = outcome.failure;
  if (--open_ == 0) answer();
}

void task_listing::cancel() {
  for (const auto& t : tasks_)
    if (const auto server = t.server.lock(); server && t.ticket != 0)
      server->cancel(t.ticket, "cancelled by its caller");
}

void task_listing::answer() {
  if (!reply_.open()) return;
  // A list without tasks that nobody asked for would say that they are gone.
  if (overload_) return reply_.error(server::to_rpc_error(*overload_));
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("tasks").begin_array();
  for (const auto& t : tasks_)
    if (t.task.is_object()) w.token(t.task.text());
  w.end_array();
  if (next_ != 0) w.member("nextCursor", std::to_string(next_));
  w.end_object();
  reply_.result(json::raw_json::own(json));
}

}  // namespace mcpbx::mcp::callers
