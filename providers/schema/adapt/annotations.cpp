// Walks a schema and replaces the texts that need cleaning; all other bytes are copied.
#include "providers/schema/adapt/annotations.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/adapt/keywords.hpp"
#include "providers/schema/validator/schema_program.hpp"

#include <algorithm>

namespace mcpbx::providers::adapt {
namespace {

constexpr int max_annotated_depth = 256;
constexpr std::string_view ellipsis = "…";

// Returns false if text_for_models() cannot change anything, as in most schemas: plain ASCII without escapes.
bool may_need_cleaning(std::string_view text) {
  unsigned odd = 0;  // no branch in the loop, so that the compiler can vectorise it
  for (const char c : text)
    odd |= static_cast<unsigned>(c == '\\') | static_cast<unsigned>(static_cast<unsigned char>(c) >= 0x7F);
  return odd != 0 || text.size() > max_annotation;
}

// A step of the path from the root. Text is made of the path only for a report.
struct place {
  const place* above;
  std::string_view name;  // name of a member; "": the step is an element
  std::size_t index = 0;  // index of an element
  bool of_a_list = false;
};

std::string path_text(const place* at) {
  if (at == nullptr) return "inputSchema";
  return path_text(at->above) + (at->of_a_list ? "[" + std::to_string(at->index) + "]" : schema::member_step(at->name));
}

class annotation_cleaner {
 public:
  annotation_cleaner(std::string_view text, std::vector<std::string>& changes)
      : done_(text.data()), changes_(changes) {}

  void schema(std::string_view text, const place* at, int depth) {
    if (depth > max_annotated_depth) return;
    json::walk::members(text, [&](std::string_view name, std::string_view value) {
      const place here{at, name};
      switch (find_keyword(name)) {
        case keyword::text:
          if (name == "description" || name == "title") annotation(value, here);
          break;
        case keyword::properties:
        case keyword::schema_map:
          json::walk::members(value, [&](std::string_view key, std::string_view s) {
            const place below{&here, key};
            schema(s, &below, depth + 1);
          });
          break;
        case keyword::schema:
        case keyword::plain_schema:
        case keyword::items:
        case keyword::schema_list:
          if (json::walk::is_array(value))
            list(value, here, depth);
          else
            schema(value, &here, depth + 1);
          break;
        default:
          break;
      }
    });
  }

  // Returns the cleaned text up to its end, or an absent value if nothing changed.
  json::raw_json take(std::string_view text) {
    if (done_ == text.data()) return {};
    out_.append(done_, text.data() + text.size());
    return json::raw_json::own(out_);
  }

 private:
  void list(std::string_view text, const place& at, int depth) {
    std::size_t index = 0;
    json::walk::elements(text, [&](std::string_view s) {
      const place here{&at, {}, index++, true};
      schema(s, &here, depth + 1);
    });
  }

  void annotation(std::string_view token, const place& at) {
    if (!json::walk::is_string(token) || !may_need_cleaning(token)) return;
    const auto text = json::unescaped(token);
    const auto clean = redact::printable(text, true);
    const auto shown = text_for_models(text, max_annotation);
    if (shown == text) return;
    out_.append(done_, token.data());
    json::append_quoted(out_, shown);
    done_ = token.data() + token.size();
    const bool lost = clean != text, cut = shown != clean;
    changes_.push_back(path_text(&at) + (lost ? " loses characters that are not seen" : "") +
                       (lost && cut ? " and" : "") +
                       (cut ? " is cut after " + std::to_string(max_annotation) + " bytes" : ""));
  }

  const char* done_;
  std::vector<std::string>& changes_;
  std::string out_;
};

}  // namespace

std::string text_for_models(std::string_view text, std::size_t bytes) {
  auto shown = redact::printable(text, true);
  if (shown.size() > bytes)
    shown = std::string(cut_utf8(shown, bytes - std::min(bytes, ellipsis.size()))).append(ellipsis);
  return shown;
}

json::raw_json clean_annotations(const json::raw_json& schema, std::vector<std::string>& changes) {
  const auto text = schema.text();
  if (!may_need_cleaning(text)) return schema;
  annotation_cleaner cleaner(text, changes);
  cleaner.schema(text, nullptr, 0);
  auto cleaned = cleaner.take(text);
  return cleaned.empty() ? schema : cleaned;
}

}  // namespace mcpbx::providers::adapt
