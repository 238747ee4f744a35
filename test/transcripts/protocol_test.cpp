// The examples of docs/protocol.md, sent to a real daemon, and its program in Python.
#include "test/transcripts/player.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace mcpbx;
using mcpbx::transcripts::difference, mcpbx::transcripts::player;

namespace {

/// The fenced blocks of a document that are marked with this word, in their order.
std::vector<std::string> blocks_of(const std::string& document, const std::string& word) {
  std::vector<std::string> blocks;
  const std::string open = "\n```" + word + "\n", close = "\n```\n";
  for (auto at = document.find(open); at != std::string::npos; at = document.find(open, at)) {
    at += open.size();
    const auto end = document.find(close, at);
    REQUIRE(end != std::string::npos);
    blocks.push_back(document.substr(at, end + 1 - at));
    at = end;
  }
  return blocks;
}

const std::string& document() {
  static const std::string text = e2e::read_file(MCPBX_SOURCE_DIR "/docs/protocol.md");
  return text;
}

}  // namespace

TEST_CASE("docs/protocol.md: a daemon answers each example as the document says") {
  const auto blocks = blocks_of(document(), "mcpbx");
  REQUIRE(blocks.size() > 20);
  player p;
  for (const auto& block : blocks) {
    CAPTURE(block);
    const auto differs = difference(block, p.play(block), true);
    CHECK_MESSAGE(differs.empty(), differs);
  }
  p.finish();
}

TEST_CASE("docs/protocol.md: the program in Python asks a daemon and prints what the document says") {
  const auto programs = blocks_of(document(), "python"), outputs = blocks_of(document(), "text");
  REQUIRE(programs.size() == 1);
  REQUIRE(outputs.size() == 1);
  player p;
  (void)p.play(blocks_of(document(), "mcpbx").front());
  const auto& d = p.daemon();
  auto environment = d.env;
  environment.push_back("MCPBX_SOCKET=" + d.socket());
  e2e::child python({.argv = {"/usr/bin/env", "python3", d.write("client.py", programs.front()), "What is 6 * 7?"},
                     .env = environment});
  python.close_stdin();
  CHECK(python.wait().status == 0);
  CHECK(difference(outputs.front(), python.out).empty());
  CHECK(python.err == "");
}
