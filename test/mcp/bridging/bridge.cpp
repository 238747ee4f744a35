// The bridge's parts together: its start, its clock, its steps.
#include "test/mcp/bridging/bridge.hpp"

#include "test/mcp/bridging/bridge_caller.hpp"
#include "test/mcp/bridging/bridge_server.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::test {

bridge::bridge(eras e) : era(e) {
  session_options.version = "1";
  held_options.expiry = milliseconds(10'000);
  changes_ = rig.supervisor->on_catalog_change([this](const mcp::protocol::feature_kind& kind) {
    for (std::size_t i = 0; i < callers_.size(); ++i) callers_[i]->list_changed(kind);  // one may join meanwhile
  });
}

bridge::~bridge() {
  on_step = {};
  turns->clear();
  for (const auto& c : callers_) c->leave();
  held.close("the test is over");
  rig.turn();
}

bridge_server& bridge::add_server(const std::string& name) {
  return add_server(name, era.new_server);
}

bridge_server& bridge::add_server(const std::string& name, bool modern) {
  servers_.push_back(std::make_unique<bridge_server>(*this, name, modern));
  return *servers_.back();
}

bridge_caller& bridge::add_caller(const std::string& name, const std::string& principal) {
  return add_caller(name, principal, era.new_caller);
}

bridge_caller& bridge::add_caller(const std::string& name, const std::string& principal, bool modern) {
  callers_.push_back(std::make_unique<bridge_caller>(*this, name, principal, modern));
  return *callers_.back();
}

void bridge::start(std::function<void(mcp::supervise::server_options&)> edit) {
  for (const auto& s : servers_) {
    auto o = server_named(s->name);
    o.plain_names = s == servers_.front();
    o.limits = {milliseconds(5'000), milliseconds(20'000)};
    o.question_timeout = milliseconds(8'000);
    if (edit) edit(o);
    wanted_.push_back(std::move(o));
    rig.launcher.add(s->name, scripted_launcher::setup([server = s.get()](scripted_process& p) {
                       server->lives.push_back(std::make_shared<server_life>(*server, p));
                       p.on_message = server->life_script();
                     }));
  }
  wanted_ = rig.with_processes(std::move(wanted_));
  rig.start(wanted_);
  pass(60);
}

void bridge::remove_server(const std::string& name) {
  std::erase_if(wanted_, [&](const mcp::supervise::server_options& o) { return o.name == name; });
  rig.supervisor->apply(wanted_);
}

void bridge::change_server(const std::string& name, const std::function<void(mcp::supervise::server_options&)>& edit) {
  edit(*std::ranges::find(wanted_, name, &mcp::supervise::server_options::name));
  rig.supervisor->apply(wanted_);
}

void bridge::pass(int ms) {
  for (; ms > 0; ms -= 10) rig.advance(std::min(ms, 10));
}

void bridge::step(bridge_step s) {
  if (counting_) {
    ++steps_;
    if (on_step) on_step(steps_, s);
  }
  if (recording_) recorded_.push_back(std::move(s));
}

void bridge::remark(std::string text) {
  if (recording_) recorded_.push_back({bridge_step::way::remark, {}, std::move(text)});
}

std::string member_at(std::string_view json, std::initializer_list<std::string_view> path) {
  if (json.empty()) return {};
  const auto parsed = json::raw_json::parse(json);
  if (!parsed) FAIL(json);
  json::raw_json value = *parsed;
  for (const std::string_view key : path) value = json::find_member(value, key);
  return std::string(value.text());
}

}  // namespace mcpbx::test
