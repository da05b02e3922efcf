# For wheels: each shared library that Dependencies.cmake has found is replaced by the static one of the same name, from
# TENSORBRAID_STATIC_DEPENDENCIES (python/wheel/build_dependencies) or else from Debian. Only linking changes. So the
# headers are those of the same version that Debian installs.
set(static_folders ${TENSORBRAID_STATIC_DEPENDENCIES}/lib)

# Sets OUT to the static library with this file name, such as "libz.so.1.2.13" or "libz.a".
function(tensorbraid_static_library file out)
  string(REGEX REPLACE "\\.(so|a)(\\.[0-9.]+)?$" ".a" name ${file})
  # Netlib's LAPACK and BLAS, whichever ones the system prefers. liblapack_pic.a is LAPACK for shared objects.
  find_file(TENSORBRAID_STATIC_${name} ${name} HINTS ${static_folders} PATHS ${CMAKE_SYSTEM_LIBRARY_PATH} /usr/lib
            PATH_SUFFIXES blas ${CMAKE_LIBRARY_ARCHITECTURE}/blas ${CMAKE_LIBRARY_ARCHITECTURE} REQUIRED)
  set(${out} ${TENSORBRAID_STATIC_${name}} PARENT_SCOPE)
endfunction()

get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY IMPORTED_TARGETS)
foreach(target ${targets})
  foreach(suffix "" _NONE _RELEASE)
    get_target_property(location ${target} IMPORTED_LOCATION${suffix})
    cmake_path(GET location FILENAME file)
    if(file MATCHES "^lib(absl_|address_sorting|cares|crypto|dnnl|gpr|grpc|grpc\\+\\+|protobuf|re2|ssl|upb|z)[a-z0-9_]*\\.(so|a)")
      tensorbraid_static_library(${file} static)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION${suffix} ${static})
      list(APPEND all_static ${static})
    endif()
  endforeach()
endforeach()

# oneDNN's static library starts no threads, and OpenMP's functions are in shims.c. RE2 is in the list below.
set_target_properties(OpenMP::OpenMP_CXX re2::re2 PROPERTIES INTERFACE_LINK_LIBRARIES "")

set(plain ${TENSORBRAID_PLAIN_LIBRARIES} icudata lapack_pic blas brotlienc brotlidec brotlicommon z)
set(TENSORBRAID_PLAIN_LIBRARIES)
foreach(library ${plain})
  tensorbraid_static_library(lib${library}.a static)
  list(APPEND TENSORBRAID_PLAIN_LIBRARIES ${static})
endforeach()

# They use each other in any order, so the linker searches all of them until nothing is missing. What shims.c defines comes
# before functions of the same name in LAPACK.
list(APPEND all_static ${TENSORBRAID_PLAIN_LIBRARIES})
list(REMOVE_DUPLICATES all_static)
list(JOIN all_static " " group)
set(CMAKE_CXX_STANDARD_LIBRARIES "${static_folders}/tensorbraid_shims.o -Wl,--start-group ${group} -Wl,--end-group")
