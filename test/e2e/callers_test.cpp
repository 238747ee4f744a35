// Many callers, slow ones and ones that leave (G16 to G18).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::e2e;

TEST_CASE("G16: a cancelled call reaches the server, the caller gets no answer, and nothing else is touched") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}));
  caller c = d.session();
  const auto other = c.start_call("s__wait_for_file", R"({"path":")" + d.file("go") + "\"}");
  const auto id = c.start_call("s__cancel-ack");
  REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call cancel-ack"); }));
  c.cancel(id);
  CHECK(eventually([&] { return contains(read_file(d.file("log")), "\ncancel-ack "); }));
  CHECK(count_of(read_file(d.file("log")), "notifications/cancelled") == 1);
  d.write("go", "");
  // The very next line is the other call's answer.
  CHECK(at(parse(c.line()), "id") == json::value(other));
  // By our own method the cancelled request is told.
  const auto again = c.start_call("s__never-answer");
  CHECK_FALSE(c.request("mcpbx/cancel", "{\"request\":" + std::to_string(again) + "}").failed());
  CHECK(c.request("mcpbx/cancel", "{\"request\":4711}").code() == -32002);
}

TEST_CASE("G16: a caller that leaves cancels what it had open, however it leaves") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}));
  d.wait_ready({"s"});
  {
    caller c = d.session();
    for (int i = 0; i < 3; ++i) c.start_call("s__cancel-ack");
    REQUIRE(eventually([&] { return count_of(read_file(d.file("log")), "call cancel-ack") == 3; }));
  }
  CHECK(eventually([&] { return count_of(read_file(d.file("log")), "\ncancel-ack ") == 3; }));
  CHECK(d.session().call("s__echo", R"({"text":"on"})").text() == "on");
}

TEST_CASE("G16: an answer that comes after the cancellation is dropped") {
  daemon_under_test d(config().server("s"));
  d.wait_ready({"s"});
  caller c = d.session();
  for (int i = 0; i < 10; ++i) c.cancel(c.start_call("s__late-answer"));
  // The server answers in order: when this is through, the late ones have been.
  const auto r = c.call("s__echo", R"({"text":"after"})");
  CHECK(r.text() == "after");
  CHECK(eventually([&] { return at(c.server("s"), "droppedAnswers") == json::value(10); }));
}

TEST_CASE("G17: a caller that does not read is not read either: bounded memory, and others notice nothing") {
  daemon_under_test d(config().server("s"));
  d.wait_ready({"s"});
  caller neighbour = d.session(), slow = d.session();
  CHECK(neighbour.call("s__big", R"({"n":1000000})").text().size() == 1'000'000);
  const growth g(d);
  const auto status = [&](std::string_view path) {
    return at(neighbour.request("mcpbx/status").value, "result." + std::string(path)).to_number<std::int64_t>();
  };
  // First answers that fill its outbox, then 120 MB of requests: the socket takes no more of them than its buffers
  // hold, for the daemon has stopped reading.
  std::string first;
  for (int i = 0; i < 300; ++i)
    first += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
             R"(,"method":"tools/call","params":{"name":"s__big","arguments":{"n":60000}}})"
             "\n";
  CHECK(slow.send_unread(first) == first.size());
  CHECK(eventually([&] { return status("queues.largestOutboxBytes") > (8 << 20); }));
  const std::string request = R"({"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"s__big","arguments":)"
                              R"({"n":60000,"padding":")" +
                              std::string(60'000, 'x') + "\"}}}\n";
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += std::string(request).replace(request.find('@'), 1, std::to_string(1000 + i));
  std::size_t sent = 0;
  for (int i = 0; i < 50; ++i) {
    sent += slow.send_unread(std::string_view(lines).substr(sent));
    CHECK(neighbour.call("s__echo", R"({"text":"quick"})").text() == "quick");
  }
  CHECK(sent < lines.size());
  CHECK(g.peak_mib() <= 64);
  // Memory of a later caller that stays lies above the outbox in the heap.
  const caller later = d.session();
  slow.close();
  CHECK(eventually([&] { return status("callers.open") == 2; }));
  CHECK(eventually([&] { return status("memory.ownedBytes") < (1 << 20); }));
  CHECK(eventually([&] { return g.now_mib() <= 16; }));
}

TEST_CASE(
    "G17: a caller that asks for hundreds of large answers and reads none is closed before they fill the memory") {
  daemon_under_test d(config().server("s"));
  d.wait_ready({"s"});
  caller neighbour = d.session(), greedy = d.session();
  CHECK(neighbour.call("s__big", R"({"n":1000000})").text().size() == 1'000'000);
  const growth g(d);
  std::string lines;
  const int n = sanitized ? 100 : 500;  // the server goes on answering, which then takes it long
  for (int i = 0; i < n; ++i)
    lines += R"({"jsonrpc":"2.0","id":)" + std::to_string(1000 + i) +
             R"(,"method":"tools/call","params":{"name":"s__big","arguments":{"n":1000000}}})"
             "\n";
  CHECK(greedy.send_unread(lines) == lines.size());
  CHECK(
      eventually([&] { return at(neighbour.request("mcpbx/status").value, "result.callers.open") == json::value(1); }));
  CHECK(neighbour.call("s__echo", R"({"text":"on"})").text() == "on");
  CHECK(g.peak_mib() <= 64);
  CHECK(d.logs("the caller does not read: more than 40 MiB wait for it"));
}

TEST_CASE("G17: when all bytes that may be owned are, large answers become errors, and every request is answered") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}).top("limits", R"({"totalBytes":67108864})"));
  d.wait_ready({"s"});
  caller neighbour = d.session();
  constexpr int callers = 5, each = 30, n = callers * each;  // each asks for less than a caller may leave unread
  std::vector<caller> slow;
  for (int i = 0; i < callers; ++i) slow.push_back(d.session());
  const growth g(d);
  std::string lines;
  for (int i = 0; i < each; ++i)
    lines += R"({"jsonrpc":"2.0","id":)" + std::to_string(1000 + i) +
             R"(,"method":"tools/call","params":{"name":"s__big","arguments":{"n":1000000}}})"
             "\n";
  for (auto& c : slow) CHECK(c.send_unread(lines) == lines.size());
  // Callers have their turns, so the neighbour's call may overtake. The server answers in order: once it has all of
  // them, its answer to one more comes behind theirs.
  CHECK(eventually([&] { return count_of(read_file(d.file("log")), "call big") == n; }));
  CHECK(neighbour.call("s__echo", R"({"text":"small"})").text() == "small");
  CHECK(g.peak_mib() <= 96);
  int answered = 0, refused = 0;
  for (auto& c : slow)
    for (int i = 0; i < each; ++i) ++(contains(c.line().substr(0, 200), "\"error\"") ? refused : answered);
  CHECK(answered >= 32);
  CHECK(refused >= n - 67 - callers);  // the kernel holds 1 MiB for each of them
  CHECK(slow.front().call("s__big", R"({"n":1000000})").text().size() == 1'000'000);
}

TEST_CASE("G17: a flood of requests without reading is bounded, and every one of them is answered") {
  daemon_under_test d(config().server("s"));
  caller neighbour = d.session(), flood = d.session();
  const growth g(d);
  constexpr int n = 20'000;
  std::string lines;
  for (int i = 0; i < n; ++i)
    lines += R"({"jsonrpc":"2.0","id":)" + std::to_string(100 + i) +
             R"(,"method":"tools/call","params":{"name":"s__echo","arguments":{"text":"flood"}}})"
             "\n";
  flood.send_bytes(lines);
  const auto through = neighbour.call("s__echo", R"({"text":"through"})");
  CHECK_MESSAGE(through.text() == "through", through.line);
  int answered = 0, refused = 0;
  for (int i = 0; i < n; ++i) {
    const auto line = flood.line();
    if (contains(line, "\"result\"")) ++answered;
    // Over its bound of open requests a caller is told to come back.
    if (contains(line, "-32001") && contains(line, "\"retryable\":true")) ++refused;
  }
  CHECK(answered + refused == n);
  CHECK(answered > 0);
  CHECK(g.peak_mib() <= 64);
}

TEST_CASE("G17: callers that send byte by byte, half a line or nothing keep nobody waiting") {
  daemon_under_test d(config().server("s"));
  std::vector<caller> idle;
  const growth g(d);
  for (int i = 0; i < 200; ++i) {
    idle.push_back(d.connect());
    idle.back().send_bytes(R"({"jsonrpc":"2.0","id":1,"method":)");
  }
  caller c = d.session();
  CHECK(c.call("s__echo", R"({"text":"in between"})").text() == "in between");
  for (const char byte : std::string(R"("ping"})"
                                     "\n"))
    for (auto& i : idle) i.send_bytes(std::string_view(&byte, 1));
  for (auto& i : idle) CHECK(i.line() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(g.peak_mib() <= 64);
}

TEST_CASE("G18: a thousand callers at once are all answered") {
  daemon_under_test d(config().server("a").server("b"));
  d.wait_ready({"a", "b"});  // initialize waits for servers that are starting
  std::vector<caller> all;
  for (int i = 0; i < 1000; ++i) all.push_back(d.connect());
  for (auto& c : all)
    c.send(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})"
        "\n"
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  int i = 0;
  for (auto& c : all)
    c.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__echo","arguments":{"text":"caller )" +
           std::to_string(i++) + R"("}}})");
  i = 0;
  for (auto& c : all) {
    CHECK(contains(c.line(), "protocolVersion"));
    CHECK(text_at(parse(c.line()), "result.content.0.text") == "caller " + std::to_string(i++));
  }
}

TEST_CASE("G18: callers beyond the limit are told so, and come in when others have left") {
  daemon_under_test d(config().server("s").top("limits", R"({"callers":3})"));
  std::vector<caller> in;
  for (int i = 0; i < 3; ++i) in.push_back(d.session());
  caller out = d.connect();
  const auto refusal = parse(out.line());
  CHECK(contains(text_at(refusal, "error.message"), "limits.callers"));
  CHECK(at(refusal, "error.data.retryable") == json::value(true));
  CHECK(out.closed_by_peer());
  in.pop_back();
  CHECK(eventually([&] {
    caller c = d.connect();
    c.start("ping");
    const auto line = c.read_line();
    return line && contains(*line, R"("result":{})");
  }));
}

TEST_CASE("G18: a caller with thousands of queued requests does not starve another") {
  daemon_under_test d(config().server("s"));
  caller busy = d.session(), other = d.session();
  for (int i = 0; i < 1100; ++i) busy.start_call("s__never-answer");
  for (int i = 0; i < 100; ++i) CHECK(other.call("s__echo", R"({"text":"turn"})").text() == "turn");
  CHECK(other.request("mcpbx/status").get("result.callers.openRequests").to_number<int>() >= 900);
}

TEST_CASE("E1: a caller that half-closes its socket gets what is still open, and one that closes it cancels") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}));
  d.wait_ready({"s"});
  caller half = d.session(), whole = d.session();
  const auto call = half.start_call("s__wait_for_file", R"({"path":")" + d.file("go") + "\"}");
  half.end_input();
  REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call wait_for_file"); }));
  d.write("go", "");
  CHECK(half.wait(call).text().starts_with("found"));
  CHECK(half.closed_by_peer());
  whole.start_call("s__cancel-ack");
  whole.end_input();
  REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call cancel-ack"); }));
  CHECK_FALSE(contains(read_file(d.file("log")), "\ncancel-ack "));
  whole.close();
  CHECK(eventually([&] { return contains(read_file(d.file("log")), "\ncancel-ack "); }));
}
