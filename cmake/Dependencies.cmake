# The libraries that this project uses. scripts/install_packages installs their Debian packages. A static library also
# needs them when it is used, so tensorbraidConfig.cmake.in finds them again.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(oneDNN MODULE REQUIRED)  # cmake/FindoneDNN.cmake
find_package(ZLIB REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
foreach(library cpp-httplib crypto farmhash gif icuuc jpeg lapacke png prometheus-cpp-core re2 ssl)
  find_library(TENSORBRAID_LIB_${library} ${library} REQUIRED)
endforeach()
find_path(EIGEN3_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3 REQUIRED)
if(TENSORBRAID_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
