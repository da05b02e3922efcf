// Programs of the fake plugin: their text, and what they compute.
#ifndef TENSORBRAID_PJRT_TESTING_FAKE_CODE_H_
#define TENSORBRAID_PJRT_TESTING_FAKE_CODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/c_api.h"
#include "pjrt/testing/fake_work.h"

namespace tensorbraid::pjrt::fake {

using c_api::ElementType;

struct ArrayType {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  size_t num_elements() const {
    size_t n = 1;
    for (const int64_t d : dims) n *= static_cast<size_t>(d);
    return n;
  }
};

size_t SizeOf(ElementType type);

struct Op {
  std::string name;
  std::vector<int> operands;  // numbers of values
};

// A program: values are numbered, first the arguments, then the results of ops.
struct Code {
  std::string text;
  std::vector<ArrayType> arguments;
  std::vector<int> donated_to;  // by argument: an output, or -1
  std::vector<Op> ops;
  std::vector<ArrayType> types;  // of values
  std::vector<int> outputs;
};

// Reads the text of a program (fake_plugin.h). Returns what is wrong with it, or "".
std::string ParseCode(std::string_view text, Code* code);

// The bytes of the outputs.
std::vector<std::vector<char>> Interpret(const Code& code, const std::vector<std::shared_ptr<Block>>& arguments);

}  // namespace tensorbraid::pjrt::fake

#endif  // TENSORBRAID_PJRT_TESTING_FAKE_CODE_H_
