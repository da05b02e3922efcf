#include "runtime/tables/bloom_counts.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/tables/table_rows.h"

namespace tensorbraid {
namespace {

constexpr int kBlockBits = static_cast<int>(BloomCounts::kBlockBytes) * 8;
constexpr int kMostBits = 32;

// The part of unknown keys that find a count, if blocks have so many keys on average: the number of keys in a block has
// a Poisson distribution.
double ErrorOf(double keys_of_block, double counters_of_block, int hashes) {
  double probability = std::exp(-keys_of_block), error = 0;
  const int end = static_cast<int>(keys_of_block + 10 * std::sqrt(keys_of_block) + 20);
  for (int keys = 1; keys < end; ++keys) {
    probability *= keys_of_block / keys;
    const double used = 1 - std::pow(1 - 1 / counters_of_block, static_cast<double>(keys) * hashes);
    error += probability * std::pow(used, hashes);
  }
  return error;
}

}  // namespace

BloomShape BloomShape::For(int64_t keys, double error, int64_t most) {
  constexpr double kLn2 = 0.69314718055994531, kMostBlocks = 0x1p31;
  const int bits = std::min<int>(std::bit_width(static_cast<uint64_t>(most)), kMostBits);
  const double counters = static_cast<double>(keys) * -std::log(error) / (kLn2 * kLn2);
  const int counters_of_block = kBlockBits / bits;
  const double of_block = counters_of_block;
  const double keys_of_small = static_cast<double>(keys) / kSmallTables;
  const int hashes = std::clamp(static_cast<int>(std::ceil(-std::log2(error))), 1, 32);
  double blocks = std::max(1.0, std::ceil(counters / of_block / kSmallTables));
  // The counters of a key are not independent, so a tenth is left for that.
  while (blocks < kMostBlocks && ErrorOf(keys_of_small / blocks, of_block, hashes) > 0.9 * error) {
    blocks = std::ceil(1.02 * blocks);
  }
  // A small table with 2^31 blocks has 128 GB. The number of a block is a product of two numbers of 32 bits.
  return {.blocks = static_cast<int64_t>(std::min(blocks, kMostBlocks)), .bits = bits, .hashes = hashes};
}

std::unique_ptr<BloomCounts> BloomCounts::Make(const BloomShape& shape, int64_t most) {
  const int64_t pages = (shape.blocks * kBlock + kPage - 1) / kPage;
  const auto bytes = static_cast<size_t>(pages * kPage * kSmallTables);
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // A key that comes touches one small page.
  (void)::madvise(memory, bytes, MADV_NOHUGEPAGE);
  return std::unique_ptr<BloomCounts>(new BloomCounts(shape, most, static_cast<char*>(memory)));
}

BloomCounts::BloomCounts(const BloomShape& shape, int64_t most, char* memory)
    : shape_(shape),
      most_(std::min<uint64_t>(static_cast<uint64_t>(most), (uint64_t{1} << shape.bits) - 1)),
      counters_of_block_(kBlockBits / shape.bits),
      bytes_of_small_((shape.blocks * kBlock + kPage - 1) / kPage * kPage),
      memory_(memory),
      small_(std::make_unique<Small[]>(kSmallTables)) {}

BloomCounts::~BloomCounts() { ::munmap(memory_, static_cast<size_t>(bytes_of_small_) * kSmallTables); }

size_t BloomCounts::pages_of_small() const { return static_cast<size_t>(bytes_of_small_ / kPage); }

int64_t BloomCounts::BlockOf(uint64_t hash) const {
  return static_cast<int64_t>((hash >> 32) * static_cast<uint64_t>(shape_.blocks) >> 32);
}

template <typename Visit>
void BloomCounts::ForEachCounter(uint64_t hash, const Visit& visit) const {
  // Of this hash, the block has used the high bits. Each further hash has two counters. They are independent: with
  // counters at equal distances, keys whose distance is short would find few counters, and so a count too often.
  for (int i = 0; i < shape_.hashes; ++i) {
    const uint64_t other = KeyHash(static_cast<int64_t>(hash + static_cast<uint64_t>(i / 2) + 1));
    const uint64_t half = i % 2 == 0 ? other >> 32 : other & 0xffffffff;
    visit(static_cast<int>(half * static_cast<uint64_t>(counters_of_block_) >> 32));
  }
}

// A counter may be in two words. Its bits are within eight bytes that begin at its first one, or that end the block.
uint64_t BloomCounts::Get(const char* block, int counter) const {
  const int bit = counter * shape_.bits, byte = std::min<int>(bit / 8, kBlock - 8);
  uint64_t word = 0;
  std::memcpy(&word, block + byte, sizeof(word));
  return word >> (bit - 8 * byte) & ((uint64_t{1} << shape_.bits) - 1);
}

void BloomCounts::Set(char* block, int counter, uint64_t count) const {
  const int bit = counter * shape_.bits, byte = std::min<int>(bit / 8, kBlock - 8);
  uint64_t word = 0;
  std::memcpy(&word, block + byte, sizeof(word));
  const int shift = bit - 8 * byte;
  word = (word & ~(((uint64_t{1} << shape_.bits) - 1) << shift)) | count << shift;
  std::memcpy(block + byte, &word, sizeof(word));
}

void BloomCounts::Touch(Small& small, int64_t block) {
  if (small.touched.empty()) small.touched.resize((pages_of_small() + 63) / 64);
  const auto page = static_cast<size_t>(block * kBlock / kPage);
  small.touched[page / 64] |= uint64_t{1} << page % 64;
}

void BloomCounts::Raise(int residue, uint64_t hash, absl::FunctionRef<uint64_t(uint64_t)> raised) {
  Small& small = small_[static_cast<size_t>(residue)];
  const int64_t number = BlockOf(hash);
  char* const block = At(residue, number);
  MutexLock lock(small.mu);
  uint64_t lowest = most_;
  ForEachCounter(hash, [&](int counter) { lowest = std::min(lowest, Get(block, counter)); });
  const uint64_t count = raised(lowest);
  if (count <= lowest) return;
  Touch(small, number);
  ForEachCounter(hash, [&](int counter) {
    if (Get(block, counter) < count) Set(block, counter, count);
  });
}

void BloomCounts::Add(int64_t key, int64_t occurrences) {
  if (occurrences <= 0) return;
  Raise(TableRows::ResidueOf(key), KeyHash(key),
        [&](uint64_t lowest) { return lowest + std::min(most_ - lowest, static_cast<uint64_t>(occurrences)); });
}

void BloomCounts::RaiseTo(int64_t key, int64_t count) {
  if (count <= 0) return;
  Raise(TableRows::ResidueOf(key), KeyHash(key),
        [&](uint64_t) { return std::min(most_, static_cast<uint64_t>(count)); });
}

int64_t BloomCounts::CountOf(int64_t key) const {
  const int residue = TableRows::ResidueOf(key);
  const uint64_t hash = KeyHash(key);
  const char* const block = At(residue, BlockOf(hash));
  const Small& small = small_[static_cast<size_t>(residue)];
  MutexLock lock(small.mu);
  if (small.touched.empty()) return 0;
  uint64_t lowest = most_;
  ForEachCounter(hash, [&](int counter) { lowest = std::min(lowest, Get(block, counter)); });
  return static_cast<int64_t>(lowest);
}

int64_t BloomCounts::bytes() const {
  int64_t pages = 0;
  for (size_t r = 0; r < kSmallTables; ++r) {
    MutexLock lock(small_[r].mu);
    for (const uint64_t word : small_[r].touched) pages += std::popcount(word);
  }
  return pages * kPage + static_cast<int64_t>(kSmallTables * sizeof(Small));
}

void BloomCounts::ForEachBlock(int residue, absl::FunctionRef<void(int64_t block, const Block& counters)> visit) const {
  const Small& small = small_[static_cast<size_t>(residue)];
  MutexLock lock(small.mu);
  for (int64_t number = 0; number < shape_.blocks; ++number) {
    const auto page = static_cast<size_t>(number * kBlock / kPage);
    if (small.touched.empty() || (small.touched[page / 64] >> page % 64 & 1) == 0) {
      number |= kPage / kBlock - 1;  // the last one of the page
      continue;
    }
    Block block;
    std::memcpy(block.data(), At(residue, number), kBlockBytes);
    if (std::ranges::any_of(block, [](uint64_t word) { return word != 0; })) visit(number, block);
  }
}

void BloomCounts::RaiseBlock(int residue, int64_t number, const Block& counters) {
  Small& small = small_[static_cast<size_t>(residue)];
  MutexLock lock(small.mu);
  Touch(small, number);
  char* const block = At(residue, number);
  const auto* const other = reinterpret_cast<const char*>(counters.data());
  for (int counter = 0; counter < counters_of_block_; ++counter) {
    const uint64_t count = std::min(Get(other, counter), most_);
    if (Get(block, counter) < count) Set(block, counter, count);
  }
}

}  // namespace tensorbraid
