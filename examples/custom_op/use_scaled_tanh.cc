// Loads the library of scaled_tanh.cc, and computes the op and its gradient.
//   use_scaled_tanh ./libscaled_tanh.so
#include <tensorbraid/tensorbraid.h>

#include <cstdio>

namespace tf = tensorbraid;

tf::Status Main(const std::string& library) {
  TF_ASSIGN_OR_RETURN(const std::vector<std::string> ops, tf::LoadOpLibrary(library));
  for (const std::string& op : ops) std::printf("loaded %s\n", op.c_str());

  tf::Graph g;
  auto x = tf::Placeholder(g, tf::kFloat32, {-1}, "x");
  auto y = tf::NodeBuilder(g, "ScaledTanh").Input(x).Attr("scale", 2.0).Output();
  TF_ASSIGN_OR_RETURN(auto gradients, tf::Gradients({y}, {x}));
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g));
  TF_ASSIGN_OR_RETURN(auto values, session->Run({y, gradients[0]}, {{x, tf::Tensor::Vector<float>({0, 0.5, 1})}}));
  std::printf("y %s\ndy/dx %s\n", values[0].ToString().c_str(), values[1].ToString().c_str());
  return tf::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
    return 2;
  }
  return tf::ExitCode(Main(argv[1]));
}
