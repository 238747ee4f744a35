// The conversations of this folder, played against the programs. MCPBX_UPDATE=1 writes the files anew; MCPBX_PROGRAMS
// names another folder of programs to play them against.
#include "test/transcripts/player.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace mcpbx::transcripts;
namespace fs = std::filesystem;

namespace {

const fs::path folder = fs::path(MCPBX_SOURCE_DIR) / "test/transcripts";

void plays(const std::string& name) {
  const auto file = folder / (name + ".txt");
  const auto recorded = mcpbx::e2e::read_file(file.string());
  REQUIRE_MESSAGE(!recorded.empty(), file.string());
  player p;
  const auto now = p.play(recorded);
  p.finish();
  if (std::getenv("MCPBX_UPDATE") != nullptr) {
    std::ofstream(file, std::ios::binary) << now;
    return;
  }
  const auto differs = difference(recorded, now);
  CHECK_MESSAGE(differs.empty(), name, ".txt is not what the programs say; if that is meant, run this test once with ",
                "MCPBX_UPDATE=1 and commit the file\n", differs);
}

}  // namespace

TEST_CASE("transcripts: every file of the folder is played by a test") {
  const auto source = mcpbx::e2e::read_file((folder / "transcripts_test.cpp").string());
  for (const auto& one : fs::directory_iterator(folder)) {
    if (one.path().extension() != ".txt" || one.path().stem() == "CMakeLists") continue;
    CAPTURE(one.path().string());
    CHECK(source.find("plays(\"" + one.path().stem().string() + "\")") != std::string::npos);
  }
}

TEST_CASE(
    "transcript mcp: the handshake of each revision, tools/list, tools/call with its outcomes, cancellation, batches") {
  plays("mcp");
}

TEST_CASE("transcript errors: messages that are no requests, unknown methods and wrong params") {
  plays("errors");
}

TEST_CASE("transcript chat: questions with and without a stream, tool calls, reasoning, answers in JSON") {
  plays("chat");
}

TEST_CASE("transcript people: questions to a person, and what each answer does") {
  plays("people");
}

TEST_CASE("transcript caller_tools: calls that are handed to the caller, and its results") {
  plays("caller_tools");
}

TEST_CASE("transcript limits: what ends a run before its answer") {
  plays("limits");
}

TEST_CASE("transcript runs: detached runs, attach, names, cancel") {
  plays("runs");
}

TEST_CASE("transcript sessions: conversations that go on, are listed, shown and deleted") {
  plays("sessions");
}

TEST_CASE("transcript servers: the daemon, its tool servers, tools, models and pins") {
  plays("servers");
}

TEST_CASE("transcript restart: what a killed daemon leaves and the next one does with it") {
  plays("restart");
}

TEST_CASE("transcript http: Chat Completions and the models over HTTP") {
  plays("http");
}

TEST_CASE("transcript toolbox: the bundled tools") {
  plays("toolbox");
}

TEST_CASE("transcript command: the verbs of the command line") {
  plays("command");
}
