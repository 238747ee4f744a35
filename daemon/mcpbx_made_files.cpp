// mcpbx-made-files FOLDER: writes what packages install beside the programs. A program of the build; it is not
// installed.
#include "daemon/manual/made_files.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: mcpbx-made-files FOLDER\n", stderr);
    return 2;
  }
  for (const auto& file : mcpbx::manual::made_files()) {
    const auto path = std::filesystem::path(argv[1]) / file.path;
    std::error_code wrong;
    std::filesystem::create_directories(path.parent_path(), wrong);
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    if (!out.flush()) {
      std::fprintf(stderr, "mcpbx-made-files: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}
