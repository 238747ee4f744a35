// Resolution by section 5.2 of RFC 3986. Odd input gives an odd identifier that matches nothing, never an error;
// Boost.URL would refuse it, resolves against absolute addresses only, and keeps the ".." of "/../g".
#include "providers/schema/validator/schema_uri.hpp"

#include <algorithm>

namespace mcpbx::providers::schema {
namespace {

struct parts {
  std::string_view scheme, authority, path, query;
  bool has_authority = false, has_query = false;
};

bool is_scheme(std::string_view s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !s.empty() && letter(s.front()) && std::ranges::all_of(s, [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

parts split(std::string_view uri) {
  parts p;
  if (const auto colon = uri.find(':'); colon != uri.npos && is_scheme(uri.substr(0, colon))) {
    p.scheme = uri.substr(0, colon);
    uri.remove_prefix(colon + 1);
  }
  if (uri.starts_with("//")) {
    p.has_authority = true;
    uri.remove_prefix(2);
    const auto end = std::min(uri.find_first_of("/?"), uri.size());
    p.authority = uri.substr(0, end);
    uri.remove_prefix(end);
  }
  if (const auto mark = uri.find('?'); mark != uri.npos) {
    p.has_query = true;
    p.query = uri.substr(mark + 1);
    uri = uri.substr(0, mark);
  }
  p.path = uri;
  return p;
}

std::string without_dots(std::string_view path) {
  std::string out;
  const auto drop_last = [&] {
    const auto slash = out.rfind('/');
    out.erase(slash == out.npos ? 0 : slash);
  };
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./")) {
      path.remove_prefix(2);
    } else if (path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../")) {
      path.remove_prefix(3);
      drop_last();
    } else if (path == "/..") {
      path = "/";
      drop_last();
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const auto end = std::min(path.find('/', 1), path.size());
      out += path.substr(0, end);
      path.remove_prefix(end);
    }
  }
  return out;
}

std::string joined(std::string_view scheme, const parts& where, std::string_view path, const parts& query) {
  std::string out;
  if (!scheme.empty()) out.append(scheme).append(":");
  if (where.has_authority) out.append("//").append(where.authority);
  out += path;
  if (query.has_query) out.append("?").append(query.query);
  return out;
}

}  // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
  if (reference.empty()) return std::string(base);
  const auto b = split(base), r = split(reference);
  if (!r.scheme.empty()) return joined(r.scheme, r, r.has_authority ? without_dots(r.path) : std::string(r.path), r);
  if (r.has_authority) return joined(b.scheme, r, without_dots(r.path), r);
  if (r.path.empty()) return joined(b.scheme, b, b.path, r.has_query ? r : b);
  if (r.path.starts_with('/')) return joined(b.scheme, b, without_dots(r.path), r);
  std::string merged;
  if (b.has_authority && b.path.empty())
    merged = "/";
  else if (const auto slash = b.path.rfind('/'); slash != b.path.npos)
    merged = b.path.substr(0, slash + 1);
  merged += r.path;
  return joined(b.scheme, b, without_dots(merged), r);
}

}  // namespace mcpbx::providers::schema
