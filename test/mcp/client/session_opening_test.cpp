// Scripts in which a session finds out the era of a tool server.
#include "mcp/redact/secret.hpp"
#include "test/mcp/client/session_rig.hpp"

using namespace mcpbx;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::redact;
using mcpbx::test::session_rig;

TEST_CASE("a legacy server refuses the probe and is initialized") {
  session_rig s;
  s.begin();
  REQUIRE(s.sent.size() == 1);
  CHECK(
      s.sent[0] ==
      R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcpbx","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}})");
  s.refuse("server/discover", -32602);
  CHECK(
      s.sent.back() ==
      R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}},"clientInfo":{"name":"mcpbx","version":"0"}}})");
  s.answer("initialize", R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}}})");
  REQUIRE(s.sent.size() == 4);
  CHECK(s.sent[2] == R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(s.sent[3] == R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})");
  CHECK(s.ready == 0);
  s.answer("tools/list", R"({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})");
  CHECK(s.ready == 1);
  CHECK(s.core.era() == era::legacy);
  CHECK(s.core.revision() == "2024-11-05");
  REQUIRE(s.lists.size() == 1);
  CHECK(s.lists[0]->at(0).key == "echo");
}

TEST_CASE("a modern server answers the probe and is spoken to without a handshake") {
  session_rig s;
  s.begin();
  s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  CHECK(s.count("initialize") == 0);
  CHECK(s.count("subscriptions/listen") == 0);
  CHECK(s.sent.back().find(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")") != std::string::npos);
  s.answer("tools/list", R"({"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"})");
  CHECK(s.ready == 1);
  CHECK(s.core.era() == era::modern);
  CHECK(s.core.revision() == "2026-07-28");
}

TEST_CASE("a silent server is taken for a legacy one after 5 s or a third of its start time") {
  session_rig s;
  s.begin();
  s.advance(milliseconds(4999));
  CHECK(s.count("initialize") == 0);
  s.advance(milliseconds(1));
  CHECK(s.count("initialize") == 1);
  session_rig quick("auto", false, milliseconds(3000));
  quick.begin();
  quick.advance(milliseconds(1000));
  CHECK(quick.count("initialize") == 1);
}

TEST_CASE("a server that answers the probe too late, before initialize, is spoken to as its answer to that says") {
  // When many servers start at once, one may take longer than the wait for the probe and answer both requests in order.
  session_rig s;
  s.begin();
  s.advance(milliseconds(5000));
  CHECK(s.count("initialize") == 1);
  s.answer("server/discover", R"({"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}}})");
  CHECK(s.core.era() == era::unknown);
  SUBCASE("a server of both eras has begun with the old one") {
    s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
    CHECK(s.core.era() == era::legacy);
    CHECK(s.count("notifications/initialized") == 1);
  }
  SUBCASE("a modern one refuses it") {
    s.refuse("initialize", -32601);
    CHECK(s.core.era() == era::modern);
    CHECK(s.count("notifications/initialized") == 0);
  }
  SUBCASE("a modern one leaves it unanswered for as long as the probe may take, and for ever") {
    s.advance(milliseconds(4999));
    CHECK(s.core.era() == era::unknown);
    s.advance(milliseconds(1));
    CHECK(s.core.era() == era::modern);
    s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
    CHECK(s.core.era() == era::modern);
    CHECK(s.count("notifications/initialized") == 0);
  }
  CHECK(s.count("notifications/cancelled") == 0);
  CHECK(s.count("tools/list") == 1);
  s.answer("tools/list", R"({"tools":[]})");
  CHECK(s.ready == 1);
}

TEST_CASE("a modern server that refuses the probe's revision too late is asked again once initialize has failed") {
  session_rig s;
  s.begin();
  s.advance(milliseconds(5000));
  s.refuse("server/discover", -32022, R"({"supported":["2026-07-28"],"requested":"2026-07-28"})");
  CHECK(s.count("server/discover") == 1);
  SUBCASE("by an error") {
    s.refuse("initialize", -32601);
  }
  SUBCASE("by silence") {
    s.advance(milliseconds(5000));
  }
  CHECK(s.count("server/discover") == 2);
  CHECK(s.core.era() == era::unknown);
  s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  CHECK(s.core.era() == era::modern);
  CHECK(s.ready == 1);
}

TEST_CASE("a slow modern server that refuses initialize before it answers the probe is spoken to as a modern one") {
  session_rig s;
  s.begin();
  s.advance(milliseconds(5000));
  REQUIRE(s.count("initialize") == 1);
  SUBCASE("with the error of its era") {
    s.refuse("initialize", -32022, R"({"supported":["2026-07-28"],"requested":"2025-11-25"})");
    CHECK(s.refused.empty());
    s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  }
  SUBCASE("with any other error") {
    s.refuse("initialize", -32601);
    CHECK(s.refused.empty());
    s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  }
  SUBCASE("and loses the first probe") {
    s.refuse("initialize", -32022, R"({"supported":["2026-07-28"],"requested":"2025-11-25"})");
    s.advance(milliseconds(5000));
    CHECK(s.count("server/discover") == 2);
    s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  }
  SUBCASE("and refuses the revision of the probe as well") {
    s.refuse("initialize", -32022, R"({"supported":["2026-07-28"],"requested":"2025-11-25"})");
    s.refuse("server/discover", -32022, R"({"supported":["2026-07-28"],"requested":"2026-07-28"})");
    s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  }
  CHECK(s.refused.empty());
  CHECK(s.count("initialize") == 1);
  CHECK(s.core.era() == era::modern);
  CHECK(s.count("notifications/initialized") == 0);
  CHECK(s.count("tools/list") == 1);
  s.answer("tools/list", R"({"tools":[]})");
  CHECK(s.ready == 1);
}

TEST_CASE("a server that refuses initialize and never answers the probe is refused after the probe's wait") {
  session_rig s;
  s.begin();
  s.advance(milliseconds(5000));
  SUBCASE("once if nothing shows that it is a modern one") {
    s.refuse("initialize", -32603);
    s.advance(milliseconds(4999));
    CHECK(s.refused.empty());
    s.advance(milliseconds(1));
    CHECK(s.refused == "tool server \"srv\" answered initialize with error -32603: no");
    CHECK(s.count("server/discover") == 1);
  }
  SUBCASE("twice if it names a modern revision") {
    s.refuse("initialize", -32022, R"({"supported":["2026-07-28"]})");
    s.advance(milliseconds(10'000));
    CHECK(s.refused == "tool server \"srv\" answered initialize with error -32022: no");
    CHECK(s.count("server/discover") == 2);
  }
  SUBCASE("at once if it refuses the probe, too") {
    s.refuse("initialize", -32603);
    s.refuse("server/discover", -32603);
    CHECK(s.refused == "tool server \"srv\" answered initialize with error -32603: no");
  }
  CHECK(s.count("initialize") == 1);
  CHECK(s.core.next_deadline() == never);
}

TEST_CASE("a server known as legacy that has become a modern one is probed whichever answer names its revision") {
  session_rig s("auto", true);
  s.begin();
  s.refuse("initialize", -32022, R"({"supported":["2026-07-28"],"requested":"2025-11-25"})");
  s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  CHECK(s.core.era() == era::modern);
  session_rig odd;  // it knows no server/discover but says what it speaks
  odd.begin();
  odd.refuse("server/discover", -32601);
  odd.refuse("initialize", -32022, R"({"supported":["2026-07-28"],"requested":"2025-11-25"})");
  CHECK(odd.count("server/discover") == 2);
  odd.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  CHECK(odd.core.era() == era::modern);
}

TEST_CASE("a late answer to the probe that is no modern one leaves the handshake alone") {
  SUBCASE("an error of any kind") {
    session_rig s;
    s.begin();
    s.advance(milliseconds(5000));
    s.refuse("server/discover", -32601);
    CHECK(s.count("initialize") == 1);
    s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
    CHECK(s.core.era() == era::legacy);
    CHECK(s.ready == 1);
  }
  SUBCASE("revisions that nobody shares count once initialize has failed as well") {
    session_rig s;
    s.begin();
    s.advance(milliseconds(5000));
    s.answer("server/discover", R"({"supportedVersions":["2031-01-01"],"capabilities":{}})");
    CHECK(s.refused.empty());
    s.refuse("initialize", -32601);
    CHECK(s.refused.find("supports the MCP revisions 2031-01-01") != std::string::npos);
  }
  SUBCASE("it comes behind the answer to initialize") {
    session_rig s;
    s.begin();
    s.advance(milliseconds(5000));
    s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
    s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
    CHECK(s.core.era() == era::legacy);
    CHECK(s.count("tools/list") == 0);
  }
}

TEST_CASE("a modern server that refuses the revision of the probe is asked again with one it supports") {
  session_rig s;
  s.begin();
  s.refuse("server/discover", -32022, R"({"supported":["2026-07-28","2025-11-25"],"requested":"2026-07-28"})");
  CHECK(s.count("server/discover") == 2);
  CHECK(s.count("initialize") == 0);
  s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  CHECK(s.core.era() == era::modern);
  CHECK(s.ready == 1);
  SUBCASE("but not for ever") {
    session_rig stubborn;
    stubborn.begin();
    stubborn.refuse("server/discover", -32022, R"({"supported":["2026-07-28"]})");
    stubborn.refuse("server/discover", -32022, R"({"supported":["2026-07-28"]})");
    CHECK(stubborn.count("server/discover") == 2);
    CHECK(stubborn.refused.find("tool server \"srv\" refuses revision 2026-07-28") == 0);
  }
  SUBCASE("and with the handshake when that is all it supports") {
    session_rig old;
    old.begin();
    old.refuse("server/discover", -32022, R"({"supported":["2025-06-18"]})");
    CHECK(old.sent.back().find(R"("protocolVersion":"2025-06-18")") != std::string::npos);
  }
}

TEST_CASE("a server from the future is refused with the revisions of both sides") {
  session_rig s;
  s.begin();
  s.answer("server/discover", R"({"supportedVersions":["2031-01-01"],"capabilities":{}})");
  CHECK(s.refused.find("supports the MCP revisions 2031-01-01") != std::string::npos);
  session_rig i;
  i.begin();
  i.refuse("server/discover", -32600);
  i.answer("initialize", R"({"protocolVersion":"1999-01-01","capabilities":{}})");
  CHECK(i.refused.find("wants to speak MCP revision \"1999-01-01\"") != std::string::npos);
  CHECK(i.ready == 0);
}

TEST_CASE("any odd answer to the probe means a legacy server") {
  for (const auto* line :
       {R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":"x"}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Server not initialized"}})",
        R"({"jsonrpc":"2.0","id":1,"error":"what"})", R"({"id":1,"result":{}})"}) {
    CAPTURE(line);
    session_rig s;
    s.begin();
    s.say(line);
    CHECK(s.count("initialize") == 1);
  }
}

TEST_CASE("a pinned revision skips the probe and is insisted on") {
  session_rig s("2025-06-18");
  s.begin();
  CHECK(s.count("server/discover") == 0);
  CHECK(s.sent.back().find(R"("protocolVersion":"2025-06-18")") != std::string::npos);
  s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  CHECK(s.refused.find("speaks MCP revision 2025-11-25, but its entry insists on 2025-06-18") != std::string::npos);

  session_rig m("2026-07-28");
  m.begin();
  m.refuse("server/discover", -32601);
  CHECK(m.count("initialize") == 0);
  CHECK(m.refused.find("does not answer server/discover") != std::string::npos);
}

TEST_CASE("a server known as legacy is not probed again unless the handshake fails") {
  session_rig s("auto", true);
  s.begin();
  CHECK(s.count("server/discover") == 0);
  s.refuse("initialize", -32601);
  CHECK(s.count("server/discover") == 1);
  s.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  CHECK(s.core.era() == era::modern);
  session_rig broken("auto", true);
  broken.begin();
  broken.refuse("initialize", -32603);
  broken.refuse("server/discover", -32603);
  CHECK(broken.refused == "tool server \"srv\" answered initialize with error -32603: no");
  CHECK(broken.count("initialize") == 1);
}

TEST_CASE("G8: an error in initialize is told with its text") {
  session_rig s;
  s.begin();
  s.refuse("server/discover", -32603);
  s.say(R"({"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Unauthorized: bad key"}})");
  CHECK(s.refused == "tool server \"srv\" answered initialize with error -32603: Unauthorized: bad key");
  CHECK(s.core.next_deadline() == never);
}

TEST_CASE("a server without tools is ready without a list") {
  session_rig s;
  s.begin();
  s.refuse("server/discover", -32601);
  s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"logging":{}}})");
  CHECK(s.ready == 1);
  CHECK(s.count("tools/list") == 0);
  CHECK(s.lists.at(0)->empty());
}

TEST_CASE("G35: the instructions of a server are kept printable, without secrets and bounded") {
  redactor::add(secret("canary-4711"));
  const std::string given = "Use echo.\\nKey canary-4711\\u001b[31m \\u200bred " + std::string(5000, 'x');
  session_rig s;
  s.begin();
  SUBCASE("legacy") {
    s.refuse("server/discover", -32601);
    s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"instructions":")" + given + "\"}");
  }
  SUBCASE("modern") {
    s.answer("server/discover",
             R"({"supportedVersions":["2026-07-28"],"capabilities":{},"instructions":")" + given + "\"}");
  }
  REQUIRE(s.core.ready());
  CHECK(s.core.instructions().starts_with("Use echo.\nKey ***[31m red xxx"));
  CHECK(s.core.instructions().ends_with("x … (cut: the server gave 5038 bytes)"));
  CHECK(s.core.instructions().size() <= 4096 + 48);
  redactor::clear();
}
