// How many programs a cluster may have.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_SIGNATURE_LIMIT_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_SIGNATURE_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/emitter.h"

namespace tensorbraid {

// Sees the signatures of a cluster (cluster_kernel.h), and says for which of them a program is worth its compilation: a
// size that is another one in each step would have the compiler work all the time. Not thread-safe.
class SignatureLimit {
 public:
  // `nodes` are those of the cluster, and must outlive the object.
  explicit SignatureLimit(const std::vector<const Node*>& nodes) : nodes_(nodes) {}

  static constexpr size_t kMostSignatures = 64;
  static constexpr size_t kMostStaticValues = 8;  // of one argument that is known when a program is compiled

  // Whether a program may be made for a signature. `arguments` are its arguments. The first signatures that this is
  // called for may have programs, until there are kMostSignatures of them, or kMostStaticValues with different values
  // of one argument. From then on, the answer for every further signature is no.
  bool Allows(const std::string& signature, const std::vector<pjrt::ProgramArgument>& arguments);
  // What has changed too often, and what to do about it, in sentences. Empty before Allows has first said no.
  const std::string& reason() const { return reason_; }
  // The argument of which this is the value, which must be known when a program is compiled. Nothing if it is a shape.
  std::optional<size_t> changing_argument() const { return changing_argument_; }

 private:
  struct Change {
    static constexpr int kValue = -1;  // instead of a dimension
    size_t times = 0;
    size_t argument = 0;
    int dimension = kValue;
  };
  bool IsReached() const;
  // What has had the most values or sizes.
  Change MostChanging() const;
  // Sets the reason. `arguments` belong to the signature that is not allowed.
  void Refuse(const std::vector<pjrt::ProgramArgument>& arguments);
  std::string NameOf(const pjrt::ProgramArgument& argument) const;

  const std::vector<const Node*>& nodes_;
  std::set<std::string> signatures_;
  std::map<size_t, std::set<std::string>> values_;                  // of static arguments, as bytes; by argument
  std::map<std::pair<size_t, int>, std::set<int64_t>> dimensions_;  // by argument and dimension
  std::string reason_;
  std::optional<size_t> changing_argument_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_SIGNATURE_LIMIT_H_
