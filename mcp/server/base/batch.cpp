// Reads a batch into its messages.
#include "mcp/server/base/batch.hpp"

#include "mcp/protocol/revisions.hpp"

#include <utility>

namespace mcpbx::mcp::server {

std::expected<std::vector<batch_part>, std::string> read_batch(const rpc::message& batch, std::string_view revision,
                                                               std::size_t most, int max_depth) {
  if (revision != protocol::revision::with_batches)
    return std::unexpected("a batch is only possible in a session of revision " +
                           std::string(protocol::revision::with_batches) + "; send one message per line");
  std::vector<json::raw_json> elements;
  json::for_each_element(batch.whole, [&](json::raw_json e) {
    elements.push_back(std::move(e));
    return elements.size() <= most;
  });
  if (elements.empty()) return std::unexpected("the batch is empty");
  if (elements.size() > most) return std::unexpected("a batch may hold at most " + std::to_string(most) + " messages");
  std::vector<batch_part> parts;
  parts.reserve(elements.size());
  for (auto& element : elements) {
    auto& part = parts.emplace_back(rpc::parse_message(std::move(element), max_depth));
    if (part && part->type == rpc::message::kind::batch)
      part = std::unexpected(rpc::envelope_fault{.id = {}, .what = "a batch inside of a batch"});
  }
  return parts;
}

}  // namespace mcpbx::mcp::server
