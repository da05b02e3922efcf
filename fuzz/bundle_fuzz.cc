// Reads untrusted tensor bundles. The first byte says how the rest becomes a bundle, so that a fuzzer gets past the
// checksums:
//   0: two bytes with the size of the index, then the unchanged index, then the data file
//   1: as 0, but the index is one block of a table, which gets valid checksums
//   2: two bytes with the size of the entries, then the entries (size of key, key, size of value, value; sizes are
//      one byte), from which an index is made, then the data file
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/coding.h"
#include "checkpoint/table_writer.h"
#include "core/values/crc32c.h"

namespace tensorbraid {
namespace {

// A folder in memory, if possible, that is removed when the program ends.
class Folder {
 public:
  Folder()
      : path_(std::string(std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") +
              "/tensorbraid_bundle_fuzz_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

void Write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string_view Take(std::string_view* bytes, size_t size) {
  const std::string_view taken = bytes->substr(0, size);
  bytes->remove_prefix(taken.size());
  return taken;
}
size_t TakeByte(std::string_view* bytes) {
  const std::string_view byte = Take(bytes, 1);
  return byte.empty() ? 0 : static_cast<unsigned char>(byte[0]);
}

// A table of one block, with valid checksums whatever the block contains.
std::string TableOf(std::string_view block) {
  std::string table, handle, footer(2, '\0');
  const auto add = [&](std::string bytes, std::string* to) {
    PutVarint(table.size(), to);
    PutVarint(bytes.size(), to);
    bytes.push_back('\0');
    PutFixed(MaskCrc(Crc32c(bytes)), &bytes);
    table += bytes;
  };
  add(std::string(block), &handle);
  BlockBuilder index(1);
  index.Add("\xff\xff", handle);
  add(index.Finish(), &footer);
  footer.resize(kTableFooterSize - sizeof kTableMagic);
  PutFixed(kTableMagic, &footer);
  return table + footer;
}

// A block with these entries (form 2 above).
std::string BlockOf(std::string_view bytes) {
  std::map<std::string, std::string> entries;
  while (!bytes.empty()) {
    const std::string key(Take(&bytes, TakeByte(&bytes)));
    entries[key] = Take(&bytes, TakeByte(&bytes));
  }
  BlockBuilder block(16);
  for (const auto& [key, value] : entries) block.Add(key, value);
  return block.Finish();
}

void ReadEverything(const std::string& prefix) {
  auto reader = BundleReader::Open(prefix);
  if (!reader.ok()) return;
  (void)(*reader)->Read("a");
  auto tensors = (*reader)->List();
  if (!tensors.ok()) return;
  constexpr size_t kMost = 32;
  for (size_t i = 0; i < tensors->size() && i < kMost; ++i) {
    const BundleReader::Info& info = (*tensors)[i];
    (void)(*reader)->Read(info.name);
    std::vector<TensorSlice::Extent> extents;
    for (const int64_t d : info.shape.dims()) extents.push_back({d / 2, d - d / 2});
    (void)(*reader)->ReadSlice(info.name, TensorSlice(extents));
  }
}

}  // namespace
}  // namespace tensorbraid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tensorbraid;  // NOLINT: the target is the program
  static const Folder folder;
  const std::string prefix = folder.path() + "/b";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const size_t mode = TakeByte(&rest);
  const size_t low = TakeByte(&rest);
  const std::string_view index = Take(&rest, low | TakeByte(&rest) << 8);
  Write(BundleIndexName(prefix),
        mode == 0 ? std::string(index) : TableOf(mode == 1 ? std::string(index) : BlockOf(index)));
  Write(BundleDataName(prefix, 0, 1), rest);
  ReadEverything(prefix);
  return 0;
}
