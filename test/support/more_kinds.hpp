// A table of kinds with more rows than mcpbx has: tools, "notes", whose names are told apart by prefixes, and "pages"
// with their templates, which have URIs and share a capability.
#pragma once
#include "mcp/protocol/features.hpp"
#include "mcp/support/text.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::test {

/// Wants a key in `Member` and nothing else.
template <const char* Member>
result<mcp::protocol::feature_item> read_keyed(json::raw_json definition) {
  auto key = json::find_member(definition, Member).as_string();
  if (!key) return fail(errc::protocol, std::string(Member) + " must be a string");
  mcp::protocol::feature_item item;
  item.key = std::move(*key);
  item.definition = std::move(definition);
  return item;
}

inline constexpr char name_member[] = "name", uri_member[] = "uri", template_member[] = "uriTemplate";

inline mcp::protocol::feature_table more_kinds() {
  static const std::array rows = {mcp::protocol::tool_kind(),
                                  mcp::protocol::feature_kind{.id = mcp::protocol::kind_id{1},
                                                              .capability = "notes",
                                                              .list_method = "notes/list",
                                                              .member = "notes",
                                                              .changed = "notifications/notes/list_changed",
                                                              .listen_member = "notesListChanged",
                                                              .noun = "note",
                                                              .key_member = name_member,
                                                              .keys = mcp::protocol::key_rule::prefixed,
                                                              .read = read_keyed<name_member>},
                                  mcp::protocol::feature_kind{.id = mcp::protocol::kind_id{2},
                                                              .capability = "pages",
                                                              .list_method = "pages/list",
                                                              .member = "pages",
                                                              .changed = "notifications/pages/list_changed",
                                                              .listen_member = "pagesListChanged",
                                                              .noun = "page",
                                                              .key_member = uri_member,
                                                              .keys = mcp::protocol::key_rule::as_it_is,
                                                              .read = read_keyed<uri_member>},
                                  mcp::protocol::feature_kind{.id = mcp::protocol::kind_id{3},
                                                              .capability = "pages",
                                                              .list_method = "pages/templates/list",
                                                              .member = "pageTemplates",
                                                              .changed = "notifications/pages/list_changed",
                                                              .listen_member = "pagesListChanged",
                                                              .noun = "page template",
                                                              .key_member = template_member,
                                                              .keys = mcp::protocol::key_rule::as_it_is,
                                                              .read = read_keyed<template_member>}};
  return rows;
}
inline const mcp::protocol::feature_kind& notes_kind() {
  return more_kinds()[1];
}
inline const mcp::protocol::feature_kind& pages_kind() {
  return more_kinds()[2];
}

}  // namespace mcpbx::test
