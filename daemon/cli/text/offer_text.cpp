// Puts definitions of prompts and resources into rows, and messages into lines.
#include "daemon/cli/text/offer_text.hpp"

#include "daemon/cli/text/tool_text.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <cstddef>
#include <string_view>

namespace mcpbx::cli::text {
namespace {

// Returns the number of bytes that base64 text stands for.
std::size_t decoded_size(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return text.size() * 3 / 4;
}

std::string line_of(const json::raw_json& block, const std::string& type) {
  if (type == "resource_link") return json::member_text(block, "uri");
  const json::raw_json inner = type == "resource" ? json::find_member(block, "resource") : block;
  const auto data = json::find_member(inner, type == "resource" ? "blob" : "data").as_string().value_or("");
  const std::string mime = json::member_text(inner, "mimeType"), uri = json::member_text(inner, "uri");
  return "[" + type + (uri.empty() ? "" : " " + uri) + (mime.empty() ? "" : ", " + mime) + ", " +
         std::to_string(decoded_size(data)) + " bytes; --json has them]";
}

// Returns the first line of the description, else the title.
std::string about(const json::raw_json& item) {
  std::string text = summary_of(item);
  return text.empty() ? json::member_text(item, "title") : text;
}

}  // namespace

std::string text_of_block(const json::raw_json& block) {
  const std::string type = json::member_text(block, "type");
  std::string text = json::member_text(block, "text");
  if (type == "resource") text = json::member_text(json::find_member(block, "resource"), "text");
  if (text.empty() && type != "text") text = line_of(block, type);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

plain_rows prompt_rows(const std::vector<json::raw_json>& prompts) {
  plain_rows rows{{"NAME", "ARGUMENTS", "DESCRIPTION"}};
  for (const auto& p : prompts) {
    std::string arguments;
    json::for_each_element(json::find_member(p, "arguments"), [&](const json::raw_json& a) {
      const std::string name = json::member_text(a, "name");
      arguments +=
          (arguments.empty() ? "" : " ") + (json::find_member(a, "required").is_true() ? name : "[" + name + "]");
      return true;
    });
    rows.push_back({json::member_text(p, "name"), arguments, about(p)});
  }
  return rows;
}

plain_rows resource_rows(const std::vector<json::raw_json>& resources) {
  plain_rows rows{{"URI", "NAME", "TYPE", "BYTES", "DESCRIPTION"}};
  for (const auto& r : resources) {
    const auto size = json::find_member(r, "size").as_integer();
    rows.push_back({json::member_text(r, "uri"), json::member_text(r, "name"), json::member_text(r, "mimeType"),
                    size ? std::to_string(*size) : "", about(r)});
  }
  return rows;
}

plain_rows template_rows(const std::vector<json::raw_json>& templates) {
  plain_rows rows{{"TEMPLATE", "NAME", "TYPE", "DESCRIPTION"}};
  for (const auto& t : templates)
    rows.push_back({json::member_text(t, "uriTemplate"), json::member_text(t, "name"), json::member_text(t, "mimeType"),
                    about(t)});
  return rows;
}

terminals::fitted_table offer_table(const plain_rows& rows) {
  std::vector<terminals::fitted_table::column> columns;
  for (std::size_t i = 0; i + 1 < rows.front().size(); ++i) columns.push_back({rows.front()[i], static_cast<int>(i)});
  terminals::fitted_table table(std::move(columns));
  for (std::size_t r = 1; r < rows.size(); ++r) {
    terminals::fitted_table::row row;
    for (std::size_t i = 0; i + 1 < rows[r].size(); ++i)
      row.cells.push_back(i == 0 ? terminals::fitted_table::cell(rows[r][i], terminals::look::bold)
                                 : terminals::fitted_table::cell(rows[r][i]));
    row.note = rows[r].back();
    table.add(std::move(row));
  }
  return table;
}

std::vector<terminals::styled> prompt_lines(const json::raw_json& result) {
  std::vector<terminals::styled> lines;
  if (const std::string what = json::member_text(result, "description"); !what.empty()) {
    for (const auto& line : terminals::wrapped(what, 0)) lines.emplace_back(terminals::look::dim, line);
    lines.emplace_back("");
  }
  json::for_each_element(json::find_member(result, "messages"), [&](const json::raw_json& m) {
    lines.emplace_back(terminals::look::bold, json::member_text(m, "role") + ":");
    const json::raw_json content = json::find_member(m, "content");
    std::string text;
    if (content.is_object()) text = text_of_block(content);
    json::for_each_element(content, [&](const json::raw_json& block) {
      text += text_of_block(block);
      return true;
    });
    while (text.ends_with('\n')) text.pop_back();
    for (const auto& line : terminals::wrapped(text, 0)) lines.emplace_back("  " + line);
    return true;
  });
  return lines;
}

}  // namespace mcpbx::cli::text
