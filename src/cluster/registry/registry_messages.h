// The messages of a registry, and what their proofs cover.
#ifndef TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_MESSAGES_H_
#define TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_MESSAGES_H_

#include <string>
#include <string_view>

#include "core/text/strings.h"

namespace tensorbraid {

inline constexpr char kRegister[] = "/tensorbraid.Registry/Register";

// The texts that are proved. The proof of an answer covers the request too, of which no two are equal, so that an old
// answer cannot be repeated.
inline std::string RequestToProve(std::string_view request) { return StrCat("request\n", request); }
inline std::string AnswerToProve(std::string_view request, std::string_view answer) {
  return StrCat("answer\n", request.size(), "\n", request, answer);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_MESSAGES_H_
