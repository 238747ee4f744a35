# The installed files, and the Debian package that cpack makes of them. scripts/package calls cpack, twice, and looks at the
# result; the tarball is made there from the same rules.
include(GNUInstallDirs)

set(MCPBX_MAINTAINER "the mcpbx authors <mcpbx@example.org>" CACHE STRING
  "Name and address in the Debian package; publishers put theirs here (the default is a stand-in)")

option(MCPBX_ALONE "Link OpenSSL and zlib statically as well: programs that need libc only, for the tarball" OFF)
if(MCPBX_ALONE)
  # Only the link changes, so that one build serves the package and the tarball.
  find_library(MCPBX_SSL_ARCHIVE libssl.a REQUIRED)
  find_library(MCPBX_CRYPTO_ARCHIVE libcrypto.a REQUIRED)
  find_library(MCPBX_ZLIB_ARCHIVE libz.a REQUIRED)
  set_target_properties(OpenSSL::SSL PROPERTIES IMPORTED_LOCATION "${MCPBX_SSL_ARCHIVE}")
  set_target_properties(OpenSSL::Crypto PROPERTIES IMPORTED_LOCATION "${MCPBX_CRYPTO_ARCHIVE}"
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS};Threads::Threads")
  # CMake's own module knows zlib's place by configuration, which counts for more.
  set_target_properties(ZLIB::ZLIB PROPERTIES IMPORTED_LOCATION "${MCPBX_ZLIB_ARCHIVE}"
    IMPORTED_LOCATION_RELEASE "${MCPBX_ZLIB_ARCHIVE}")
endif()

# mcpbx_packages(): to be called when all targets are known.
function(mcpbx_packages)
  set(made "${PROJECT_BINARY_DIR}/made")
  set(doc "${CMAKE_INSTALL_DATAROOTDIR}/doc/mcpbx")
  install(TARGETS mcpbx mcpbxd mcpbx-toolbox RUNTIME COMPONENT all)
  install(DIRECTORY "${made}/man/" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/man" COMPONENT all)
  install(DIRECTORY "${made}/completion/bash/" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions" COMPONENT all)
  install(DIRECTORY "${made}/completion/zsh/" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions" COMPONENT all)
  install(DIRECTORY "${made}/completion/fish/" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d" COMPONENT all)
  install(FILES conf/mcpbx.schema.json DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/mcpbx" COMPONENT all)
  install(DIRECTORY conf/samples/ DESTINATION "${doc}/examples" COMPONENT all)
  file(GLOB guides CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
  install(FILES ${guides} DESTINATION "${doc}/docs" COMPONENT all)
  install(DIRECTORY docs/clients docs/schemas DESTINATION "${doc}/docs" COMPONENT all)
  install(FILES README.md DESTINATION "${doc}" COMPONENT all)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/debian/doc/" DESTINATION "${doc}" COMPONENT all)
  # The units name /usr/bin, so they are for packages; `mcpbx service enable` writes those of the tarball.
  install(DIRECTORY "${made}/systemd/" DESTINATION lib/systemd COMPONENT debian)
  install(FILES packaging/debian/lintian-overrides DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides" RENAME mcpbx
          COMPONENT debian)

  # Texts that Debian asks for; the date of the release is that of the commit.
  set(MCPBX_RELEASE_DATE "Thu, 01 Jan 1970 00:00:00 +0000")
  if(DEFINED ENV{SOURCE_DATE_EPOCH})
    string(TIMESTAMP MCPBX_RELEASE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
  endif()
  configure_file(packaging/debian/changelog.in "${PROJECT_BINARY_DIR}/debian/changelog.Debian" @ONLY)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/debian/doc")
  add_custom_target(package_texts
    COMMAND sh -c "gzip -9nc '${PROJECT_BINARY_DIR}/debian/changelog.Debian' >doc/changelog.Debian.gz"
    COMMAND sh -c "gzip -9nc '${PROJECT_SOURCE_DIR}/CHANGELOG.md' >doc/changelog.gz"
    COMMAND sh -c "cat '${PROJECT_SOURCE_DIR}/packaging/debian/copyright' >doc/copyright"
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/debian" COMMENT "Writing the texts of the package" VERBATIM)
  add_custom_target(package_files DEPENDS mcpbx mcpbxd mcpbx-toolbox made_files package_texts)

  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME mcpbx)
  set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
  set(CPACK_PACKAGE_CONTACT "${MCPBX_MAINTAINER}")
  set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/package")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_SET_DESTDIR OFF)
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_THREADS 1)  # more of them cut the data of xz into blocks
  set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/one_time.cmake")
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
  set(CPACK_DEBIAN_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libpq5")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exchange between programs, language models and MCP tool servers")
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"One daemon of a person starts the tool servers of the Model Context
Protocol (MCP) once for all programs, speaks with language models and lets
them use the tools. Programs reach it through a socket, as an MCP server or
as an API; people through the command mcpbx.
.
It starts when it is needed and ends when it is not. mcpbx-toolbox is a
small tool server to begin with.")
  include(CPack)
endfunction()
