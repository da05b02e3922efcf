#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>

#include "cluster/registry/digest.h"
#include "cluster/registry/seal.h"
#include "core/text/strings.h"
#include "transport/token_file.h"

namespace tensorbraid {
namespace {

// The functions of libmunge.so.2, whose interface has not changed since its version 0.5 of 2004. An error is a number
// other than 0, and a null context stands for the defaults. The caller frees what they allocate.
struct MungeLibrary {
  int (*encode)(char** credential, void* context, const void* payload, int size) = nullptr;
  int (*decode)(const char* credential, void* context, void** payload, int* size, uid_t* user, gid_t* group) = nullptr;
  const char* (*error_text)(int error) = nullptr;

  static StatusOr<const MungeLibrary*> Load() {
    static const auto& library = *new StatusOr<const MungeLibrary*>(LoadOnce());
    return library;
  }

 private:
  static StatusOr<const MungeLibrary*> LoadOnce() {
    void* const handle = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      return FailedPrecondition("MUNGE cannot be used: ", why == nullptr ? "" : why,
                                "; install it (Debian: libmunge2)");
    }
    auto* library = new MungeLibrary;
    library->encode = reinterpret_cast<decltype(library->encode)>(dlsym(handle, "munge_encode"));
    library->decode = reinterpret_cast<decltype(library->decode)>(dlsym(handle, "munge_decode"));
    library->error_text = reinterpret_cast<decltype(library->error_text)>(dlsym(handle, "munge_strerror"));
    if (library->encode == nullptr || library->decode == nullptr || library->error_text == nullptr) {
      return FailedPrecondition("MUNGE cannot be used: libmunge.so.2 lacks a function");
    }
    return library;
  }
};

class MungeSeal final : public Seal {
 public:
  explicit MungeSeal(const MungeLibrary* munge) : munge_(munge) {}

  std::string source() const override { return "MUNGE"; }

  StatusOr<std::string> Prove(std::string_view text) override {
    const std::string digest = Sha256(text);
    char* credential = nullptr;
    const int error = munge_->encode(&credential, nullptr, digest.data(), static_cast<int>(digest.size()));
    const std::unique_ptr<char, decltype(&std::free)> owner(credential, &std::free);
    if (error != 0) {
      return FailedPrecondition("MUNGE makes no credential: ", munge_->error_text(error), "; is munged running here?");
    }
    return std::string(credential);
  }

  Status Check(std::string_view text, std::string_view proof) override {
    void* payload = nullptr;
    int size = 0;
    uid_t user = 0;
    gid_t group = 0;
    const int error = munge_->decode(std::string(proof).c_str(), nullptr, &payload, &size, &user, &group);
    const std::unique_ptr<void, decltype(&std::free)> owner(payload, &std::free);
    if (error != 0) {
      return absl::UnauthenticatedError(
          StrCat("MUNGE does not accept the other side's credential: ", munge_->error_text(error),
                 "; the hosts need the same munge.key, and clocks that differ by less than five minutes"));
    }
    if (user != ::geteuid()) {
      return absl::UnauthenticatedError(
          StrCat("the other side is user ", user, ", and this process is user ", ::geteuid()));
    }
    const std::string_view digest(static_cast<const char*>(payload), static_cast<size_t>(size));
    if (!EqualInConstantTime(digest, Sha256(text))) {
      return absl::UnauthenticatedError("the other side's credential is for another message");
    }
    return OkStatus();
  }

 private:
  const MungeLibrary* const munge_;
};

}  // namespace

StatusOr<std::unique_ptr<Seal>> NewMungeSeal() {
  TF_ASSIGN_OR_RETURN(const MungeLibrary* const munge, MungeLibrary::Load());
  auto seal = std::make_unique<MungeSeal>(munge);
  TF_RETURN_IF_ERROR(seal->Prove(""));  // shows whether the service runs
  return seal;
}

}  // namespace tensorbraid
