# tensorbraid_sources(FILE...): adds files of this folder to the library.
function(tensorbraid_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(tensorbraid PRIVATE ${ARGN})
endfunction()

# tensorbraid_test(NAME [SLOW] FILE...): one GoogleTest binary, one ctest entry.
# Fast tests (the default) together stay under a minute; SLOW ones start processes or compare at length.
function(tensorbraid_test name)
  if(NOT TENSORBRAID_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SLOW" "" "" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tensorbraid_internal GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_SLOW)
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT 300)
  else()
    set_tests_properties(${name} PROPERTIES LABELS fast TIMEOUT 120)
  endif()
endfunction()
