// Reads the pages of a list, one after another.
#include "mcp/client/session/feature_lister.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::mcp::session {
namespace {

/// Size in bytes from which items are copied if they are less than half of their page, so that the page can be freed.
constexpr std::size_t worth_copying = 4096;
/// Levels of a message around an item: the envelope, the result, the list.
constexpr int levels_around_items = 3;

}  // namespace

result<bool> feature_lister::take_page(const json::raw_json& page, const depth_limit* depth) {
  const auto object = json::raw_object::open(page, {kind_->member, "nextCursor"});
  if (!object) return fail(errc::protocol, object.error().message);
  const json::raw_json list = object->find(kind_->member);
  if (!list.is_array()) return fail(errc::protocol, "\"" + std::string(kind_->member) + "\" must be an array");
  ++pages_;
  ttl_ = std::min(ttl_, milliseconds(std::max<std::int64_t>(object->find("ttlMs").as_integer().value_or(0), 0)));
  private_ = private_ || object->find("cacheScope").text() != "\"public\"";
  bytes_ += page.text().size();
  const std::size_t first = items_.size();
  bool room = true;
  json::for_each_element(list, [&](json::raw_json definition) {
    room = items_.size() < options_.max_items;
    if (room) take_item(std::move(definition), depth);
    return room;
  });
  std::size_t kept = 0;
  for (std::size_t i = first; i < items_.size(); ++i) kept += items_[i].definition.text().size();
  if (page.owner().size() > worth_copying && kept < page.owner().size() / 2)
    for (std::size_t i = first; i < items_.size(); ++i) items_[i].definition = items_[i].definition.detached();

  if (!room) {
    notice("it lists more than " + std::to_string(options_.max_items) + " " + kind_->plural() +
           "; the others are left out");
    return false;
  }
  const json::raw_json cursor = object->find("nextCursor");
  if (!cursor || cursor.is_null() || cursor.text() == "\"\"") return false;
  if (!cursor.is_string()) {
    notice("nextCursor must be a string; the pages behind it are left out");
    return false;
  }
  if (!cursors_.insert(stable_hash(cursor.text())).second) {
    notice(std::string(kind_->list_method) + " gave the same cursor twice; listing stops there");
    return false;
  }
  if (pages_ >= options_.max_pages) {
    notice(std::string(kind_->list_method) + " has more than " + std::to_string(options_.max_pages) +
           " pages; the others are left out");
    return false;
  }
  if (bytes_ >= options_.max_bytes) {
    notice(std::string(kind_->list_method) + " gave more than " + std::to_string(options_.max_bytes >> 20) +
           " MiB; listing stops there");
    return false;
  }
  cursor_ = cursor.detached();
  return true;
}

json::raw_json feature_lister::params() const {
  if (!cursor_) return {};
  return json::raw_json::own("{\"cursor\":" + std::string(cursor_.text()) + "}");
}

void feature_lister::take_item(json::raw_json definition, const depth_limit* depth) {
  if (depth != nullptr &&
      json::check_json(definition.text(), depth->levels - levels_around_items) == json::json_scanner::fault::depth) {
    const std::string key = json::member_text(definition, kind_->key_member);
    return notice("a " + std::string(kind_->noun) + " definition is left out: " +
                  (key.empty() ? "" : std::string(kind_->noun) + " \"" + redact::cut_for_people(key, 100) + "\": ") +
                  "nested deeper than " + std::to_string(depth->levels) + " levels in its list" +
                  (depth->key.empty() ? "" : " (" + std::string(depth->key) + ")"));
  }
  auto item = kind_->read(std::move(definition));
  if (!item) return notice("a " + std::string(kind_->noun) + " definition is left out: " + item.error().message);
  if (options_.check != nullptr)
    if (const auto checked = options_.check(*item); !checked)
      return notice("a " + std::string(kind_->noun) + " definition is left out: " + checked.error().message);
  if (!keys_.insert(item->key).second)
    return notice(std::string(kind_->noun) + " \"" + redact::cut_for_people(item->key, 100) +
                  "\" is listed twice; the first one counts");
  items_.push_back(std::move(*item));
}

void feature_lister::notice(std::string sentence) {
  if (notices_.size() < options_.max_notices)
    notices_.push_back(std::move(sentence));
  else
    ++more_notices_;
}

std::vector<std::string> feature_lister::notices() const {
  auto all = notices_;
  if (more_notices_ != 0) all.push_back("and " + std::to_string(more_notices_) + " more of this kind");
  return all;
}

}  // namespace mcpbx::mcp::session
