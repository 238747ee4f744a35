// JSON of the file: {"version": 1, "entries": {NAME: {"key": WORD, "text": TEXT}}}.
#include "daemon/guard/credentials/credential_file.hpp"

#include "mcp/crypto/sha256.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::credentials {
namespace {

constexpr std::size_t largest_file = std::size_t{8} << 20;

}  // namespace

result<void> credential_file::need_key() {
  if (key_) return {};
  auto found = find_key_();
  if (!found) return std::unexpected(found.error());
  key_ = std::move(*found);
  return {};
}

std::string credential_file::entry_name(std::string_view server, std::string_view url, std::string_view principal) {
  // No address has a line break.
  std::string whose(url);
  if (!principal.empty()) whose += "\n" + std::string(principal);
  return std::string(server) + " " + crypto::sha256_hex(whose).substr(0, 16);
}

// Returns true if an entry is encrypted. If its key was missing, the next read looks for it again, since the program
// that keeps it may be back.
bool credential_file::forget_no_key(const table& all) {
  const std::string_view plain = to_string(key_place::none);
  const bool protects = std::ranges::any_of(all, [&](const auto& e) { return e.second.key != plain; });
  if (protects && key_ && key_->place == key_place::none) key_.reset();
  return protects;
}

result<credential_file::table> credential_file::load() {
  auto text = guard::read_state_file(path_, largest_file);
  if (!text) return std::unexpected(text.error());
  table all;
  if (!*text) return all;
  const auto parsed = json::raw_json::parse(trimmed(**text), 16);
  const auto wrong = [&](const std::string& what) {
    return fail(errc::parse, path_ + " " + what + "; put a good copy in its place, or delete it and log in again");
  };
  if (!parsed) return wrong("is no JSON");
  if (json::find_member(*parsed, "version").as_integer() != 1) return wrong("was written by another version of mcpbx");
  const auto entries = json::raw_object::open(json::find_member(*parsed, "entries"));
  if (!entries) return wrong("has no entries");
  bool broken = false;
  entries->for_each([&](std::string_view name, const json::raw_json& value) {
    const auto key = json::find_member(value, "key").as_string(), sealed = json::find_member(value, "text").as_string();
    if (key && sealed)
      all[std::string(name)] = {*key, *sealed};
    else
      broken = true;
  });
  if (broken) return wrong("has an entry without its text");
  return all;
}

// Decrypts an entry with the key that has been found.
result<std::string> credential_file::opened(std::string_view name, const stored& s) {
  if (s.key == to_string(key_place::none)) return s.text;
  if (s.key == to_string(key_->place))
    if (auto plain = decrypted(*key_, name, s.text)) return plain;
  return fail(errc::unavailable,
              "the tokens are there but their key (" + s.key +
                  ") cannot be had now; unlock the keyring or start mcpbx with that key, or log out to forget them");
}

result<std::optional<std::string>> credential_file::find(std::string_view name) {
  const auto all = load();
  if (!all) return std::unexpected(all.error());
  const auto found = all->find(name);
  if (found == all->end()) return std::nullopt;
  forget_no_key(*all);
  if (auto have = need_key(); !have) return std::unexpected(have.error());
  auto text = opened(name, found->second);
  if (!text) return std::unexpected(text.error());
  return std::move(*text);
}

result<credential_file::entries> credential_file::read() {
  const auto all = load();
  if (!all) return std::unexpected(all.error());
  entries out;
  if (all->empty()) return out;
  forget_no_key(*all);
  if (auto have = need_key(); !have) return std::unexpected(have.error());
  for (const auto& [name, s] : *all)
    if (auto plain = opened(name, s)) out[name] = std::move(*plain);
  return out;
}

result<guard::state_lock> credential_file::lock_renewal(std::string_view name) {
  if (auto made = guard::make_folder_of(path_); !made) return std::unexpected(made.error());
  return guard::state_lock::take(path_ + ".renewal-" + crypto::sha256_hex(name).substr(0, 16));
}

result<void> credential_file::write(std::string_view name, const std::optional<std::string>& text) {
  if (auto made = guard::make_folder_of(path_); !made) return made;
  const auto held = guard::state_lock::take(path_);
  if (!held) return std::unexpected(held.error());
  return write_locked(name, text, false);
}

result<void> credential_file::replace(std::string_view name, const std::string& text) {
  const auto held = guard::state_lock::take(path_);
  if (!held) return std::unexpected(held.error());
  return write_locked(name, text, true);
}

result<void> credential_file::write_locked(std::string_view name, const std::optional<std::string>& text,
                                           bool must_be_there) {
  auto all = load();
  if (!all) return std::unexpected(all.error());
  if (must_be_there && !all->contains(name)) return fail(errc::not_found, path_ + " has no such entry any more");
  const std::string_view plain = to_string(key_place::none);
  const bool protects = forget_no_key(*all);
  if (!text) {
    if (all->erase(std::string(name)) == 0) return {};
  } else if (auto have = need_key(); !have) {
    return have;
  } else if (protects && key_->place == key_place::none) {
    return fail(errc::unavailable, path_ +
                                       " has encrypted entries and their key cannot be had now, so nothing is written "
                                       "beside them as it is; unlock the keyring, or delete the file");
  } else if (key_->place == key_place::none) {
    (*all)[std::string(name)] = {std::string(plain), *text};
  } else {
    auto sealed = encrypted(*key_, name, *text);
    if (!sealed) return std::unexpected(sealed.error());
    (*all)[std::string(name)] = {std::string(to_string(key_->place)), std::move(*sealed)};
  }
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("version", 1).key("entries").begin_object();
  for (const auto& [key, s] : *all)
    out.key(key).begin_object().member("key", s.key).member("text", s.text).end_object();
  out.end_object().end_object();
  json += "\n";
  // A larger one could not be read again, and with it the tokens of all servers would be gone.
  if (json.size() > largest_file)
    return fail(errc::limit, path_ + " would be larger than " + std::to_string(largest_file >> 20) + " MiB");
  return guard::replace_state_file(path_, json);
}

}  // namespace mcpbx::daemon::credentials
