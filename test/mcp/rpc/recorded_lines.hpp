// A sink that writes down what a framer finds, in one comparable form.
#pragma once
#include "mcp/rpc/line_framer.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

struct recorded_lines : mcp::rpc::message_sink {
  std::vector<mcp::rpc::message> messages;
  std::vector<mcp::rpc::message_fault> faults;
  std::string log;  // everything in order, for comparing

  void on_message(mcp::rpc::message&& m) override {
    log += "message " + std::string(m.whole.text()) + " id=" + m.id.key() + " method=" + std::string(m.method()) +
           " params=" + std::string(m.params.text()) + " result=" + std::string(m.result.text()) + "\n";
    messages.push_back(std::move(m));
  }
  void on_fault(mcp::rpc::message_fault f) override {
    log += "fault " + std::to_string(static_cast<int>(f.type)) + " " + std::to_string(f.envelope.code) +
           " id=" + f.envelope.id.key() + (f.envelope.is_response ? " response " : " ") + f.envelope.what +
           " bytes=" + std::to_string(f.bytes) + (f.deep_answer ? " deep " : " ") + f.excerpt + "\n";
    faults.push_back(std::move(f));
  }
};

/// Feeds `part` from the room of the framer, if it has some. Returns true if it had.
inline bool feed_from_room(mcp::rpc::line_framer& framer, std::string_view part, mcp::rpc::message_sink& sink) {
  const auto room = framer.room(part.size());
  if (room.empty()) {
    framer.feed(part, sink);
    return false;
  }
  std::ranges::copy(part, room.begin());
  framer.feed({room.data(), room.size()}, sink);
  return true;
}

/// The log of `text` read in parts of `step` bytes (0: whole), each into the room of the framer if `in_room`.
inline recorded_lines read_lines(std::string_view text, mcp::rpc::line_framer::options options = {},
                                 std::size_t step = 0, bool in_room = false) {
  recorded_lines sink;
  mcp::rpc::line_framer framer(options);
  if (step == 0) step = text.size() + 1;
  for (std::size_t at = 0; at < text.size(); at += step) {
    if (in_room)
      feed_from_room(framer, text.substr(at, step), sink);
    else
      framer.feed(text.substr(at, step), sink);
  }
  framer.finish(sink);
  return sink;
}

}  // namespace mcpbx::test
