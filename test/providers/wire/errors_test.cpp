// Error answers of every shape become one sentence with kind and mend.
#include "mcp/redact/secret.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/decode.hpp"

#include <doctest/doctest.h>

namespace errors_tests {

using namespace mcpbx;
using namespace mcpbx::redact;
using mcpbx::test::options;
using kind = providers::model_error::kind;

TEST_CASE("errors: sentences name the configured entry, the provider's model where that says more, and the place") {
  providers::wire::wire_options o;
  o.base_url = "https://user:secret@api.example.com:444/v1?key=k";
  const auto said = [&](std::string_view entry, std::string_view model) {
    o.name = entry;
    o.model = model;
    return providers::wire::who(o);
  };
  CHECK(said("fast", "gpt-x") == "model \"fast\" (gpt-x) at api.example.com:444");
  CHECK(said("gpt-x", "gpt-x") == "model \"gpt-x\" at api.example.com:444");
  CHECK(said("local/gpt-x", "gpt-x") == "model \"local/gpt-x\" at api.example.com:444");
  CHECK(said("", "gpt-x") == "model \"gpt-x\" at api.example.com:444");
  CHECK(said("fast", "") == "model \"fast\" at api.example.com:444");
  CHECK(providers::wire::named(o) == "model \"fast\"");
  redactor::add(secret("canary-id-4711"));
  CHECK(said("fast", "canary-id-4711") == "model \"fast\" (***) at api.example.com:444");
  CHECK(said("", "canary-id-4711") == "model \"***\" at api.example.com:444");
  redactor::clear();
}

TEST_CASE("errors: status and body of every provider become kind, sentence and mend") {
  struct row {
    int status;
    std::string_view body;
    kind type;
    bool retryable;
    std::string_view says;
  };
  for (
      const auto& r : std::vector<row>{
          {401,
           R"({"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}})",
           kind::bad_request, false, "Incorrect API key provided. Check the key"},
          {402, R"({"error":{"message":"Payment required"}})", kind::bad_request, false, "billing"},
          {403, "", kind::bad_request, false, "status 403. Check the key"},
          {404, R"({"error":{"message":"The model `x` does not exist","code":"model_not_found"}})", kind::bad_request,
           false, "does not exist. Check the model's name"},
          {404, R"({"detail":"Not Found"})", kind::bad_request, false, "Not Found"},
          {400, R"({"error":{"message":"bad schema","type":"invalid_request_error"}})", kind::bad_request, false,
           "bad schema"},
          {400,
           R"({"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}})",
           kind::context_full, false, "too long"},
          {400, R"({"object":"error","message":"This model's maximum context length is 8192","code":400})",
           kind::context_full, false, "too long"},
          {413, "", kind::context_full, false, "too long"},
          {400,
           R"({"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed )"
           R"(context limit: 178959 + 64000 > 200000, decrease input length"}})",
           kind::context_full, false, "too long"},
          {400, R"({"error":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."})",
           kind::context_full, false, "too long"},
          {400, R"({"message":"The input (61709 tokens) is longer than the model's context length (40960 tokens)."})",
           kind::context_full, false, "too long"},
          {400, R"({"message":"Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."})",
           kind::context_full, false, "too long"},
          {400,
           R"({"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded )"
           R"(with context length of only 4096 tokens, which is not enough."})",
           kind::context_full, false, "too long"},
          {422, R"({"error":{"message":"`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1900"}})",
           kind::context_full, false, "too long"},
          {429, R"({"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}})", kind::overloaded, true,
           "wait"},
          {429,
           R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}})",
           kind::bad_request, false, "billing"},
          {429,
           R"({"type":"error","error":{"type":"rate_limit_error","message":"limit","details":{"error_code":"enforced_spend_limit_reached"}}})",
           kind::bad_request, false, "billing"},
          {429,
           R"({"type":"error","error":{"type":"rate_limit_error","message":"limit","details":{"error_code":"contract_spend_limit_reached"}}})",
           kind::bad_request, false, "billing"},
          {429,
           R"({"type":"error","error":{"type":"rate_limit_error","message":"limit","details":{"error_code":"linked_organization_spend_limit_reached"}}})",
           kind::bad_request, false, "billing"},
          {429,
           R"({"type":"error","error":{"type":"rate_limit_error","message":"limit","details":{"error_code":"ramp_limit_exceeded"}}})",
           kind::overloaded, true, "limit"},
          {400,
           R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}})",
           kind::bad_request, false, "billing"},
          {400,
           R"({"type":"error","error":{"type":"invalid_request_error","message":"tools.3.custom.input_schema: JSON schema is invalid"}})",
           kind::bad_request, false, "leave that tool out"},
          {400, R"({"error":{"message":"Invalid schema for function 'a__b': x","code":"invalid_function_parameters"}})",
           kind::bad_request, false, "leave that tool out"},
          {400,
           R"({"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.","type":"invalid_request_error","param":"tools","code":"array_above_max_length"}})",
           kind::bad_request, false, "It takes fewer tools than it was offered"},
          {400,
           R"({"type":"error","error":{"type":"invalid_request_error","message":"No.","details":{"error_code":"available_tools_limit_exceeded"}}})",
           kind::bad_request, false, "It takes fewer tools than it was offered"},
          {400, R"({"error":{"message":"'tools' : maximum number of items is 128"}})", kind::bad_request, false,
           "It takes fewer tools than it was offered"},
          {400,
           R"({"error":{"message":"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64"}})",
           kind::bad_request, false, "the definition of a tool"},
          {400, R"({"error":"m does not support tools."})", kind::bad_request, false,
           "Check the model's name and options"},
          {400, R"({"error":{"code":400,"message":"Invalid value at 'tools[0].function_declarations[2]'"}})",
           kind::bad_request, false, "leave that tool out"},
          {429, R"([{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}])", kind::overloaded, true,
           "Quota"},
          {500, R"({"error":"model runner has stopped"})", kind::refused, true, "model runner has stopped"},
          {502, "<html><title>Bad gateway</title></html>", kind::refused, true, "an HTML page instead of JSON"},
          {503, "", kind::overloaded, true, "overloaded"},
          {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", kind::overloaded,
           true, "Overloaded"},
          {400, R"({"error":{"message":"too large","code":"image_too_large"}})", kind::bad_request, false, "too large"},
          {302, "", kind::refused, false, "Redirects are not followed"},
      }) {
    CAPTURE(r.body);
    const auto e = providers::registry::find_codec("openai-chat")->decode_error(r.status, r.body, options());
    CHECK(e.type == r.type);
    CHECK(e.retryable == r.retryable);
    CHECK(e.http_status == r.status);
    CHECK(e.message.find(r.says) != std::string::npos);
    CHECK(e.message.starts_with("The model \"m\" at api.example.com answered with status "));
  }
}

TEST_CASE("G35: a key that an endpoint echoes appears in no error") {
  redactor::add(secret("sk-test-canary-12345"));
  auto o = options();
  o.base_url = "https://user:sk-test-canary-12345@api.example.com/v1?key=sk-test-canary-12345";
  const std::string body =
      R"({"error":{"message":"Incorrect API key: sk-test-canary-12345","code":"sk-test-canary-12345"}})";
  const auto& codec = *providers::registry::find_codec("openai-chat");
  CHECK(codec.decode_error(401, body, o).message.find("canary") == std::string::npos);
  CHECK(codec.decode_error(500, "plain sk-test-canary-12345", o).message.find("canary") == std::string::npos);
  const auto in_stream = mcpbx::test::decode("data: " + body + "\n\n", 100, o);
  CHECK(in_stream.error->message.find("canary") == std::string::npos);
  CHECK(in_stream.error->said == R"({"error":{"message":"Incorrect API key: ***","code":"***"}})");
  CHECK(codec.decode_error(401, body, o).said == in_stream.error->said);
  CHECK(mcpbx::test::decode("data: junk sk-test-canary-12345\n\n", 100, o).error->message.find("canary") ==
        std::string::npos);
  redactor::clear();
}

TEST_CASE("errors: a code in a stream tells whose fault it is") {
  const auto type = [](std::string code) {
    const auto d = mcpbx::test::decode_as(
        "openai-responses",
        "event: response.failed\ndata: "
        "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"" +
            code + "\",\"message\":\"m\"}}}\n\n");
    REQUIRE(d.error);
    return d.error->type;
  };
  for (const auto* ours : {"invalid_prompt", "image_too_large", "unsupported_image_media_type", "empty_image_file",
                           "failed_to_download_image", "bio_policy", "data_residency_mismatch"})
    CHECK(type(ours) == kind::bad_request);
  CHECK(type("rate_limit_exceeded") == kind::overloaded);
  CHECK(type("server_error") == kind::refused);
}

TEST_CASE("errors: foreign text is cut and cleaned") {
  const auto e =
      providers::registry::find_codec("openai-chat")->decode_error(500, "\x1b[31m" + std::string(5000, 'x'), options());
  CHECK(e.message.size() < 600);
  CHECK(e.message.find('\x1b') == std::string::npos);
}

}  // namespace errors_tests
