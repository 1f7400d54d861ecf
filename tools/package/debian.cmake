# `cpack` makes Debian packages: libcfileVERSION, libcfile-dev, cfile-tools, and a package for each optional library.
# VERSION is the version of the library's interface.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cfile)
set(CPACK_PACKAGE_VENDOR cfile)
set(CPACK_PACKAGE_CONTACT ${CFILE_PACKAGE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/debian_files.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_COMPONENTS_ALL runtime development)
set(deb_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(about "cfile stores tables by column, in the format of Apache Kudu's CFile. Values\nare found by row number and by key; scans skip the blocks that cannot match.\n\n")

# cfile_deb(COMPONENT PACKAGE SECTION SUMMARY TEXT DEPENDS...)
macro(cfile_deb component package section summary text)
  string(TOUPPER ${component} upper)
  set(depends ${ARGN})
  list(JOIN depends ", " depends)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS ${depends})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${about}${text}")
endmacro()
file(CONFIGURE OUTPUT triggers CONTENT "activate-noawait ldconfig\n" @ONLY)
# dpkg-shlibdeps does not see that packed relocations need this version of glibc.
set(glibc "")
if(CFILE_PACKED_RELOCATIONS)
  set(glibc "libc6 (>= 2.36)")
endif()
cfile_deb(runtime libcfile${CFILE_SOVERSION} libs "columnar files: one typed column per file" "This package contains the library."
          ${glibc})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/triggers)
set(optional_packages "")
foreach(name ${optional_libraries})
  string(REPLACE _ - dashes ${name})
  set(package libcfile-${dashes}${CFILE_SOVERSION})
  list(APPEND CPACK_COMPONENTS_ALL runtime_${name})
  list(APPEND optional_packages "${package} (= ${deb_version})")
  cfile_deb(runtime_${name} ${package} libs "columnar files: ${name}" "This package contains the optional library cfile::${name}."
            "libcfile${CFILE_SOVERSION} (= ${deb_version})") # which needs the same glibc
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/triggers)
endforeach()
list(REMOVE_DUPLICATES debian_packages)
list(SORT debian_packages)
cfile_deb(development libcfile-dev libdevel "columnar files: development files"
          "This package contains the headers, the static library, and what CMake and\npkg-config need to find them."
          "libcfile${CFILE_SOVERSION} (= ${deb_version})" ${optional_packages} ${debian_packages})
if(CFILE_BUILD_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL tools)
  set(of_library "")
  if(BUILD_SHARED_LIBS)
    set(of_library "libcfile${CFILE_SOVERSION} (= ${deb_version})")
    if(CFILE_WITH_HTTP)
      list(APPEND of_library "libcfile-http${CFILE_SOVERSION} (= ${deb_version})")
    endif()
  endif()
  cfile_deb(tools cfile-tools utils "columnar files: command-line tools"
            "This package contains cfile-import, which makes a table from CSV, JSON,\nArrow IPC or Parquet, cfile-dump, which shows what a file or a table\ncontains, and cfile-table, which keeps a table in order."
            ${of_library})
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
endif()
# dpkg-shlibdeps finds libcfile.so here, not in an installed package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/cfile)

# For debian_files.cmake
set(CPACK_CFILE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
set(CPACK_CFILE_VERSION ${deb_version})
include(CPack)
