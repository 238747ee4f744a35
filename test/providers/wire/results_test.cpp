// F9 as one table: each kind of tool result in the shape of each API.
#include "test/providers/wire/apis.hpp"

#include <doctest/doctest.h>

#include <array>

namespace {

using namespace mcpbx;
using namespace mcpbx::providers;
using namespace mcpbx::test;

struct row {
  std::string_view kind, result;
  // Texts in the requests of openai-chat (also azure and dial), openai-responses, anthropic, gemini (3 and newer) and
  // ollama.
  std::array<std::string_view, 5> sent;
};

const std::vector<row> rows{
    {"text",
     R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})",
     {R"("content":"a\nb"})", R"("output":"a\nb"})", R"("content":[{"type":"text","text":"a\nb"}]})",
      R"("response":{"output":"a\nb"}}})", R"("content":"a\nb",)"}},
    {"an image",
     R"({"content":[{"type":"image","mimeType":"image/png","data":"QQ=="}]})",
     {R"("content":"[image 1, image/png: shown below]"},{"role":"user","content":[{"type":"text","text":"Images of the tool results above: 1 from t"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}]})",
      R"("output":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,QQ=="}]})",
      R"("content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}}]})",
      R"("response":{"output":""},"parts":[{"inlineData":{"mimeType":"image/png","data":"QQ=="}}]}})",
      R"({"role":"user","content":"Images of the tool results above: 1 from t","images":["QQ=="]})"}},
    {"an image that few models look at",
     R"({"content":[{"type":"image","mimeType":"image/gif","data":"QQ=="}]})",
     {R"({"url":"data:image/gif;base64,QQ=="})", R"("image_url":"data:image/gif;base64,QQ=="})",
      R"({"type":"image","source":{"type":"base64","media_type":"image/gif","data":"QQ=="}})",
      R"("response":{"output":"[image, image/gif, 1 bytes: left out]"}}})", R"("images":["QQ=="])"}},
    {"an image that none looks at",
     R"({"content":[{"type":"image","mimeType":"image/tiff","data":"QQ=="}]})",
     {R"("content":"[image, image/tiff, 1 bytes: left out]"})", R"("output":"[image, image/tiff, 1 bytes: left out]"})",
      R"("content":[{"type":"text","text":"[image, image/tiff, 1 bytes: left out]"}]})",
      R"("response":{"output":"[image, image/tiff, 1 bytes: left out]"}}})",
      R"("content":"[image, image/tiff, 1 bytes: left out]",)"}},
    {"sound",
     R"({"content":[{"type":"audio","mimeType":"audio/wav","data":"QUI="}]})",
     {R"("content":"[audio, audio/wav, 2 bytes: left out]"})", R"("output":"[audio, audio/wav, 2 bytes: left out]"})",
      R"("content":[{"type":"text","text":"[audio, audio/wav, 2 bytes: left out]"}]})",
      R"("response":{"output":"[audio 1, audio/wav: shown below]"}}},{"text":"Media of the tool results above: 1 from t"},{"inlineData":{"mimeType":"audio/wav","data":"QUI="}})",
      R"("content":"[audio, audio/wav, 2 bytes: left out]",)"}},
    {"a resource with text",
     R"({"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"body"}}]})",
     {R"("content":"[resource file:///a]\nbody"})", R"("output":"[resource file:///a]\nbody"})",
      R"("content":[{"type":"text","text":"[resource file:///a]\nbody"}]})",
      R"("response":{"output":"[resource file:///a]\nbody"}}})", R"("content":"[resource file:///a]\nbody",)"}},
    {"a document",
     R"({"content":[{"type":"resource","resource":{"uri":"file:///d/a.pdf","mimeType":"application/pdf","blob":"QUJD"}}]})",
     {R"("content":"[resource file:///d/a.pdf, application/pdf, 3 bytes, not text: left out]"})",
      R"({"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"}]})",
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}}]})",
      R"("response":{"output":"[resource file:///d/a.pdf, application/pdf]"},"parts":[{"inlineData":{"mimeType":"application/pdf","data":"QUJD"}}]}})",
      R"("content":"[resource file:///d/a.pdf, application/pdf, 3 bytes, not text: left out]",)"}},
    {"a resource of bytes",
     R"({"content":[{"type":"resource","resource":{"uri":"file:///z","mimeType":"application/zip","blob":"QUJD"}}]})",
     {R"("content":"[resource file:///z, application/zip, 3 bytes, not text: left out]"})",
      R"("output":"[resource file:///z, application/zip, 3 bytes, not text: left out]"})",
      R"("text":"[resource file:///z, application/zip, 3 bytes, not text: left out]"}]})",
      R"("response":{"output":"[resource file:///z, application/zip, 3 bytes, not text: left out]"}}})",
      R"("content":"[resource file:///z, application/zip, 3 bytes, not text: left out]",)"}},
    {"a link",
     R"({"content":[{"type":"resource_link","name":"n","uri":"file:///c","mimeType":"text/x","description":"d"}]})",
     {R"("content":"[resource link: n, file:///c, text/x, d]"})",
      R"("output":"[resource link: n, file:///c, text/x, d]"})",
      R"("content":[{"type":"text","text":"[resource link: n, file:///c, text/x, d]"}]})",
      R"("response":{"output":"[resource link: n, file:///c, text/x, d]"}}})",
      R"("content":"[resource link: n, file:///c, text/x, d]",)"}},
    {"structured content alone",
     R"({"content":[],"structuredContent":{ "n" : 1.0,
  "s": [ "a, b" ] }})",
     {R"("content":"{\"n\":1.0,\"s\":[\"a, b\"]}"})", R"("output":"{\"n\":1.0,\"s\":[\"a, b\"]}"})",
      R"("content":[{"type":"text","text":"{\"n\":1.0,\"s\":[\"a, b\"]}"}]})", R"("response":{"n":1.0,"s":["a, b"]}}})",
      R"("content":"{\"n\":1.0,\"s\":[\"a, b\"]}",)"}},
    {"structured content beside its text",
     R"({"content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}})",
     {R"("content":"one"})", R"("output":"one"})", R"("content":[{"type":"text","text":"one"}]})",
      R"("response":{"output":"one"}}})", R"("content":"one",)"}},
    {"an error",
     R"({"content":[{"type":"text","text":"no"}],"isError":true})",
     {R"("content":"Error: no"})", R"("output":"Error: no"})",
      R"("content":[{"type":"text","text":"no"}],"is_error":true})", R"("response":{"error":"no"}}})",
      R"("content":"Error: no",)"}},
    {"a kind that is not known yet",
     R"({"content":[{"type":"hologram","data":"QQ=="}]})",
     {R"("content":"[hologram: left out]"})", R"("output":"[hologram: left out]"})",
      R"("content":[{"type":"text","text":"[hologram: left out]"}]})",
      R"("response":{"output":"[hologram: left out]"}}})", R"("content":"[hologram: left out]",)"}},
    {"nothing",
     R"({"content":[]})",
     {R"("content":""})", R"("output":""})", R"({"type":"tool_result","tool_use_id":"a"})",
      R"("response":{"output":""}}})", R"("content":"",)"}},
};

TEST_CASE("F9: every kind of tool result has its shape in every API") {
  constexpr std::array<std::string_view, 7> apis{
      "openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "azure", "dial"};
  for (const auto& r : rows) {
    model_request request;
    request.messages = {user_message("q"), assistant_of("", {call_of("a", "t", "{}")}),
                        results_of({result_of("a", "t", r.result, r.kind == "an error")})};
    for (std::size_t i = 0; i < apis.size(); ++i) {
      CAPTURE(r.kind);
      CAPTURE(apis[i]);
      auto o = options();
      o.model = "gemini-3";
      const auto body = unmarked(body_as(apis[i], request, o));
      CHECK_MESSAGE(body.find(r.sent[i < 5 ? i : 0]) != std::string::npos, body);
    }
  }
}

TEST_CASE("F9: media types that are called otherwise go out under their registered names, from tools and callers") {
  auto asked = std::make_shared<message>();
  asked->blocks = {image_block{"image/jpg", "QQ==", ""}, file_block{"application/x-pdf", "a.pdf", "QQ==", ""}};
  model_request request;
  request.messages = {
      asked, assistant_of("", {call_of("a", "t", "{}")}),
      results_of({result_of(
          "a", "t",
          R"({"content":[{"type":"image","mimeType":"image/jpg","data":"Qg=="},{"type":"image","mimeType":"image/png; x=1","data":"Qw=="}]})")})};
  for (const std::string_view api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"}) {
    CAPTURE(api);
    auto o = options();
    o.model = "gemini-3";
    const auto body = body_as(api, request, o);
    CHECK_MESSAGE(body.find("image/jpg") == std::string::npos, body);
    if (api != "ollama") CHECK(body.find("x-pdf") == std::string::npos);
    CHECK(body.find("x=1") == std::string::npos);
    for (const auto* data : {"QQ==", "Qg==", "Qw=="}) CHECK(body.find(data) != std::string::npos);
    if (api != "ollama") CHECK(body.find("image/jpeg") != std::string::npos);
  }
}

}  // namespace
