# `cmake --install` installs the library, its headers, the license, the `tensorbraid` program and a CMake package. With the
# package, other projects call find_package(tensorbraid) and link tensorbraid::tensorbraid. examples/find_package and
# examples/custom_op are such projects, and CI builds them.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tensorbraid)

# The program finds the library relative to itself, so the installed tree can be moved.
set_target_properties(tensorbraid_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

install(TARGETS tensorbraid EXPORT tensorbraidTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(TARGETS tensorbraid_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tensorbraid DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)
install(EXPORT tensorbraidTargets NAMESPACE tensorbraid:: DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tensorbraidConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/tensorbraidConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tensorbraidConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tensorbraidConfig.cmake ${PROJECT_BINARY_DIR}/tensorbraidConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindoneDNN.cmake ${CMAKE_CURRENT_LIST_DIR}/tensorbraidOpLibrary.cmake
        DESTINATION ${package_dir} COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(Package)
endif()
