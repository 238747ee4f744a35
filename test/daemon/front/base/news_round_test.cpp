// Changes that all callers are told of: who hears of them, in how many turns, and what happens when one leaves
// meanwhile.
#include "daemon/front/base/news_round.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::front;

namespace {

struct fixture;

struct one_caller final : news_reader, news_round::outlet, std::enable_shared_from_this<one_caller> {
  explicit one_caller(fixture& fixture) : f(fixture) {}
  void list_changed(const mcp::protocol::feature_kind& kind) override;
  void deliver() override;
  fixture& f;
  std::string heard;
  bool waits_itself = false;
  std::function<void()> then;
};

struct fixture {
  std::shared_ptr<one_caller> add() {
    const auto c = all.emplace_back(std::make_shared<one_caller>(*this));
    news->enter(*c);
    return c;
  }
  void change(const mcp::protocol::feature_kind& kind) { news->changed(kind, io.get_executor()); }
  boost::asio::io_context io{1};
  std::unique_ptr<news_round> news = std::make_unique<news_round>();
  std::vector<std::shared_ptr<one_caller>> all;
  std::string order;
};

void one_caller::list_changed(const mcp::protocol::feature_kind& kind) {
  heard += kind.id == mcp::protocol::kind_id::tools ? 't' : 'p';
  f.order += 'h';
  if (f.news) waits_itself = !f.news->take(shared_from_this());
  if (then) std::exchange(then, nullptr)();
}

void one_caller::deliver() {
  f.order += 'd';
}

}  // namespace

TEST_CASE("changes of one turn are told once for each kind and each caller is written to before the next is told") {
  fixture f;
  const auto a = f.add(), b = f.add();
  f.change(mcp::protocol::tool_kind());
  f.change(mcp::protocol::tool_kind());
  f.change(mcp::protocol::prompt_kind());
  CHECK(a->heard.empty());
  CHECK_FALSE(f.news->take(a));
  f.io.run();
  CHECK(a->heard == "tp");
  CHECK(b->heard == "tp");
  CHECK(f.order == "hhddhhdd");
  CHECK_FALSE(a->waits_itself);
  CHECK_FALSE(f.news->take(a));
  f.io.restart();
  f.change(mcp::protocol::tool_kind());
  f.io.run();
  CHECK(a->heard == "tpt");
}

TEST_CASE("a round to many callers takes several turns so that other work goes on between them") {
  fixture f;
  for (std::size_t i = 0; i < 2 * news_round::per_turn + 1; ++i) f.add();
  f.change(mcp::protocol::tool_kind());
  for (const std::size_t expected : {news_round::per_turn, 2 * news_round::per_turn, f.all.size()}) {
    CHECK(f.io.run_one() == 1);
    CHECK(f.order.size() == 2 * expected);
  }
  CHECK(f.io.run() == 0);
}

TEST_CASE("callers that leave during a round are left out and a change inside of it is told in another") {
  fixture f;
  const auto a = f.add();
  auto b = f.add();
  const auto c = f.add();
  a->then = [&] {
    f.all.erase(f.all.begin() + 1);
    f.change(mcp::protocol::prompt_kind());
  };
  const std::weak_ptr<one_caller> left = b;
  b.reset();
  f.change(mcp::protocol::tool_kind());
  f.io.run();
  CHECK(left.expired());
  CHECK(a->heard == "tp");
  CHECK(c->heard == "tp");
}

TEST_CASE("a caller that enters during a round hears of the next one and the last one may leave meanwhile") {
  fixture f;
  const auto a = f.add(), b = f.add(), c = f.add();
  std::shared_ptr<one_caller> late;
  a->then = [&] {
    c->leave();
    late = f.add();
    a->leave();
  };
  f.change(mcp::protocol::tool_kind());
  f.change(mcp::protocol::prompt_kind());
  f.io.run();
  CHECK(a->heard == "t");
  CHECK(b->heard == "tp");
  CHECK(c->heard.empty());
  CHECK(late->heard.empty());
  f.io.restart();
  f.change(mcp::protocol::tool_kind());
  f.io.run();
  CHECK(b->heard == "tpt");
  CHECK(late->heard == "t");
  CHECK(a->heard == "t");
}

TEST_CASE("rounds that take several turns go on in their own places") {
  fixture f;
  for (std::size_t i = 0; i < news_round::per_turn + 2; ++i) f.add();
  f.change(mcp::protocol::tool_kind());
  CHECK(f.io.run_one() == 1);
  f.change(mcp::protocol::prompt_kind());
  f.all[news_round::per_turn]->leave();  // the next one of the first round
  f.all.front()->leave();                // the first one of the second
  f.io.run();
  CHECK(f.all.front()->heard == "t");
  CHECK(f.all[1]->heard == "tp");
  CHECK(f.all[news_round::per_turn]->heard.empty());
  CHECK(f.all.back()->heard == "tp");
}

TEST_CASE("a round that is gone tells nobody any more") {
  fixture f;
  const auto a = f.add(), b = f.add();
  f.change(mcp::protocol::tool_kind());
  SUBCASE("before it began") {
    f.news.reset();
    f.io.run();
    CHECK(a->heard.empty());
  }
  SUBCASE("inside of a caller that is told") {
    a->then = [&] { f.news.reset(); };
    f.io.run();
    CHECK(a->heard == "t");
    CHECK(b->heard.empty());
  }
}
