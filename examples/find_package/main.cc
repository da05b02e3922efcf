// A minimal program to check that an installed Tensorbraid can be found, compiled against and linked.
#include <tensorbraid/tensorbraid.h>

#include <cstdio>

namespace tf = tensorbraid;

tf::Status Main() {
  tf::Graph g;
  auto x = tf::Placeholder(g, tf::kFloat32, {-1}, "x");
  auto y = tf::Square(x) + 1.0;
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g));
  TF_ASSIGN_OR_RETURN(auto values, session->Run({y}, {{x, tf::Tensor::Vector<float>({1, 2, 3})}}));
  std::puts(values[0].ToString().c_str());
  return tf::OkStatus();
}

int main() { return tf::ExitCode(Main()); }
