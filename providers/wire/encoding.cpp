// Small parts of requests.
#include "providers/wire/encoding.hpp"

namespace mcpbx::providers {

std::string join_url(std::string_view base, std::string_view path) {
  base = base.substr(0, base.find('#'));
  const auto query = base.find('?');
  std::string url(base.substr(0, query));
  while (url.ends_with('/')) url.pop_back();
  url += path;
  if (query != std::string_view::npos) url += base.substr(query);
  return url;
}

bool is_own(const message& m, std::string_view api, const wire_options& options) {
  return m.role == role::assistant && m.raw && m.origin.api == api && m.origin.endpoint == options.base_url &&
         m.origin.model == options.model;
}

std::string with_note(std::string text, std::string_view note) {
  if (!text.empty() && !note.empty()) text += "\n\n";
  return text.append(note);
}

std::string data_url(std::string_view mime, std::string_view base64) {
  std::string url = "data:";
  url += mime;
  url += ";base64,";
  return url.append(base64);
}

}  // namespace mcpbx::providers
