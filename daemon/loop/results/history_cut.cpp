// Aims at half the size, because providers do not say by how much a conversation is too long.
#include "daemon/loop/results/history_cut.hpp"

#include "daemon/loop/results/result_mark.hpp"
#include "daemon/loop/results/result_view.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

namespace mcpbx::daemon::results {
namespace {

constexpr std::size_t left_of_result = 256;  // bytes of text that a cut result keeps
constexpr std::size_t worth_cutting = 1024;  // bytes; smaller results are not cut

struct sizes {
  std::size_t operator()(const providers::text_block& b) const { return b.text.size(); }
  std::size_t operator()(const providers::image_block& b) const { return b.data.size(); }
  std::size_t operator()(const providers::file_block& b) const { return b.data.size(); }
  std::size_t operator()(const providers::reasoning_block& b) const { return b.text.size() + b.opaque.text().size(); }
  std::size_t operator()(const providers::tool_call_block& b) const { return b.arguments_text.size(); }
  std::size_t operator()(const providers::tool_result_block& b) const { return b.result.text().size(); }
  std::size_t operator()(const providers::refusal_block& b) const { return b.text.size(); }
  std::size_t operator()(const providers::opaque_block& b) const { return b.json.text().size(); }
};

std::size_t size_of(const providers::message& m) {
  std::size_t size = 0;
  for (const auto& b : m.blocks) size += std::visit(sizes{}, b);
  return size;
}

}  // namespace

int cut_oldest_results(std::vector<providers::message_ptr>& messages, kept_results& kept, std::string_view nonce) {
  std::size_t size = 0;
  for (const auto& m : messages) size += size_of(*m);
  const auto enough = size / 2;
  int cut = 0;
  for (auto& m : messages) {
    if (m->role != providers::role::tool_results) continue;
    std::shared_ptr<providers::message> shorter;
    for (std::size_t i = 0; i < m->blocks.size() && size > enough; ++i) {
      const auto* r = std::get_if<providers::tool_result_block>(&m->blocks[i]);
      if (!r || r->result.text().size() < worth_cutting) continue;
      if (!kept.find(r->call_id)) kept.keep(r->call_id, r->result);
      auto view = model_view(*kept.find(r->call_id), r->is_error, left_of_result, "", r->call_id).shown;
      if (!nonce.empty()) view = marked_as_data(view, nonce);
      if (view.text().size() >= r->result.text().size()) continue;
      size -= r->result.text().size() - view.text().size();
      if (!shorter) {
        shorter = std::make_shared<providers::message>();
        shorter->role = m->role;
        shorter->blocks = m->blocks;
      }
      std::get<providers::tool_result_block>(shorter->blocks[i]).result = std::move(view);
      ++cut;
    }
    if (shorter) m = std::move(shorter);
    if (size <= enough) break;
  }
  return cut;
}

}  // namespace mcpbx::daemon::results
