// Puts definitions of prompts and resources into rows, and messages into lines.
#include "daemon/cli/text/offer_text.hpp"

#include "daemon/cli/text/tool_text.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <cstddef>
#include <string_view>

namespace mcpbx::cli {
namespace {

// Returns the number of bytes that base64 text stands for.
std::size_t decoded_size(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return text.size() * 3 / 4;
}

std::string line_of(const raw_json& block, const std::string& type) {
  if (type == "resource_link") return member_text(block, "uri");
  const raw_json inner = type == "resource" ? find_member(block, "resource") : block;
  const auto data = find_member(inner, type == "resource" ? "blob" : "data").as_string().value_or("");
  const std::string mime = member_text(inner, "mimeType"), uri = member_text(inner, "uri");
  return "[" + type + (uri.empty() ? "" : " " + uri) + (mime.empty() ? "" : ", " + mime) + ", " +
         std::to_string(decoded_size(data)) + " bytes; --json has them]";
}

// Returns the first line of the description, else the title.
std::string about(const raw_json& item) {
  std::string text = summary_of(item);
  return text.empty() ? member_text(item, "title") : text;
}

}  // namespace

std::string text_of_block(const raw_json& block) {
  const std::string type = member_text(block, "type");
  std::string text = member_text(block, "text");
  if (type == "resource") text = member_text(find_member(block, "resource"), "text");
  if (text.empty() && type != "text") text = line_of(block, type);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

plain_rows prompt_rows(const std::vector<raw_json>& prompts) {
  plain_rows rows{{"NAME", "ARGUMENTS", "DESCRIPTION"}};
  for (const auto& p : prompts) {
    std::string arguments;
    for_each_element(find_member(p, "arguments"), [&](const raw_json& a) {
      const std::string name = member_text(a, "name");
      arguments += (arguments.empty() ? "" : " ") + (find_member(a, "required").is_true() ? name : "[" + name + "]");
      return true;
    });
    rows.push_back({member_text(p, "name"), arguments, about(p)});
  }
  return rows;
}

plain_rows resource_rows(const std::vector<raw_json>& resources) {
  plain_rows rows{{"URI", "NAME", "TYPE", "BYTES", "DESCRIPTION"}};
  for (const auto& r : resources) {
    const auto size = find_member(r, "size").as_integer();
    rows.push_back({member_text(r, "uri"), member_text(r, "name"), member_text(r, "mimeType"),
                    size ? std::to_string(*size) : "", about(r)});
  }
  return rows;
}

plain_rows template_rows(const std::vector<raw_json>& templates) {
  plain_rows rows{{"TEMPLATE", "NAME", "TYPE", "DESCRIPTION"}};
  for (const auto& t : templates)
    rows.push_back({member_text(t, "uriTemplate"), member_text(t, "name"), member_text(t, "mimeType"), about(t)});
  return rows;
}

fitted_table offer_table(const plain_rows& rows) {
  std::vector<fitted_table::column> columns;
  for (std::size_t i = 0; i + 1 < rows.front().size(); ++i) columns.push_back({rows.front()[i], static_cast<int>(i)});
  fitted_table table(std::move(columns));
  for (std::size_t r = 1; r < rows.size(); ++r) {
    fitted_table::row row;
    for (std::size_t i = 0; i + 1 < rows[r].size(); ++i)
      row.cells.push_back(i == 0 ? fitted_table::cell(rows[r][i], look::bold) : fitted_table::cell(rows[r][i]));
    row.note = rows[r].back();
    table.add(std::move(row));
  }
  return table;
}

std::vector<styled> prompt_lines(const raw_json& result) {
  std::vector<styled> lines;
  if (const std::string what = member_text(result, "description"); !what.empty()) {
    for (const auto& line : wrapped(what, 0)) lines.emplace_back(look::dim, line);
    lines.emplace_back("");
  }
  for_each_element(find_member(result, "messages"), [&](const raw_json& m) {
    lines.emplace_back(look::bold, member_text(m, "role") + ":");
    const raw_json content = find_member(m, "content");
    std::string text;
    if (content.is_object()) text = text_of_block(content);
    for_each_element(content, [&](const raw_json& block) {
      text += text_of_block(block);
      return true;
    });
    while (text.ends_with('\n')) text.pop_back();
    for (const auto& line : wrapped(text, 0)) lines.emplace_back("  " + line);
    return true;
  });
  return lines;
}

}  // namespace mcpbx::cli
