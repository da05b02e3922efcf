# tensorbraid_sources(FILE...): adds files of this folder to the library.
function(tensorbraid_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(tensorbraid PRIVATE ${ARGN})
endfunction()

# What is tested is optimised, the tests themselves are not: half of the time to compile them.
set(TENSORBRAID_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)

# tensorbraid_test(NAME [SLOW] [NO_TSAN] FILE...): one GoogleTest binary, one ctest entry.
# Fast tests (the default) together stay under a minute; SLOW ones start processes or compare at length. NO_TSAN is for
# tests that go through gRPC, which Debian builds without ThreadSanitizer: it reports races there that are none.
function(tensorbraid_test name)
  if(NOT TENSORBRAID_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SLOW;NO_TSAN" "" "" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tensorbraid_internal GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${TENSORBRAID_TEST_OPTIONS})
  if(TENSORBRAID_PRECOMPILE)
    target_precompile_headers(${name} REUSE_FROM tensorbraid_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_SLOW)
    set(labels slow)
    set(timeout 300)
  else()
    set(labels fast)
    set(timeout 120)
  endif()
  if(ARG_NO_TSAN)
    list(APPEND labels notsan)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
endfunction()

# tensorbraid_example_test(NAME EXPECTED COMMAND...): runs an example from the root of the source tree, as a reader would;
# it must end with 0 and print what the regular expression EXPECTED fits.
function(tensorbraid_example_test name expected)
  if(TENSORBRAID_BUILD_TESTS)
    add_test(NAME ${name}
             COMMAND ${CMAKE_COMMAND} -DEXPECTED=${expected} "-DCOMMAND=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/RunExample.cmake
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT 120)
  endif()
endfunction()

# tensorbraid_benchmark_smoke(NAME COMMAND...): a run of a benchmark that is long enough to show that it works, with the
# label `bench`. CI runs these; `make test` does not, since what they measure there would mean nothing.
function(tensorbraid_benchmark_smoke name)
  if(TENSORBRAID_BUILD_TESTS)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS bench TIMEOUT 300)
  endif()
endfunction()

# tensorbraid_proto(FILE...): adds protobuf messages of this folder to the library. The generated header is included as
# "folder/file.pb.h", by .cc files only: no header of ours shows protobuf.
function(tensorbraid_proto)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  set(out ${PROJECT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out}/${folder})
  foreach(proto ${ARGN})
    get_filename_component(stem ${proto} NAME_WE)
    set(generated ${out}/${folder}/${stem}.pb.cc ${out}/${folder}/${stem}.pb.h)
    add_custom_command(
      OUTPUT ${generated}
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/src --cpp_out=${out} ${folder}/${proto}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
      VERBATIM)
    # The target lives in src/CMakeLists.txt; a custom target carries the files there.
    string(REPLACE "/" "_" target proto_${folder}_${stem})
    add_custom_target(${target} DEPENDS ${generated})
    add_dependencies(tensorbraid ${target})
    set_source_files_properties(${generated} TARGET_DIRECTORY tensorbraid PROPERTIES GENERATED TRUE)
    target_sources(tensorbraid PRIVATE ${out}/${folder}/${stem}.pb.cc)
    target_include_directories(tensorbraid SYSTEM PRIVATE ${out})
  endforeach()
endfunction()
