# Settings that all targets of mcpbx share: language, warnings, sanitizers, dependencies, and the functions that declare
# a layer, a program and a test.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
if(MCPBX_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
endif()

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED CONFIG COMPONENTS json)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
if(MCPBX_STATIC)
  # Linked in, SQLite costs nothing until the journal is opened; as a library every start would pay for loading it.
  find_library(MCPBX_SQLITE_ARCHIVE libsqlite3.a REQUIRED)
  set_target_properties(SQLite::SQLite3 PROPERTIES IMPORTED_LOCATION "${MCPBX_SQLITE_ARCHIVE}"
    INTERFACE_LINK_LIBRARIES "m;${CMAKE_DL_LIBS}")
endif()
# Of libpq only the header is used, for its types: the library is loaded when a PostgreSQL journal asks for it, so that
# no other daemon needs it.
find_path(MCPBX_LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
add_library(mcpbx_libpq_header INTERFACE)
target_include_directories(mcpbx_libpq_header SYSTEM INTERFACE "${MCPBX_LIBPQ_INCLUDE}")
# libedit and what it needs are linked statically: only `mcpbx chat` uses them, and as libraries they would cost the start
# of every verb.
add_library(mcpbx_libedit INTERFACE)
find_path(MCPBX_LIBEDIT_INCLUDE histedit.h REQUIRED)
target_include_directories(mcpbx_libedit SYSTEM INTERFACE "${MCPBX_LIBEDIT_INCLUDE}")
foreach(archive libedit libbsd libmd libtinfo)
  find_library(MCPBX_${archive}_ARCHIVE ${archive}.a REQUIRED)
  target_link_libraries(mcpbx_libedit INTERFACE "${MCPBX_${archive}_ARCHIVE}")
endforeach()
find_package(spdlog REQUIRED)
# The reader of other programs' YAML (conf/hosts/read).
find_path(MCPBX_LIBYAML_INCLUDE yaml.h REQUIRED)
# An archive in every build: it is 200 KB, and `mcpbx` then loads no library for verbs that never need it.
find_library(MCPBX_LIBYAML NAMES libyaml.a yaml REQUIRED)
add_library(mcpbx_libyaml INTERFACE)
target_include_directories(mcpbx_libyaml SYSTEM INTERFACE "${MCPBX_LIBYAML_INCLUDE}")
target_link_libraries(mcpbx_libyaml INTERFACE "${MCPBX_LIBYAML}")
find_package(CLI11 REQUIRED)

find_program(MCPBX_CCACHE ccache)
if(MCPBX_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${MCPBX_CCACHE}")
  if(MCPBX_PRECOMPILED)  # such results are kept only if ccache is told so
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${MCPBX_CCACHE}")
  endif()
endif()

# Files compiled together see each other's unnamed namespaces: a shadow there is none that a reader of one file meets.
add_library(mcpbx_options INTERFACE)
target_compile_features(mcpbx_options INTERFACE cxx_std_23)
target_include_directories(mcpbx_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(mcpbx_options INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  $<$<BOOL:${MCPBX_WERROR}>:-Werror> -ffunction-sections -fdata-sections)
target_compile_definitions(mcpbx_options INTERFACE MCPBX_VERSION="${PROJECT_VERSION}")
target_link_options(mcpbx_options INTERFACE -Wl,--gc-sections)
if(MCPBX_SANITIZE)
  target_compile_options(mcpbx_options INTERFACE -fsanitize=${MCPBX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(mcpbx_options INTERFACE -fsanitize=${MCPBX_SANITIZE})
  if(MCPBX_SANITIZE MATCHES "undefined")
    # UBSan's look at an object's type probes memory through a pipe, so where descriptors have run out (G26) it takes
    # every object for a broken one.
    target_compile_options(mcpbx_options INTERFACE -fno-sanitize=vptr)
  endif()
endif()
if(MCPBX_FUZZ)
  # A fuzz target explores the product, not the code of the tests.
  target_compile_options(mcpbx_options INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TEST_CODE>>>:-fsanitize=fuzzer-no-link>)
endif()
if(MCPBX_STATIC)
  target_link_options(mcpbx_options INTERFACE -static-libstdc++ -static-libgcc)
endif()

# A round of the loop runs once through much code, and most of the time is spent fetching that code: knowing which ways
# are taken, the compiler lays them side by side, and a round costs a third less. Code that was not trained, or has
# changed since, is compiled in the usual way.
if(MCPBX_TRAINING)
  target_compile_options(mcpbx_options INTERFACE -fprofile-generate=${PROJECT_BINARY_DIR}/counted)
  target_link_options(mcpbx_options INTERFACE -fprofile-generate=${PROJECT_BINARY_DIR}/counted)
elseif(MCPBX_TRAINED)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "MCPBX_TRAINED needs clang; build without it, or with the preset's compiler.")
  endif()
  set(profile "${PROJECT_BINARY_DIR}/trained.profdata")
  add_custom_command(OUTPUT "${profile}" COMMAND "${PROJECT_SOURCE_DIR}/scripts/train" "${profile}"
                     COMMENT "Finding out what the programs do most" USES_TERMINAL VERBATIM)
  add_custom_target(mcpbx_training DEPENDS "${profile}")
  # Code that the benchmark does not reach is compiled for speed, too, since other people may use it.
  set(MCPBX_TRAINED_OPTIONS -fprofile-use=${profile} "SHELL:-mllvm -pgso=false"
    -Wno-profile-instr-unprofiled -Wno-profile-instr-out-of-date -Wno-backend-plugin)
endif()

# Every user of Boost must see the same switches: Asio, Beast and Process are compiled once (mcp/async, mcp/http,
# mcp/process hold the one source file of each), and Process v2 takes std::filesystem.
add_library(mcpbx_boost INTERFACE)
target_link_libraries(mcpbx_boost INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(mcpbx_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_PROCESS_V2_SEPARATE_COMPILATION
  BOOST_PROCESS_USE_STD_FS BOOST_ASIO_NO_DEPRECATED)

# A round of the loop has about a dozen operations open on its one thread; Asio keeps two blocks of each kind for the next
# ones unless told otherwise. Sanitizers are to see each block freed.
if(NOT MCPBX_SANITIZE)
  target_compile_definitions(mcpbx_boost INTERFACE BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=16)
endif()

# spdlog and the fmt it stands on, both as headers: the daemon then needs no libfmt.so, which would bring a second
# libstdc++ into every process.
add_library(mcpbx_spdlog INTERFACE)
target_include_directories(mcpbx_spdlog SYSTEM INTERFACE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(mcpbx_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

# Compiles the target with the counts of the training, if there is one, and therefore after it.
function(mcpbx_trained name)
  if(TARGET mcpbx_training)
    target_compile_options(${name} PRIVATE ${MCPBX_TRAINED_OPTIONS})
    add_dependencies(${name} mcpbx_training)
  endif()
endfunction()

# Sets `out` to the rooms directly in a folder: providers/wire/ollama and so on.
function(mcpbx_rooms_in folder out)
  file(GLOB rooms RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*/CMakeLists.txt")
  list(TRANSFORM rooms REPLACE "/CMakeLists.txt$" "")
  list(SORT rooms)
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()

# mcpbx_add_rooms(providers/wire): adds all rooms directly in that folder, so that a new one needs no line above it.
function(mcpbx_add_rooms folder)
  mcpbx_rooms_in(${folder} rooms)
  foreach(room IN LISTS rooms)
    add_subdirectory("${PROJECT_SOURCE_DIR}/${room}")
  endforeach()
endfunction()

# mcpbx_precompile(name HEADERS… LINKS…): parses these headers, and those that most sources include, once for all targets that
# have the same options. The preset `dev` goes without, so that a source which lacks an include does not compile there, nor
# where scripts/lint has clang-tidy look at it.
function(mcpbx_precompile name)
  cmake_parse_arguments(arg "" "" "HEADERS;LINKS" ${ARGN})
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${name}.cpp" CONTENT "")
  add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/${name}.cpp")
  target_link_libraries(${name} PRIVATE ${arg_LINKS})
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(${name} PRIVATE
    <algorithm> <array> <charconv> <chrono> <deque> <expected> <functional> <map> <memory> <optional> <set> <span> <string>
    <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector> ${arg_HEADERS})
endfunction()

if(MCPBX_PRECOMPILED)
  mcpbx_precompile(mcpbx_precompiled LINKS mcpbx_options mcpbx_boost)
  mcpbx_trained(mcpbx_precompiled)
endif()

# mcpbx_layer(mcp_json PUBLIC raw_json.hpp LINKS mcp_support)
# A room is a folder and a static library of all sources in it, which links only what scripts/layers.txt allows it. PUBLIC
# names the headers that other rooms may include (scripts/check-layers sees to it); the others are the room's own. Headers
# must compile alone: one with a source of its own does so there, as that source's first include; the others are compiled by
# all_verify_interface_header_sets.
# LINKS takes `folder/*` for all rooms directly in that folder, but the room itself.
function(mcpbx_layer name)
  cmake_parse_arguments(arg "" "" "PUBLIC;LINKS" ${ARGN})
  set(links)
  foreach(link IN LISTS arg_LINKS)
    if(link MATCHES "^(.+)/\\*$")
      mcpbx_rooms_in("${CMAKE_MATCH_1}" rooms)
      list(TRANSFORM rooms REPLACE "/" "_")
      list(REMOVE_ITEM rooms ${name})
      list(APPEND links ${rooms})
    else()
      list(APPEND links ${link})
    endif()
  endforeach()
  file(GLOB sources RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS *.cpp)
  file(GLOB headers RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS *.hpp)
  add_library(${name} STATIC ${sources})
  set(alone ${headers})
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "\\.cpp$" ".hpp" header "${source}")
    list(REMOVE_ITEM alone "${header}")
  endforeach()
  target_sources(${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_PUBLIC}
    FILE_SET alone TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${alone})
  target_link_libraries(${name} PUBLIC mcpbx_options mcpbx_boost ${links})
  mcpbx_trained(${name})
  if(TARGET mcpbx_precompiled)
    target_precompile_headers(${name} REUSE_FROM mcpbx_precompiled)
  endif()
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY alone
                                           LINKER_LANGUAGE CXX)
endfunction()

# mcpbx_program(mcpbxd SOURCES mcpbxd.cpp LINKS daemon_app)
function(mcpbx_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mcpbx_options ${arg_LINKS})
  mcpbx_trained(${name})
endfunction()
