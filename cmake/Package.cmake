# Debian packages, by CPack: `tensorbraid` (library, program, systemd unit, completions, man pages) and `tensorbraid-dev`
# (headers, CMake package). scripts/make_package makes them. The components of cmake/Install.cmake are their contents, and
# the files below, which only a package has.
set(from ${PROJECT_SOURCE_DIR}/deploy/package)
set(release 1)  # of the packages of one version
set(maintainer "Tensorbraid maintainers <maintainers@tensorbraid.example>")
set(made ${PROJECT_BINARY_DIR}/package)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT ${made}/changelog.Debian CONTENT
"tensorbraid (@PROJECT_VERSION@-@release@) stable; urgency=medium

  * Release @PROJECT_VERSION@: see changelog.gz.

 -- @maintainer@  @date@
" @ONLY)
file(CONFIGURE OUTPUT ${made}/shlibs CONTENT
     "libtensorbraid @PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@ tensorbraid (>= @PROJECT_VERSION@)\n" @ONLY)
file(CONFIGURE OUTPUT ${made}/triggers CONTENT "activate-noawait ldconfig\n")
# Needs help2man and gzip.
add_custom_target(package_files
  COMMAND ${from}/make_man $<TARGET_FILE:tensorbraid_program> ${PROJECT_VERSION} ${made}/man
  COMMAND sh -c "gzip -9nc '${PROJECT_SOURCE_DIR}/CHANGELOG.md' > '${made}/changelog.gz'"
  COMMAND sh -c "gzip -9nc '${made}/changelog.Debian' > '${made}/changelog.Debian.gz'"
  DEPENDS tensorbraid_program VERBATIM)

macro(package_file component file directory name)
  install(FILES ${file} DESTINATION ${directory} RENAME ${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()
install(DIRECTORY ${made}/man/ DESTINATION share/man/man1 COMPONENT runtime EXCLUDE_FROM_ALL)
package_file(runtime ${from}/tensorbraid@.service lib/systemd/system tensorbraid@.service)
package_file(runtime ${from}/completion.bash share/bash-completion/completions tensorbraid)
package_file(runtime ${from}/completion.zsh share/zsh/vendor-completions _tensorbraid)
package_file(runtime ${from}/README.md share/doc/tensorbraid README.md)
package_file(runtime ${from}/cluster.env share/doc/tensorbraid/examples cluster.env)
package_file(runtime ${from}/lintian share/lintian/overrides tensorbraid)
foreach(part "runtime;tensorbraid" "development;tensorbraid-dev")
  list(GET part 0 component)
  list(GET part 1 name)
  package_file(${component} ${from}/copyright share/doc/${name} copyright)
  package_file(${component} ${made}/changelog.gz share/doc/${name} changelog.gz)
  package_file(${component} ${made}/changelog.Debian.gz share/doc/${name} changelog.Debian.gz)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_PACKAGE_CONTACT ${maintainer})
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tensorbraid)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${made}/shlibs ${made}/triggers)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"distributed training on parameter servers
Tensorbraid trains models on parameter servers and workers. This package has
the library for C++ programs, the program tensorbraid, which starts and
watches clusters, and a systemd unit for a task.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME tensorbraid-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "tensorbraid (= ${PROJECT_VERSION}-${release}), libabsl-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"distributed training on parameter servers - development files
Headers and the CMake package of Tensorbraid, for programs that train and for
libraries of custom ops.")
include(CPack)
