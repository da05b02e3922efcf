// Runs a fuzz target without a fuzzer: on every file of the folders and files named on the command line, and on a fixed
// number of variations of each, which come out alike every time. A fuzzer (libFuzzer) finds more; this holds what it
// found and notices what has become brittle since.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr int kVariations = 100;

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// A few changes as a fuzzer makes them: other bytes, pieces repeated or left out, an early end.
std::string Vary(std::string bytes, std::mt19937& random) {
  const auto at = [&] { return bytes.empty() ? 0 : random() % bytes.size(); };
  for (int i = 1 + static_cast<int>(random() % 4); i > 0 && !bytes.empty(); --i) {
    constexpr unsigned char kEdges[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    switch (random() % 5) {
      case 0:
        bytes[at()] ^= static_cast<char>(1 << (random() % 8));
        break;
      case 1:
        bytes[at()] = static_cast<char>(kEdges[random() % std::size(kEdges)]);
        break;
      case 2:
        bytes.erase(at(), 1 + random() % 8);
        break;
      case 3:
        bytes.insert(at(), bytes.substr(at(), 1 + random() % 16));
        break;
      default:
        bytes.resize(at());
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s CORPUS...\n", argv[0]);
    return 1;
  }
  std::sort(files.begin(), files.end());
  std::mt19937 random(1);
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Run(bytes);
    for (int i = 0; i < kVariations; ++i) Run(Vary(bytes, random));
  }
  std::printf("%zu files, %d variations of each\n", files.size(), kVariations);
  return 0;
}
