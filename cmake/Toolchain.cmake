# Compiler settings of all our targets.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "Clang ${CMAKE_CXX_COMPILER_VERSION} cannot compile this project, which uses C++20 features that Clang "
                      "has since version 16. Use GCC 12 or Clang 16: cmake -DCMAKE_CXX_COMPILER=g++ or =clang++-16")
endif()
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
  # In depend mode, ccache does not run the preprocessor before it compiles a new file. The sloppiness settings are those
  # that ccache requires for precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
      ${CCACHE})
  if(TENSORBRAID_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  elseif(TENSORBRAID_UNITY)
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

# gold links the test programs in half the time of binutils' default linker.
find_program(GOLD_LINKER ld.gold)
if(GOLD_LINKER)
  add_link_options(-fuse-ld=gold)
endif()

# Some dependencies ask for -pthread, so all targets get it: a precompiled header can be used only with equal options.
add_compile_options(-pthread -Wall -Wextra -Wno-unused-parameter -fdiagnostics-color=auto)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false errors in Abseil's InlinedVector.
  add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds)
  # By default, GCC searches its memory for garbage again and again above 128 MB. With 400 MB a file takes 5 to 30 % less
  # time, and at most 1 GB instead of 0.75.
  add_compile_options("SHELL:--param ggc-min-heapsize=400000" "SHELL:--param ggc-min-expand=200")
else()
  add_compile_options(-Wno-unknown-pragmas -Wthread-safety)  # checks the lock annotations of core/threads/mutex.h
endif()
if(TENSORBRAID_WERROR)
  add_compile_options(-Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # These warnings depend on inlining and are often wrong, so they do not become errors.
    foreach(warning aggressive-loop-optimizations alloc-size-larger-than= dangling-pointer format-overflow format-truncation
                    free-nonheap-object mismatched-new-delete nonnull restrict return-local-addr
                    stringop-overread stringop-truncation uninitialized use-after-free)
      add_compile_options(-Wno-error=${warning})
    endforeach()
  endif()
endif()
if(TENSORBRAID_ARCH)
  add_compile_options(-march=${TENSORBRAID_ARCH})
endif()
if(TENSORBRAID_SANITIZE)
  add_compile_options(-fsanitize=${TENSORBRAID_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TENSORBRAID_SANITIZE})
  if(TENSORBRAID_SANITIZE MATCHES undefined AND NOT TENSORBRAID_SANITIZE MATCHES fuzzer)
    # These checks are added at nearly every access to memory and call of a member: they take a third of the time to
    # compile, and slow the tests. AddressSanitizer reports the use of a null pointer anyway. The preset fuzz has all checks.
    # Eigen converts floats to integers that cannot hold them.
    add_compile_options(-fno-sanitize=null,alignment,object-size,pointer-overflow,vptr,float-cast-overflow)
  endif()
  # Compilers define different macros for a sanitizer. So our tests use macros of their own.
  if(TENSORBRAID_SANITIZE MATCHES address)
    add_compile_definitions(TENSORBRAID_ASAN=1)
  elseif(TENSORBRAID_SANITIZE MATCHES thread)
    # With GCC's macro for ThreadSanitizer, protobuf's headers define classes of another layout than in Debian's library.
    # So this macro is undefined, and _GLIBCXX_TSAN tells the standard library of the sanitizer.
    add_compile_options(-U__SANITIZE_THREAD__)
    add_compile_definitions(_GLIBCXX_TSAN=1 TENSORBRAID_TSAN=1)
  endif()
endif()
