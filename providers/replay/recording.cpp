// Looks conversations up by walking the tree. The walk ends at the longest common beginning.
#include "providers/replay/recording.hpp"

#include "mcp/json/json_writer.hpp"
#include "providers/replay/canonical.hpp"
#include "providers/replay/difference.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::replay {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

}  // namespace

std::size_t recording::step(std::size_t from, std::string_view message) const {
  const auto found = by_key_.find(next_key(nodes_[from].key, message));
  if (found == by_key_.end()) return nowhere;
  const auto& n = nodes_[found->second];
  return found->second != 0 && n.parent == from && n.message.text() == message ? found->second : nowhere;
}

std::size_t recording::grow(std::size_t from, const json::raw_json& message) {
  if (const auto known = step(from, message.text()); known != nowhere) return known;
  const auto place = nodes_.size();
  node n;
  n.message = message;
  n.key = next_key(nodes_[from].key, message.text());
  n.parent = from;
  by_key_.emplace(n.key, place);
  nodes_.push_back(std::move(n));
  nodes_[from].next.push_back(place);
  return place;
}

result<void> recording::add(exchange e) {
  const auto begin = by_key_.find(e.after);
  if (begin == by_key_.end())
    return fail(errc::parse, "goes on from a conversation that no line before it has; record anew");
  auto place = begin->second;
  for (const auto& m : e.messages) place = grow(place, m);
  if (!e.error) grow(place, canonical(*e.reply.message));
  nodes_[place].answers.push_back(std::move(e));
  return {};
}

result<recording> recording::read(std::string_view text) {
  auto h = header_from(text);
  if (!h) return std::unexpected(std::move(h.error()));
  recording r;
  r.header_ = std::move(*h);
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  for (std::size_t number = 2; !text.empty(); ++number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;
    auto e = exchange_from(text.substr(0, end));
    auto added = e ? r.add(std::move(*e)) : result<void>(std::unexpected(std::move(e.error())));
    if (!added) return fail(errc::parse, "is damaged: line " + std::to_string(number) + " " + added.error().message);
    text.remove_prefix(end + 1);
  }
  return r;
}

result<recording::match> recording::find(const model_request& request) const {
  match found;
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const auto came = canonical(*request.messages[i]);
    const auto next = step(found.place, came.text());
    if (next == nowhere) return fail(errc::not_found, difference(i + 1, nearest(found.place, came), came));
    found.place = next;
  }
  const auto& answers = nodes_[found.place].answers;
  if (answers.empty())
    return fail(errc::not_found, difference(request.messages.size() + 1, nearest(found.place, {}), {}));
  const auto tools = tools_of(request);
  const auto take = [&](auto&& fits) {
    if (found.answers.empty())
      for (const auto& e : answers)
        if (fits(e)) found.answers.push_back(&e);
  };
  take([&](const exchange& e) { return e.tools == tools; });
  take([&](const exchange& e) { return e.tools.empty() == tools.empty(); });
  take([](const exchange&) { return true; });
  return found;
}

json::raw_json recording::nearest(std::size_t from, const json::raw_json& came) const {
  json::raw_json best;
  std::size_t most = 0;
  for (const auto place : nodes_[from].next) {
    const auto& message = nodes_[place].message;
    const auto apart = std::ranges::mismatch(message.text(), came.text());
    const auto common = static_cast<std::size_t>(apart.in1 - message.text().begin());
    if (best && common <= most) continue;
    best = message;
    most = common;
  }
  return best;
}

}  // namespace mcpbx::providers::replay
