// Files that go with a question.
#include "daemon/cli/input/attachments.hpp"

#include "mcp/json/raw_json.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::input;
using namespace mcpbx::json;

namespace {

std::string content(const std::vector<std::string>& paths, const std::string& input = {}) {
  auto made = message_with_files("what is it?", input, paths);
  if (!made) return made.error().message;
  CHECK(raw_json::parse(*made).has_value());
  const std::string begin = R"({"role":"user","content":[{"type":"text","text":"what is it?"},)";
  REQUIRE(made->starts_with(begin));
  return made->substr(begin.size(), made->size() - begin.size() - 2);
}

}  // namespace

TEST_CASE("ask --file: images are told by their first bytes, whatever their name, and sent as base64") {
  const mcpbx::test::temporary_directory f;
  CHECK(content({f.write("a.txt", "\x89PNG\r\n\x1a\n")}) ==
        R"({"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="})");
  CHECK(content({f.write("b", "\xff\xd8\xff")}) == R"({"type":"image","mimeType":"image/jpeg","data":"/9j/"})");
  CHECK(content({f.write("c", "GIF89a")}) == R"({"type":"image","mimeType":"image/gif","data":"R0lGODlh"})");
  CHECK(content({f.write("d", std::string("RIFF\x04\0\0\0WEBP", 12))}) ==
        R"({"type":"image","mimeType":"image/webp","data":"UklGRgQAAABXRUJQ"})");
}

TEST_CASE("ask --file: a PDF is a file with its name, text is quoted under its name, a blank line below the question") {
  const mcpbx::test::temporary_directory f;
  CHECK(content({f.write("plan.pdf", "%PDF-1")}) ==
        R"({"type":"file","mimeType":"application/pdf","name":"plan.pdf","data":"JVBERi0x"})");
  CHECK(content({f.write("n.md", "ä\n"), f.write("empty", "")}) ==
        R"({"type":"text","text":"\n\nFile n.md:\n\nä\n"},{"type":"text","text":"\n\nFile empty:\n\n"})");
}

TEST_CASE("ask --file: what cannot be sent is an error that names the file and the mend") {
  const mcpbx::test::temporary_directory f;
  CHECK(content({f.write("x.bin", std::string("a\0b", 3))}) ==
        "the file x.bin is neither text (UTF-8) nor a PNG, JPEG, GIF, WebP or PDF; convert it first");
  CHECK(content({f.write("latin1", "\xe4")}).starts_with("the file latin1 is neither text"));
  CHECK(content({f / "none"}) ==
        "the file " + f.path() + "/none cannot be read; see whether it is there and yours to read");
  CHECK(content({f.path()}) == f.path() + " is a folder; --file takes one file");
}

TEST_CASE("ask --file: all files together hold 16 MiB at most") {
  const mcpbx::test::temporary_directory f;
  const auto half = f.write("half", std::string(most_attached / 2, 'x'));
  CHECK(message_with_files("", "", {half, half}).has_value());
  CHECK(content({half, half, f.write("one", "x")}) ==
        "with " + f.path() + "/one the files hold more than 16 MiB; give fewer or smaller ones");
}

TEST_CASE("ask: piped input is a block between the question and its files, marked as input") {
  const mcpbx::test::temporary_directory f;
  CHECK(content({f.write("n.md", "b")}, "a\n") ==
        R"({"type":"text","text":"\n\nStandard input:\n\na\n"},{"type":"text","text":"\n\nFile n.md:\n\nb"})");
  CHECK(content({}, "GIF89a") == R"({"type":"image","mimeType":"image/gif","data":"R0lGODlh"})");
  CHECK(content({}, "%PDF-1") ==
        R"({"type":"file","mimeType":"application/pdf","name":"input.pdf","data":"JVBERi0x"})");
  CHECK(content({}, "\xe4").starts_with("standard input is neither text (UTF-8) nor"));
}

TEST_CASE("ask: piped input and files together hold 16 MiB at most") {
  const mcpbx::test::temporary_directory f;
  const std::string half(most_attached / 2, 'x');
  const auto file = f.write("half", half);
  CHECK(message_with_files("", half, {file}).has_value());
  CHECK(content({file}, half + "x") ==
        "with " + file + " the files and standard input hold more than 16 MiB; give fewer or smaller ones");
}
