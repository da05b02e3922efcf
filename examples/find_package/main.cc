// The least program that shows that an installed Tensorbraid can be found, compiled against and linked.
#include <tensorbraid/flags.h>
#include <tensorbraid/tensor.h>

#include <cstdio>

namespace tf = tensorbraid;

int main(int argc, char** argv) {
  tf::Flags flags("Prints a tensor.");
  auto& count = flags.Define("count", 3, "how many elements");
  flags.ParseOrExit(argc, argv);

  tf::Tensor tensor(tf::kFloat32, {count});
  for (int i = 0; i < count; ++i) tensor.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
  std::puts(tensor.ToString().c_str());
  return 0;
}
