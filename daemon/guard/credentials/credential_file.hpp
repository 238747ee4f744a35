// The file of tokens that people got by logging in, mode 0600, one entry for each tool server. Each entry is encrypted
// if there is a key. Several daemons may share the file. All functions block; call them on a lane.
#pragma once
#include "daemon/guard/credentials/credential_key.hpp"
#include "daemon/guard/state_file.hpp"
#include "mcp/support/error.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon::credentials {

class credential_file {
 public:
  using entries = std::map<std::string, std::string, std::less<>>;
  /// Touches no file. `find_key` is called at the first use; its error keeps the file from being written.
  credential_file(std::string path, std::function<result<credential_key>()> find_key)
      : path_(std::move(path)), find_key_(std::move(find_key)) {}

  /// Returns the name of the entry of a server at this address; `principal`: of one caller's login, "": of the one that
  /// all share or that the person has. Daemons with other configurations may have another server of the same name, and
  /// an address may hold secrets.
  static std::string entry_name(std::string_view server, std::string_view url, std::string_view principal = {});
  /// Returns the text of one entry; nullopt: the file has none of this name. errc::io, errc::parse, errc::unavailable:
  /// the file, the entry or the key cannot be read now. A missing key is looked for again.
  result<std::optional<std::string>> find(std::string_view name);
  /// Returns the texts of all entries that can be read. Entries of another key are left out and stay in the file.
  /// errc::io, errc::parse: the file or the key cannot be read, so that nothing may be written either.
  result<entries> read();
  /// Sets or removes one entry in the file as it is by then, under its lock. errc::limit: the file would be too large;
  /// errc::unavailable: it has encrypted entries, and there is no key for this one.
  result<void> write(std::string_view name, const std::optional<std::string>& text);
  /// Sets an entry that the file has already, in the same way. errc::not_found: it has none of this name, since another
  /// daemon has removed it, and nothing is written.
  result<void> replace(std::string_view name, const std::string& text);
  /// Takes the lock that keeps other daemons from renewing the tokens of this entry. It may be held for as long as an
  /// authorization server takes to answer, so it keeps nobody from writing.
  result<guard::state_lock> lock_renewal(std::string_view name);

  /// Returns the place of the key, once something has been read or written.
  key_place protection() const noexcept { return key_ ? key_->place : key_place::none; }
  const std::string& path() const noexcept { return path_; }

 private:
  struct stored {
    std::string key;   ///< a word of key_place
    std::string text;  ///< encrypted, or as it is without a key
  };
  using table = std::map<std::string, stored, std::less<>>;
  result<table> load();
  result<std::string> opened(std::string_view name, const stored& s);
  result<void> write_locked(std::string_view name, const std::optional<std::string>& text, bool must_be_there);
  result<void> need_key();
  bool forget_no_key(const table& all);

  std::string path_;
  std::function<result<credential_key>()> find_key_;
  std::optional<credential_key> key_;
};

}  // namespace mcpbx::daemon::credentials
