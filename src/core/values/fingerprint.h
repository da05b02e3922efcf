// Computes hashes that users may store, because they are the same on every machine and in TensorFlow. Thread-safe.
#ifndef TENSORBRAID_CORE_VALUES_FINGERPRINT_H_
#define TENSORBRAID_CORE_VALUES_FINGERPRINT_H_

#include <cstdint>
#include <string_view>

namespace tensorbraid {

// FarmHash's Fingerprint64.
uint64_t Fingerprint64(std::string_view bytes);
// MurmurHash64A with TensorFlow's seed.
uint64_t Hash64(std::string_view bytes);
// SipHash-2-4. Without the key, it is infeasible to find strings that collide.
uint64_t SipHash(uint64_t key0, uint64_t key1, std::string_view bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_FINGERPRINT_H_
