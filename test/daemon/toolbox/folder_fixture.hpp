// A folder of its own for each test, removed afterwards with all that is in it.
#pragma once
#include <doctest/doctest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace mcpbx::toolbox {

class temporary_folder {
 public:
  temporary_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "mcpbx-toolbox-test.XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = std::filesystem::canonical(pattern);
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  std::string path(std::string_view relative = {}) const {
    return relative.empty() ? path_.string() : (path_ / relative).string();
  }
  void write(std::string_view relative, std::string_view content) const {
    std::filesystem::create_directories((path_ / relative).parent_path());
    std::ofstream(path_ / relative, std::ios::binary) << content;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace mcpbx::toolbox
