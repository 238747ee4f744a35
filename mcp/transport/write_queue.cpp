// Implements the outbox: chunks of copied bytes, references to large pieces, and the account of the copies.
#include "mcp/transport/write_queue.hpp"

#include "mcp/support/shared_bytes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mcpbx::mcp::transports {
namespace {

constexpr std::size_t chunk_bytes = 16 * 1024;

// Returns the emptied chunks of this thread. All its connections share them, so that an idle connection owns none.
std::vector<std::string>& spare_chunks() {
  thread_local std::vector<std::string> spare;
  return spare;
}
constexpr std::size_t spare_limit = 16;

std::string take_chunk() {
  auto& spare = spare_chunks();
  if (spare.empty()) {
    std::string fresh;
    fresh.reserve(chunk_bytes);
    return fresh;
  }
  std::string chunk = std::move(spare.back());
  spare.pop_back();
  return chunk;
}

}  // namespace

void write_queue::push(const json::segments& message) {
  const std::size_t owned_before = owned_;
  for (const auto& p : message.pieces()) {
    if (p.text().size() < reference_from) {
      chunk_for(p.text().size()).append(p.text());
    } else {
      pieces_.push_back({{}, p});
      size_ += p.text().size();
    }
  }
  chunk_for(1).push_back('\n');
  byte_account::add(owned_ - owned_before);
}

std::string& write_queue::chunk_for(std::size_t bytes) {
  // A chunk never grows past its first allocation. A piece that does not fit in the rest starts the next chunk.
  if (pieces_.empty() || pieces_.back().reference || pieces_.back().text.size() + bytes > chunk_bytes)
    pieces_.push_back({take_chunk(), {}});
  size_ += bytes;
  owned_ += bytes;
  return pieces_.back().text;
}

std::size_t write_queue::gather(iovec* into, std::size_t capacity) const {
  std::size_t n = 0;
  std::size_t skip = front_sent_;
  for (const auto& p : pieces_) {
    if (n == capacity) break;
    const auto view = p.view().substr(skip);
    skip = 0;
    into[n++] = {const_cast<char*>(view.data()), view.size()};
  }
  return n;
}

void write_queue::consume(std::size_t bytes) {
  bytes = std::min(bytes, size_);
  size_ -= bytes;
  front_sent_ += bytes;
  while (!pieces_.empty() && front_sent_ >= pieces_.front().view().size()) {
    front_sent_ -= pieces_.front().view().size();
    release(pieces_.front());
    pieces_.pop_front();
  }
}

void write_queue::clear() {
  for (auto& p : pieces_) release(p);
  pieces_.clear();
  front_sent_ = size_ = 0;
}

void write_queue::release(piece& p) {
  if (p.reference) return;
  byte_account::sub(p.text.size());
  owned_ -= p.text.size();
  auto& spare = spare_chunks();
  if (spare.size() >= spare_limit) return;
  p.text.clear();
  spare.push_back(std::move(p.text));
}

}  // namespace mcpbx::mcp::transports
