#include "core/values/fingerprint.h"

#include <farmhash.h>

#include <bit>
#include <cstring>

#include "core/values/load.h"

namespace tensorbraid {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read in native byte order");

// Loads the last, incomplete word. The missing bytes are zero.
uint64_t LoadPart(const char* p, size_t size) {
  uint64_t v = 0;
  std::memcpy(&v, p, size);
  return v;
}

}  // namespace

uint64_t Fingerprint64(std::string_view bytes) { return util::Fingerprint64(bytes.data(), bytes.size()); }

uint64_t Hash64(std::string_view bytes) {
  constexpr uint64_t kSeed = 0xdecafcaffe;
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  const auto mix = [](uint64_t k) {
    k *= kMultiplier;
    k ^= k >> kShift;
    return k * kMultiplier;
  };
  uint64_t h = kSeed ^ (bytes.size() * kMultiplier);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) h = (h ^ mix(Load64(bytes.data()))) * kMultiplier;
  if (!bytes.empty()) h = (h ^ LoadPart(bytes.data(), bytes.size())) * kMultiplier;
  h ^= h >> kShift;
  h *= kMultiplier;
  return h ^ (h >> kShift);
}

uint64_t SipHash(uint64_t key0, uint64_t key1, std::string_view bytes) {
  // The constants spell "somepseudorandomlygeneratedbytes".
  uint64_t v0 = key0 ^ 0x736f6d6570736575;
  uint64_t v1 = key1 ^ 0x646f72616e646f6d;
  uint64_t v2 = key0 ^ 0x6c7967656e657261;
  uint64_t v3 = key1 ^ 0x7465646279746573;
  const auto round = [&] {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  };
  const auto take = [&](uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  };
  const uint64_t size = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) take(Load64(bytes.data()));
  take(LoadPart(bytes.data(), bytes.size()) | size << 56);
  v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace tensorbraid
