# Toolchain for aarch64 with Debian's cross compiler. Programs run under qemu-user.
#
#   tests/campaign/aarch64_sysroot build/aarch64-root
#   cmake --preset aarch64
#
# Needs the packages g++-aarch64-linux-gnu and qemu-user-static.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CFILE_AARCH64_ROOT "" CACHE PATH "Folder that tests/campaign/aarch64_sysroot has filled")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CFILE_AARCH64_ROOT)
set(CMAKE_SYSROOT ${CFILE_AARCH64_ROOT})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CFILE_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CFILE_AARCH64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${CFILE_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CFILE_AARCH64_ROOT}/usr/lib/pkgconfig:${CFILE_AARCH64_ROOT}/usr/share/pkgconfig)
