// Compiled programs.
#ifndef TENSORBRAID_PJRT_PROGRAM_H_
#define TENSORBRAID_PJRT_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pjrt/array.h"
#include "pjrt/c_api.h"
#include "pjrt/event.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::pjrt {

class Client;

// The type of an argument or an output.
struct ArrayType {
  DType dtype = DType::kInvalid;
  Shape shape;
  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

struct CompileOptions {
  std::string name;  // for messages: "the program of cluster 'train/cluster_0'"
  // The arguments of the text, in order. A plugin looks only at their number of bytes, so Run compares them with the
  // tensors that it gets.
  std::vector<ArrayType> arguments;
  // The arguments whose memory the program uses for outputs, in the order of their numbers: those with the attribute
  // tf.aliasing_output or jax.buffer_donor in the text.
  std::vector<int> donated;
};

// Bytes that a program needs on its device.
struct ProgramMemory {
  int64_t code = 0;
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t aliased = 0;  // the part of the outputs that uses the memory of arguments
  int64_t temporaries = 0;

  static ProgramMemory Of(const c_api::ExecutableGetCompiledMemoryStatsArgs& figures);
};

// A program that a client has compiled (Client::Compile). It runs on each device of the client. Thread-safe: also runs
// at the same time. Errors name the program and the plugin.
class Program {
 public:
  // Takes over `executable`. For Client.
  static StatusOr<std::shared_ptr<Program>> Create(const Client& client, c_api::LoadedExecutable* executable,
                                                   CompileOptions options);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& name() const { return options_.name; }
  const std::vector<ArrayType>& arguments() const { return options_.arguments; }
  const std::vector<int>& donated() const { return options_.donated; }
  const std::vector<ArrayType>& outputs() const { return outputs_; }
  const Client& client() const { return client_; }

  struct Results {
    // Usable at once: copies and programs that use them wait for them. All become ready together, when the program
    // ends.
    std::vector<RefPtr<Array>> outputs;
    // Brings the error of the run. The outputs have the same error.
    Event done;
  };
  // Enqueues a run behind the work of the arguments. The arguments are device tensors, in the memory of `device`.
  //
  // A donated argument is consumed: when this returns OK, its tensor has no value. `kept` names donated arguments, in
  // the order of their numbers, that the run must not consume: the plugin then copies them first. An argument whose
  // array another buffer shares is kept in any case; the caller decides for everything else that holds a tensor
  // (DeviceBuffer::IsSole).
  //
  // InvalidArgument, before anything is enqueued, for a wrong number of arguments, or a dtype, shape or device that
  // differs; FailedPrecondition for an argument without a value; otherwise the plugin's error. If the plugin has
  // consumed arguments although it returns an error, their tensors have no value either. Does not block for the run,
  // except that a plugin may run a small program on the calling thread. REQUIRES: the device exists.
  StatusOr<Results> Run(std::span<const Tensor* const> arguments, std::span<const int> kept, int device) const;

  // The compiled program, for Client::LoadProgram in a later process with the same plugin and the same kind of device.
  StatusOr<std::string> Serialize() const;
  StatusOr<ProgramMemory> Memory() const;

 private:
  class Description;
  Program(const Client& client, c_api::LoadedExecutable* executable, CompileOptions options);
  Status Describe();
  Status CheckArgument(size_t i, const Tensor& tensor, const Array& array, int device) const;
  void DropConsumed(std::span<const Tensor* const> arguments) const;
  Status WithName(const Status& status) const;

  const Client& client_;
  c_api::LoadedExecutable* const executable_;
  const CompileOptions options_;
  std::vector<ArrayType> outputs_;
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_PROGRAM_H_
