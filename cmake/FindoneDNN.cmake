# Finds oneDNN and defines the target oneDNN::dnnl. Debian's own CMake package of oneDNN is not used, because it requires
# OpenCL headers.
find_library(oneDNN_LIBRARY dnnl)
find_path(oneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h)
mark_as_advanced(oneDNN_LIBRARY oneDNN_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS oneDNN_LIBRARY oneDNN_INCLUDE_DIR)

if(oneDNN_FOUND AND NOT TARGET oneDNN::dnnl)
  add_library(oneDNN::dnnl UNKNOWN IMPORTED)
  set_target_properties(oneDNN::dnnl PROPERTIES IMPORTED_LOCATION ${oneDNN_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${oneDNN_INCLUDE_DIR})
endif()
