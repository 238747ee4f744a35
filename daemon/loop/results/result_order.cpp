// Sorts the results among the places that hold results. Messages keep their number of results.
#include "daemon/loop/results/result_order.hpp"

#include "mcp/support/keyed_hash.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::results {
namespace {

using providers::message_ptr;
using providers::tool_result_block;

struct placed_result {
  std::size_t call;   // index of its call, or the number of calls if it answers none
  std::size_t place;  // index among the results as sent
  const tool_result_block* result;
};

std::vector<placed_result> results_by_call(const providers::message& calls, std::span<const message_ptr> answers) {
  text_view_map<std::size_t> numbers;
  for (const auto* c : calls.calls()) numbers.emplace(c->id, numbers.size());
  std::vector<placed_result> all;
  for (const auto& m : answers)
    for (const auto& b : m->blocks)
      if (const auto* r = std::get_if<tool_result_block>(&b)) {
        const auto found = numbers.find(r->call_id);
        all.push_back({found == numbers.end() ? numbers.size() : found->second, all.size(), r});
      }
  return all;
}

void fill_places(std::span<message_ptr> answers, const std::vector<placed_result>& sorted) {
  const std::vector<message_ptr> before(answers.begin(), answers.end());  // keeps the results of `sorted` alive
  auto next = sorted.begin();
  for (auto& m : answers) {
    auto filled = std::make_shared<providers::message>();  // without the cached encodings of the old one
    filled->role = m->role;
    filled->blocks = m->blocks;
    for (auto& b : filled->blocks)
      if (auto* r = std::get_if<tool_result_block>(&b)) *r = *next++->result;
    m = std::move(filled);
  }
}

}  // namespace

void order_results(std::vector<message_ptr>& messages) {
  using providers::role;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i]->role != role::assistant) continue;
    auto end = i + 1;
    while (end < messages.size() && messages[end]->role == role::tool_results) ++end;
    const std::span answers(messages.data() + i + 1, end - i - 1);
    auto results = results_by_call(*messages[i], answers);
    if (std::ranges::is_sorted(results, {}, &placed_result::call)) continue;
    std::ranges::sort(
        results, [](const auto& a, const auto& b) { return std::pair(a.call, a.place) < std::pair(b.call, b.place); });
    fill_places(answers, results);
  }
}

}  // namespace mcpbx::daemon::results
