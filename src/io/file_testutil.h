// Makes temporary files, and contents for them, for tests of readers.
#ifndef TENSORBRAID_IO_FILE_TESTUTIL_H_
#define TENSORBRAID_IO_FILE_TESTUTIL_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tensorbraid {

// Creates an empty directory; the destructor removes it with its content.
class TempDir {
 public:
  TempDir() {
    std::string path = ::testing::TempDir() + "tensorbraid_XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  // Writes a file that only this user can read, as secrets need, and returns its path.
  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string path = path_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path;
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Returns `bytes` in gzip's format.
inline std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);  // 15: largest window; + 16: gzip's format
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Returns an idx file (idx.h) with these sizes of the dimensions, whose elements are unsigned bytes.
inline std::string Idx(const std::vector<uint32_t>& sizes, const std::string& elements) {
  std::string file = {0, 0, 8, static_cast<char>(sizes.size())};
  for (uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(size >> shift & 0xff);
  }
  return file + elements;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_FILE_TESTUTIL_H_
