// The book of a server's last lines: bounds, numbers, and readers that wait.
#include "mcp/client/stderr_lines.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx::mcp::clients;

TEST_CASE("G9: a book of stderr keeps the last lines, however many and however long they are") {
  stderr_lines book(1000);
  for (int i = 0; i < 100; ++i) book.add("line " + std::to_string(i), i);
  CHECK(book.next() == 101);
  CHECK(book.kept().size() < 20);
  CHECK(book.kept().back().text == "line 99");
  CHECK(book.kept().front().number == 101 - book.kept().size());
  for (int i = 0; i < 100; ++i) book.add("", 0);
  CHECK(book.kept().size() < 20);
  book.add(std::string(1 << 20, 'x'), 0);
  CHECK(book.kept().back().text.size() <= stderr_lines::longest_line);
}

TEST_CASE("G9: readers of a book are woken once, may wait again, and are bounded") {
  stderr_lines book;
  int woken = 0;
  stderr_lines::wait again;
  const auto first = book.when_more([&] {
    ++woken;
    again = book.when_more([&] { ++woken; });
  });
  auto left = book.when_more([&] { woken += 100; });
  left.reset();
  book.add("a", 0);
  CHECK(woken == 1);
  book.add("b", 0);
  CHECK(woken == 2);
  book.add("c", 0);
  CHECK(woken == 2);
  std::vector<stderr_lines::wait> all;
  for (std::size_t i = 0; i < stderr_lines::most_waiting; ++i) all.push_back(book.when_more([] {}));
  CHECK(all.back());
  CHECK_FALSE(book.when_more([] {}));
  all.clear();
  CHECK(book.when_more([] {}));
}

TEST_CASE("G9: a wait may outlive the book, and a reader may end it") {
  auto book = std::make_unique<stderr_lines>();
  const auto wait = book->when_more([] {});
  const auto ends = book->when_more([&] { book.reset(); });
  book->add("a", 0);
  CHECK_FALSE(book);
}
