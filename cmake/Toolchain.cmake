# Compiler settings every target of ours shares. (GCC 12 sees uninitialised reads in Abseil's InlinedVector that are none.)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What was not compiled before is not preprocessed for ccache's sake too; and what it asks for where headers are
  # precompiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
      ${CCACHE})
  if(TENSORBRAID_PRECOMPILE)
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# Binutils' other linker takes half the time, for dozens of programs.
find_program(GOLD_LINKER ld.gold)
if(GOLD_LINKER)
  add_link_options(-fuse-ld=gold)
endif()

# -pthread for all, as some dependencies ask for it: a precompiled header is read only with the options it was made with.
add_compile_options(-pthread -Wall -Wextra -Wno-unused-parameter -fdiagnostics-color=auto)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 takes the two lives of Abseil's inlined vectors for one.
  add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds)
else()
  add_compile_options(-Wno-unknown-pragmas)
endif()
if(TENSORBRAID_ARCH)
  add_compile_options(-march=${TENSORBRAID_ARCH})
endif()
if(TENSORBRAID_SANITIZE)
  add_compile_options(-fsanitize=${TENSORBRAID_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TENSORBRAID_SANITIZE})
  if(TENSORBRAID_SANITIZE MATCHES thread)
    # Headers of protobuf lay out their classes otherwise under ThreadSanitizer, unlike the library as Debian builds it:
    # they must not see the compiler's macro. The standard library's headers, and our tests, may know.
    add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1 -DTENSORBRAID_TSAN=1)
  endif()
endif()
