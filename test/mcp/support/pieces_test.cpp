// Server-sent events and JSON in pieces of any size.
#include "mcp/json/json_scanner.hpp"
#include "mcp/support/sse_parser.hpp"
#include "test/support/in_pieces.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace support_pieces {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

TEST_CASE("sse_parser: a stream tells the same in pieces of any size") {
  std::string stream = "\xEF\xBB\xBF: a comment\r\n\r\n";
  int n = 0;
  for (const std::size_t size : awkward_sizes) {
    const std::string end = ++n % 3 == 0 ? "\r\n" : n % 3 == 1 ? "\n" : "\r";
    stream += "event: e" + std::to_string(n) + end + "data: " + filler_words(size) + end;
    if (n % 2 == 0) stream += "data:" + end + "id: 7" + end + "data:x" + end;
    stream += end;
  }
  stream += "data: half";
  for (const std::size_t most : {std::size_t{1} << 20, std::size_t{20'000}}) {
    std::string whole;
    check_in_any_pieces(stream, [&](std::string_view bytes, std::size_t size) {
      sse_parser p(most);
      sse_parser::event e;
      std::string all;
      const auto tell = [&] { all.append(e.name).append("|").append(e.data).append("\n"); };
      in_pieces(bytes, size, [&](std::string_view piece) {
        while (p.next(piece, e)) tell();
      });
      if (p.finish(e)) tell();
      return whole = all + (p.overflowed() ? "overflowed" : "") + (p.saw_field() ? "fields" : "");
    });
    CHECK(whole.ends_with(most > 20'000 ? "|half\nfields" : "overflowedfields"));
  }
}

TEST_CASE("json_scanner: a large text gets the same verdict in pieces of any size") {
  std::string text = "{\"id\":7,\"method\":\"m\",\"params\":{";
  for (const std::size_t size : awkward_sizes) {
    text += '"' + filler_words(size) + R"(":["\u00e4\ud83d\ude00\\\"",)" + std::to_string(size) + ".5e-7,true,null,";
    text += "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80" + filler_words(size) + "\", \r\n{}],";
  }
  text += "\"end\":[]}}";
  std::string broken = text;
  broken[broken.size() - 30'000] = '\x01';
  for (const std::string_view one : {std::string_view(text), std::string_view(broken)})
    check_in_any_pieces(one, [](std::string_view bytes, std::size_t size) {
      json_scanner s;
      in_pieces(bytes, size, [&](std::string_view piece) { s.feed(piece); });
      const bool good = s.finish();
      std::string all = std::to_string(good) + " " + std::to_string(static_cast<int>(s.fault_kind())) + " " +
                        std::to_string(s.fault_offset()) + " " + std::to_string(s.value_end()) + " " +
                        std::to_string(s.saw_line_break());
      for (const auto& m : s.envelope().members) all += " " + std::to_string(m.begin) + "-" + std::to_string(m.end);
      return all;
    });
}

}  // namespace support_pieces
