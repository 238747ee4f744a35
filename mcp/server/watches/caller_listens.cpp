// Opens, serves and ends streams of notifications.
#include "mcp/server/watches/caller_listens.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/resources.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/server/base/task_routes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace mcpbx::mcp::watches {
namespace {

std::string subscription_meta(const rpc::rpc_id& id) {
  return "{" + json::json_quoted(protocol::meta_key::subscription_id) + ":" + std::string(id.token()) + "}";
}

/// Returns params with the mark of a stream, or nothing if they cannot have one.
json::raw_json with_mark(const json::raw_json& params, const rpc::rpc_id& id) {
  auto o = json::raw_object::open(params ? params : json::raw_json::literal("{}"));
  if (!o) return {};
  const json::raw_json meta = o->find("_meta");
  auto tagged = json::raw_object::open(meta.is_object() ? meta : json::raw_json::literal("{}"));
  if (!tagged) return {};
  tagged->set(protocol::meta_key::subscription_id, json::raw_json::own(id.token()));
  o->set("_meta", tagged->json());
  return o->json();
}

/// Returns the notification that a list of this kind has changed, for one stream. All streams share what stands before
/// its id.
json::segments tagged_change(const protocol::feature_kind& kind, const rpc::rpc_id& id) {
  static std::unordered_map<std::string_view, json::raw_json> heads;
  const auto [found, fresh] = heads.try_emplace(kind.changed);
  if (fresh)
    found->second =
        json::raw_json::own(R"({"jsonrpc":"2.0","method":)" + json::json_quoted(kind.changed) +
                            R"(,"params":{"_meta":{)" + json::json_quoted(protocol::meta_key::subscription_id) + ":");
  json::segments text;
  text.append(found->second);
  text.append_copy(id.token());
  text.append_literal("}}}");
  return text;
}

}  // namespace

void caller_listens::open(const json::raw_json& params, const server::reply_once& reply) {
  auto wanted = read(params, reply);
  if (!wanted) return;
  if (auto admitted = host_.admit_call(); !admitted) return reply.error(server::to_rpc_error(admitted.error()));
  if (listens_.size() >= options_.max_open)
    return reply.error(server::to_rpc_error({errc::limit, "this connection has " + std::to_string(listens_.size()) +
                                                              " subscriptions/listen open already; end one of them"}));
  if (wanted->uris.size() + wanted->tasks.size() > options_.max_uris - watched())
    return reply.error(
        server::to_rpc_error({errc::limit, "this connection may watch " + std::to_string(options_.max_uris) +
                                               " resources and tasks together; end a subscription first"}));
  std::size_t bytes = 0;
  for (const std::string& id : wanted->tasks) bytes += id.size();
  for (const std::string& uri : wanted->uris) bytes += uri.size();
  if (auto admitted = uris_.admit(bytes); !admitted) return reply.error(server::to_rpc_error(admitted.error()));
  const std::uint64_t serial = reply.serial();
  listen made{reply, std::move(wanted->changes), bytes};
  for (auto uri = wanted->uris.rbegin(); uri != wanted->uris.rend(); ++uri)
    made.wanted.push_back(shared_bytes::copy(*uri));
  for (const std::string& id : wanted->tasks) made.tasks.push_back(shared_bytes::copy(id));
  uris_.add(bytes);
  reply.on_cancel([this, serial] { forget(serial); });
  listens_.emplace(serial, std::move(made));
  opening_.push_back(serial);
  searches_.begin();
}

// Reads the filter. Members of later revisions are ignored, which the acknowledgement shows.
std::optional<caller_listens::filter> caller_listens::read(const json::raw_json& params,
                                                           const server::reply_once& reply) const {
  const auto refuse = [&](const std::string& what) {
    reply.error(server::invalid_params("params.notifications" + what));
    return std::nullopt;
  };
  const json::raw_json notifications = json::find_member(params, "notifications");
  if (!notifications.is_object()) return refuse(": expected an object, got " + server::describe(notifications));
  const auto members = json::raw_object::open(notifications, {"resourceSubscriptions", "taskIds"});
  if (!members) return refuse(": " + members.error().message);
  filter f;
  for (const protocol::feature_kind& kind : kinds_) {
    const json::raw_json value = members->find(kind.listen_member);
    if (!value || std::ranges::find(f.changes, kind.listen_member) != f.changes.end()) continue;
    if (value.type() != json::raw_json::kind::boolean)
      return refuse("." + std::string(kind.listen_member) + ": expected true or false, got " + server::describe(value));
    if (value.is_true()) f.changes.push_back(kind.listen_member);
  }
  if (!read_list(members->find("resourceSubscriptions"), "resourceSubscriptions", protocol::longest_uri, f.uris,
                 reply) ||
      !read_list(members->find("taskIds"), "taskIds", server::task_routes::longest_id, f.tasks, reply))
    return std::nullopt;
  if (!f.tasks.empty() && !server::has_tasks(*reply.modern())) {
    reply.error(server::tasks_undeclared());
    return std::nullopt;
  }
  return f;
}

// Reads a list of URIs or ids, sorted and without repetitions. Answers with an error if it is wrong.
bool caller_listens::read_list(const json::raw_json& list, std::string_view member, std::size_t longest,
                               std::vector<std::string>& out, const server::reply_once& reply) const {
  if (!list) return true;
  const auto refuse = [&](const std::string& what) {
    reply.error(server::invalid_params("params.notifications." + std::string(member) + what));
    return false;
  };
  if (!list.is_array()) return refuse(": expected an array, got " + server::describe(list));
  std::string wrong;
  json::for_each_element(list, [&](const json::raw_json& one) {
    auto text = one.as_string();
    if (!text || text->size() > longest)
      wrong = ": expected strings of at most " + std::to_string(longest) + " bytes, got " + server::describe(one);
    else if (out.size() > options_.max_uris)
      wrong = ": more than " + std::to_string(options_.max_uris) + " of them";
    else
      out.push_back(std::move(*text));
    return wrong.empty();
  });
  if (!wrong.empty()) return refuse(wrong);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return true;
}

// Does the next search, and acknowledges a stream behind its last one.
std::size_t caller_listens::search() {
  while (!opening_.empty()) {
    const std::uint64_t serial = opening_.front();
    const auto found = listens_.find(serial);
    if (found == listens_.end()) {
      opening_.pop_front();
      continue;
    }
    listen& l = found->second;
    if (!l.tasks.empty()) {
      const shared_bytes id = std::move(l.tasks.back());
      l.tasks.pop_back();
      watch_task(serial, id);
      return std::max<std::size_t>(id.size(), 1);
    }
    if (l.wanted.empty()) {
      opening_.pop_front();
      if (!waits_for_servers(serial, l)) wait_for_answers(l);
      return 1;
    }
    const shared_bytes uri = std::move(l.wanted.back());
    l.wanted.pop_back();
    watch_uri(serial, uri);
    return std::max<std::size_t>(uri.size(), 1);
  }
  if (changed_.empty()) return 0;
  const auto [serial, uri] = std::move(changed_.front());
  changed_.pop_front();
  watch_again(serial, uri);
  return std::max<std::size_t>(uri.size(), 1);
}

// Looks for resources that no server has once more, when servers that are starting have had their time.
bool caller_listens::waits_for_servers(std::uint64_t serial, listen& l) {
  const auto missing = [](const watched_resource& w) { return !w.held && !w.refused && !w.task; };
  if (std::exchange(l.settled, true) || host_.settled() || std::ranges::none_of(l.watches, missing)) return false;
  host_.when_settled(settle_, [this, serial, missing] {
    const auto found = listens_.find(serial);
    if (closed_ || found == listens_.end()) return;
    auto& watches = found->second.watches;
    for (auto w = watches.rbegin(); w != watches.rend(); ++w)
      if (missing(*w)) found->second.wanted.push_back(w->uri);
    std::erase_if(watches, missing);
    opening_.push_back(serial);
    searches_.begin();
  });
  return true;
}

caller_listens::watched_resource* caller_listens::listen::find(const shared_bytes& uri) {
  const auto found = std::ranges::find(watches, uri.data(), [](const watched_resource& one) { return one.uri.data(); });
  return found == watches.end() ? nullptr : &*found;
}

clients::watch caller_listens::watched_at(std::uint64_t serial, const shared_bytes& uri,
                                          const catalogs::resource_route& route) {
  const auto server = route.owner.lock();
  if (!server) return nullptr;
  return server->watch_resource_of(
      host_.scope(), route.uri, [this, serial, uri](const json::raw_json& params) { updated(serial, uri, params); },
      [this, serial, uri](const rpc::call_outcome& answer) { decided(serial, uri, answer); });
}

caller_listens::watched_resource* caller_listens::find(std::uint64_t serial, const shared_bytes& uri) {
  const auto found = listens_.find(serial);
  return found == listens_.end() ? nullptr : found->second.find(uri);
}

void caller_listens::watch_uri(std::uint64_t serial, const shared_bytes& uri) {
  const auto found = listens_.find(serial);
  if (found == listens_.end()) return;
  found->second.watches.push_back({uri});
  auto route = host_.tools()->route_resource(uri.view());
  if (!route) return;  // its server may come
  found->second.watches.back().waits = true;
  ++found->second.waiting;
  auto held = watched_at(serial, uri, *route);
  if (watched_resource* const w = held ? find(serial, uri) : nullptr; w != nullptr) w->route = std::move(*route);
  keep(serial, uri, std::move(held));
}

// Watches a task at the server that has it. One that this person has not made is left out.
void caller_listens::watch_task(std::uint64_t serial, const shared_bytes& id) {
  const auto found = listens_.find(serial);
  server::task_routes* const tasks = host_.tasks();
  const auto* const route = tasks ? tasks->find(host_.principal(), id.view(), true) : nullptr;
  const auto server = route ? route->owner.lock() : nullptr;
  if (found == listens_.end() || !server) return;
  found->second.watches.push_back({.uri = id, .task = true, .waits = true});
  ++found->second.waiting;
  keep(
      serial, id,
      server->watch_task_of(
          host_.scope(), id.view(), [this, serial, id](const json::raw_json& params) { task_told(serial, id, params); },
          [this, serial, id](const rpc::call_outcome& answer) { decided(serial, id, answer); }));
}

// Keeps a watch, whose server may have answered already. An empty watch means that there is no answer to wait for.
void caller_listens::keep(std::uint64_t serial, const shared_bytes& uri, clients::watch held) {
  watched_resource* const w = find(serial, uri);
  if (w == nullptr) return;
  if (!held && std::exchange(w->waits, false)) --listens_.find(serial)->second.waiting;
  if (held && !w->refused) std::swap(w->held, held);
}

// Each notification has the whole state of the task, so that none stands for another one.
void caller_listens::task_told(std::uint64_t serial, const shared_bytes& id, const json::raw_json& params) {
  const auto found = listens_.find(serial);
  if (found == listens_.end() || !found->second.acknowledged || found->second.find(id) == nullptr) return;
  if (const json::raw_json marked = with_mark(params, found->second.reply.id()))
    host_.send_note({.about = serial}, rpc::make_notification("notifications/tasks", marked));
}

// A refused resource is not watched, and is looked for again at other servers only.
void caller_listens::decided(std::uint64_t serial, const shared_bytes& uri, const rpc::call_outcome& answer) {
  watched_resource* const w = find(serial, uri);
  if (w == nullptr || !std::exchange(w->waits, false)) return;
  listen& l = listens_.find(serial)->second;
  --l.waiting;
  w->refused = answer.type != rpc::call_outcome::kind::result;
  const clients::watch ended = w->refused ? std::exchange(w->held, nullptr) : nullptr;
  if (l.waiting == 0 && l.searched && !l.acknowledged) acknowledge(l);
}

// Acknowledges a stream, once the servers of its resources have answered.
void caller_listens::wait_for_answers(listen& l) {
  l.searched = true;
  if (l.waiting == 0) return acknowledge(l);
  l.waits_until = host_.time().now() + longest_wait;
  if (!timer_) timer_ = host_.time().make_timer();
  stop_waiting();
}

// Acknowledges streams whose servers have had their time.
void caller_listens::stop_waiting() {
  const time_point now = host_.time().now();
  time_point next = never;
  std::vector<std::uint64_t> due;
  for (const auto& [serial, l] : listens_) {
    if (!l.searched || l.acknowledged) continue;
    if (l.waits_until <= now)
      due.push_back(serial);
    else
      next = std::min(next, l.waits_until);
  }
  if (next != never) timer_->arm(next, [this] { stop_waiting(); });
  for (const std::uint64_t serial : due)
    if (const auto found = listens_.find(serial); found != listens_.end()) acknowledge(found->second);
}

// Watches a resource of a changed catalog at the server that has it now.
void caller_listens::watch_again(std::uint64_t serial, const shared_bytes& uri) {
  watched_resource* const w = find(serial, uri);
  if (w == nullptr) return;
  w->stale = false;
  auto route = host_.tools()->route_resource(uri.view());
  if (!route || route->owner.lock() == w->route.owner.lock()) return;
  auto held = watched_at(serial, uri, *route);
  watched_resource* const now = held ? find(serial, uri) : nullptr;
  if (now == nullptr) return;
  now->route = std::move(*route);
  now->refused = false;
  std::swap(now->held, held);
}

void caller_listens::refresh() {
  if (listens_.empty()) return;
  for (auto& [serial, l] : listens_)
    for (watched_resource& w : l.watches)
      if (!w.task && !std::exchange(w.stale, true)) changed_.emplace_back(serial, w.uri);
  searches_.begin();
}

void caller_listens::acknowledge(listen& l) {
  l.acknowledged = true;
  std::vector<std::string_view> uris, tasks;
  for (const watched_resource& w : l.watches)
    if (w.held) (w.task ? tasks : uris).push_back(w.uri.view());
  std::ranges::sort(uris);
  std::ranges::sort(tasks);
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("_meta").token(subscription_meta(l.reply.id())).key("notifications").begin_object();
  for (const std::string_view change : l.changes) w.member(change, true);
  if (!uris.empty()) w.list("resourceSubscriptions", uris);
  if (!tasks.empty()) w.list("taskIds", tasks);
  w.end_object().end_object();
  host_.send_note({.about = l.reply.serial()},
                  rpc::make_notification("notifications/subscriptions/acknowledged", json::raw_json::own(json)));
}

void caller_listens::forget(std::uint64_t serial) {
  const auto ended = listens_.extract(serial);
  if (ended) uris_.remove(ended.mapped().bytes);
}

void caller_listens::close() {
  closed_ = true;
  if (timer_) timer_->cancel();
  searches_.stop();
  uris_ = {};
  opening_.clear();
  changed_.clear();
  std::exchange(listens_, {}).clear();
}

void caller_listens::updated(std::uint64_t serial, const shared_bytes& uri, const json::raw_json& params) {
  const auto found = listens_.find(serial);
  if (found == listens_.end() || !found->second.acknowledged) return;
  const watched_resource* const w = found->second.find(uri);
  // The configuration may keep the resource from this caller by now.
  if (w == nullptr || !host_.tools()->allows_resource(w->route, uri.view())) return;
  auto o = json::raw_object::open(params ? params : json::raw_json::literal("{}"));
  if (!o) return;
  const std::string changed = o->find("uri").as_string().value_or("");
  const std::string told = told_uri(*host_.tools(), w->route, uri.view(), changed);
  if (told != changed) o->set("uri", json::raw_json::string(told));
  const json::raw_json marked = with_mark(o->json(), found->second.reply.id());
  if (!marked) return;
  host_.send_note({.about = serial, .same = told}, rpc::make_notification("notifications/resources/updated", marked));
}

void caller_listens::list_changed(const protocol::feature_kind& kind) {
  std::vector<std::uint64_t> told;
  for (const auto& [serial, l] : listens_)
    if (l.acknowledged && std::ranges::find(l.changes, kind.listen_member) != l.changes.end()) told.push_back(serial);
  for (const std::uint64_t serial : told)
    if (const auto found = listens_.find(serial); found != listens_.end())
      host_.send_note({.about = serial, .same = kind.changed}, tagged_change(kind, found->second.reply.id()));
}

// "SHOULD respond to the original subscriptions/listen request with a completion result"; on stdio the cancellation
// "MUST" be sent as well (2026-07-28, subscriptions, "Graceful Closure", and cancellation).
void caller_listens::end(bool tell) {
  while (!listens_.empty()) {
    const listen ended = std::move(listens_.extract(listens_.begin()).mapped());
    uris_.remove(ended.bytes);
    const rpc::rpc_id id = ended.reply.id();
    const json::segments about = rpc::make_notification(
        "notifications/cancelled", json::raw_json::own(R"({"requestId":)" + std::string(id.token()) +
                                                       R"(,"reason":"mcpbx ends the subscription"})"));
    ended.reply.result(json::raw_json::own(R"({"_meta":)" + subscription_meta(id) + "}"));
    if (tell && !closed_) host_.send_note({}, about);
  }
}

std::size_t caller_listens::watched() const {
  std::size_t n = 0;
  for (const auto& [serial, l] : listens_) n += l.watches.size() + l.wanted.size() + l.tasks.size();
  return n;
}

}  // namespace mcpbx::mcp::watches
