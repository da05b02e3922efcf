# tensorbraid_unity(TARGET UNIT_SIZE [BY_FOLDER] FILE...): with TENSORBRAID_UNITY the files are compiled together, in units
# of the same size, at most UNIT_SIZE files each. That saves work, since headers are read and templates instantiated once
# for all files of a unit. The files of a unit share their anonymous namespaces, so a name there must be unique in its
# layer. BY_FOLDER: the files of different folders are not compiled together, so it must be unique in its folder only. A
# file with compiler options of its own is still compiled alone.
function(tensorbraid_unity target unit_size)
  cmake_parse_arguments(ARG "BY_FOLDER" "" "" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TENSORBRAID_UNITY} UNITY_BUILD_MODE GROUP)
  set(folders unit)
  foreach(source ${ARG_UNPARSED_ARGUMENTS})
    set(folder unit)
    if(ARG_BY_FOLDER)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME folder)
      list(APPEND folders ${folder})
    endif()
    list(APPEND files_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH files_${folder} count)
    math(EXPR units "(${count} + ${unit_size} - 1) / ${unit_size}")
    set(number 0)
    foreach(source ${files_${folder}})
      math(EXPR unit "${number} * ${units} / ${count}")
      math(EXPR number "${number} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
    endforeach()
  endforeach()
endfunction()

# tensorbraid_headers(NAME HEADER... [OPTIONS option...]): with TENSORBRAID_UNITY, headers that layers with these compiler
# options read precompiled (HEADERS NAME in tensorbraid_layer). A layer with other options needs headers of its own, since
# GCC compiles a file that reads a precompiled header with the options of the header.
function(tensorbraid_headers name)
  if(NOT TENSORBRAID_UNITY)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "OPTIONS" ${ARGN})
  set(target tensorbraid_${name}_headers)
  file(CONFIGURE OUTPUT ${target}.cc CONTENT "")
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cc)
  target_link_libraries(${target} PRIVATE tensorbraid_build)
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  list(TRANSFORM ARG_UNPARSED_ARGUMENTS REPLACE "^([^<].*)" "${PROJECT_SOURCE_DIR}/src/\\1")
  target_precompile_headers(${target} PRIVATE ${ARG_UNPARSED_ARGUMENTS})
endfunction()

# tensorbraid_layer(NAME [FOLDERS folder...] [UNIT_SIZE n] [BY_FOLDER] [HEADERS name] [OPTIONS option...]): compiles the
# sources below this folder (or in FOLDERS alone, "." for this one) into the library. Files that end in _test.cc are left
# out. OPTIONS are for the compiler. UNIT_SIZE (default: 40), BY_FOLDER: see tensorbraid_unity. HEADERS: those of
# tensorbraid_headers, which must have the same OPTIONS.
function(tensorbraid_layer name)
  cmake_parse_arguments(ARG "BY_FOLDER" "UNIT_SIZE;HEADERS" "FOLDERS;OPTIONS" ${ARGN})
  if(NOT ARG_UNIT_SIZE)
    set(ARG_UNIT_SIZE 40)
  endif()
  if(ARG_FOLDERS)
    list(TRANSFORM ARG_FOLDERS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*.cc")
    file(GLOB sources CONFIGURE_DEPENDS ${ARG_FOLDERS})
    list(TRANSFORM sources REPLACE "/\\./" "/")
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  endif()
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  set(target tensorbraid_${name})
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE tensorbraid_build)
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  set(by_folder)
  if(ARG_BY_FOLDER)
    set(by_folder BY_FOLDER)
  endif()
  tensorbraid_unity(${target} ${ARG_UNIT_SIZE} ${by_folder} ${sources})
  if(ARG_HEADERS AND TENSORBRAID_UNITY)
    target_precompile_headers(${target} REUSE_FROM tensorbraid_${ARG_HEADERS}_headers)
  endif()
  tensorbraid_objects(${target} ${ARG_OPTIONS})
endfunction()

# tensorbraid_objects(TARGET [option...]): puts the objects of a target, compiled with these options, into the library. Of
# an inline function that several objects define, the linker takes the first. So objects that are optimised less come
# last: tensorbraid_last_objects() puts them there.
function(tensorbraid_objects target)
  if("${ARGN}" MATCHES "-O[1g]")
    set_property(GLOBAL APPEND PROPERTY TENSORBRAID_LAST_OBJECTS $<TARGET_OBJECTS:${target}>)
  else()
    target_sources(tensorbraid PRIVATE $<TARGET_OBJECTS:${target}>)
  endif()
endfunction()

function(tensorbraid_last_objects)
  get_property(objects GLOBAL PROPERTY TENSORBRAID_LAST_OBJECTS)
  target_sources(tensorbraid PRIVATE ${objects})
endfunction()

# Compiler options of code that has no loops over elements, but may run in a step: faster to compile.
set(TENSORBRAID_COLD_OPTIONS $<$<CONFIG:Release>:-O1>)
# Of code that runs while a graph is built, and of commands and what starts and watches tasks. GCC compiles it a quarter
# faster with -Og than with -O1, because it leaves out most of the analyses of whole functions.
set(TENSORBRAID_RARE_OPTIONS $<$<CONFIG:Release>:$<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O1>>)

# Of the library and of the program. Calls between functions of the library need no look-up, since no other library replaces
# them.
set(TENSORBRAID_CODE_OPTIONS -fvisibility-inlines-hidden $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)

# tensorbraid_command_code(TARGET UNIT_SIZE FILE...): compiles the files of a target as the layers that build graphs are
# compiled (TENSORBRAID_RARE_OPTIONS), with the precompiled headers of these layers. It is for code that the program needs
# and the library does not: commands, and what starts and watches tasks. UNIT_SIZE: see tensorbraid_unity.
function(tensorbraid_command_code target unit_size)
  target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/proto)
  target_compile_options(${target} PRIVATE ${TENSORBRAID_RARE_OPTIONS} ${TENSORBRAID_CODE_OPTIONS})
  tensorbraid_unity(${target} ${unit_size} ${ARGN})
  if(TENSORBRAID_UNITY)
    target_precompile_headers(${target} REUSE_FROM tensorbraid_cold_headers)
  endif()
endfunction()

# tensorbraid_proto(FILE...): compiles protobuf messages of this folder into the library. The generated header is included
# as "folder/file.pb.h", by .cc files only: no header of ours shows protobuf.
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
    # Every layer depends on the generated headers (see src/CMakeLists.txt). A dependency between folders must be a target.
    string(REPLACE "/" "_" target proto_${folder}_${stem})
    add_custom_target(${target} DEPENDS ${generated})
    add_dependencies(tensorbraid_headers ${target})
    set_source_files_properties(${generated} TARGET_DIRECTORY tensorbraid_proto PROPERTIES GENERATED TRUE)
    target_sources(tensorbraid_proto PRIVATE ${out}/${folder}/${stem}.pb.cc)
  endforeach()
endfunction()

# Seconds after which a test is ended. No test takes so long, but one that hangs; on a machine that does much else, some
# take ten minutes.
set(TENSORBRAID_TEST_TIMEOUT 1800)

# Tests are not optimised, which halves the time to compile them. The library that they test is optimised.
set(TENSORBRAID_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)

# Variables of the environment of tests that start Python: its compiled files are kept in the build folder. Without them,
# each process compiles the 430 modules of the package, which is more than half of the time of its import.
set(TENSORBRAID_PYTHON_CACHE PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/pycache)

# tensorbraid_test_code(TARGET UNIT_SIZE): compiles the files of a target as tests are compiled. With TENSORBRAID_UNITY they
# are compiled together, in units of the same size, at most UNIT_SIZE files each, and read the precompiled headers of
# tests. So a name in an anonymous namespace must be unique in its target.
function(tensorbraid_test_code target unit_size)
  target_compile_options(${target} PRIVATE ${TENSORBRAID_TEST_OPTIONS})
  if(TENSORBRAID_BUILD_TESTS)
    target_link_libraries(${target} PRIVATE GTest::gtest GTest::gmock)
  endif()
  if(NOT TENSORBRAID_UNITY OR NOT TENSORBRAID_BUILD_TESTS)
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "\\.cc$")
  list(LENGTH files count)
  math(EXPR units "(${count} + ${unit_size} - 1) / ${unit_size}")
  math(EXPR batch "(${count} + ${units} - 1) / ${units}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE ${batch})
  target_precompile_headers(${target} REUSE_FROM tensorbraid_test_headers)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    # With the options of a program, or it could not read the headers.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIE)
  endif()
endfunction()

# tensorbraid_test_library(NAME FILE...): code that tests share, compiled once.
function(tensorbraid_test_library name)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${name} PUBLIC tensorbraid_internal)
  tensorbraid_test_code(${name} 8)
endfunction()

# tensorbraid_test(NAME [SLOW | LONG] [NO_TSAN] [UNIT_SIZE n] FILE...): one GoogleTest binary, one ctest entry.
# Tests are fast by default: all fast ones together take less than a minute. SLOW ones start processes or compare many
# cases. LONG ones take so long for the processor that `make test` does without them: `make test_long` builds the target
# long_tests and runs them. NO_TSAN is for tests in which ThreadSanitizer finds nothing: those without threads, and those that use gRPC, which
# Debian builds without ThreadSanitizer, so that it reports false races. UNIT_SIZE (default: 8): see tensorbraid_test_code.
# An object costs a second or two before the first test, so small files share large units; one takes about ten seconds.
#
# The presets asan and tsan build the target sanitized_tests: the tests that they run, and nothing else.
add_custom_target(sanitized_tests)
add_custom_target(long_tests)
function(tensorbraid_test name)
  if(NOT TENSORBRAID_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SLOW;LONG;NO_TSAN" "UNIT_SIZE" "" ${ARGN})
  if(NOT ARG_UNIT_SIZE)
    set(ARG_UNIT_SIZE 8)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  tensorbraid_test_code(${name} ${ARG_UNIT_SIZE})
  target_link_libraries(${name} PRIVATE tensorbraid_internal GTest::gtest_main)
  # A test finds the new library when it starts: it is linked again only if a header that it includes has changed.
  set_target_properties(${name} PROPERTIES LINK_DEPENDS_NO_SHARED ON)
  add_test(NAME ${name} COMMAND ${name})
  set(cost 0)
  if(ARG_SLOW)
    set(labels slow)
    set(cost 100)
  elseif(ARG_LONG)
    set(labels slow long)
    set(cost 100)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(long_tests ${name})
  else()
    set(labels fast)
  endif()
  if(ARG_NO_TSAN)
    list(APPEND labels notsan)
  endif()
  if(NOT ARG_SLOW AND NOT ARG_LONG AND NOT (ARG_NO_TSAN AND TENSORBRAID_SANITIZE MATCHES thread))
    add_dependencies(sanitized_tests ${name})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${TENSORBRAID_TEST_TIMEOUT} COST ${cost})
endfunction()

# tensorbraid_test_apart(PROGRAM NAME SUITE...): the tests of these suites become a ctest entry of their own, NAME, with the
# labels of the program's entry: they take long, or need a process of their own. Several SUITEs run in one process.
# Patterns are those of --gtest_filter, without the name of the test.
function(tensorbraid_test_apart program name)
  if(NOT TENSORBRAID_BUILD_TESTS)
    return()
  endif()
  list(TRANSFORM ARGN APPEND ".*" OUTPUT_VARIABLE suites)
  list(JOIN suites ":" filter)
  add_test(NAME ${name} COMMAND ${program} --gtest_filter=${filter})
  foreach(property LABELS TIMEOUT COST)
    get_test_property(${program} ${property} value)
    set_tests_properties(${name} PROPERTIES ${property} "${value}")
  endforeach()
  set_property(TARGET ${program} APPEND_STRING PROPERTY TENSORBRAID_SUITES_APART ":${filter}")
  get_target_property(apart ${program} TENSORBRAID_SUITES_APART)
  string(SUBSTRING "${apart}" 1 -1 apart)
  set_tests_properties(${program} PROPERTIES ENVIRONMENT "GTEST_FILTER=-${apart}")
endfunction()

# tensorbraid_test_on_networks(NAME [NETWORK...]): runs a test that uses TestCluster again on the simulated network, with
# shared memory, over gRPC, and on further networks.
function(tensorbraid_test_on_networks name)
  if(TENSORBRAID_BUILD_TESTS)
    foreach(network sim local grpc ${ARGN})
      add_test(NAME ${name}_${network} COMMAND ${name})
      set_tests_properties(${name}_${network} PROPERTIES LABELS slow TIMEOUT ${TENSORBRAID_TEST_TIMEOUT}
                           ENVIRONMENT TENSORBRAID_TEST_NETWORK=${network})
    endforeach()
  endif()
endfunction()

# tensorbraid_example_test(NAME EXPECTED COMMAND...): runs an example from the root of the source tree, as a reader would.
# The example must exit with 0 and its output must match the regular expression EXPECTED.
function(tensorbraid_example_test name expected)
  if(TENSORBRAID_BUILD_TESTS)
    add_test(NAME ${name}
             COMMAND ${CMAKE_COMMAND} -DEXPECTED=${expected} "-DCOMMAND=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/RunExample.cmake
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT ${TENSORBRAID_TEST_TIMEOUT})
  endif()
endfunction()

# tensorbraid_benchmark_smoke(NAME COMMAND...): a short run of a benchmark, which shows that it works. It has the label
# `bench`. CI runs these tests; `make test` does not.
function(tensorbraid_benchmark_smoke name)
  if(TENSORBRAID_BUILD_TESTS)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS bench TIMEOUT ${TENSORBRAID_TEST_TIMEOUT})
  endif()
endfunction()

