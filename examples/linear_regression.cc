// Fits a line to points: all the basics of Tensorbraid on one page.
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <random>

namespace tf = tensorbraid;

tf::Status Main() {
  // 1. A graph describes a computation; nothing is computed yet. Placeholders stand for values that are given later.
  tf::Graph g;
  auto x = tf::Placeholder(g, tf::kFloat32, {-1}, "x");
  auto y = tf::Placeholder(g, tf::kFloat32, {-1}, "y");

  // 2. Variables keep their values from step to step. Training changes them.
  tf::Variable slope(g, {}, tf::Zeros(), {.name = "slope"});
  tf::Variable offset(g, {}, tf::Zeros(), {.name = "offset"});

  // 3. The model, and the loss: how far the model is from the data.
  auto predicted = slope * x + offset;
  auto loss = tf::ReduceMean(tf::Square(predicted - y));

  // 4. An optimizer adds the gradients of the loss and the operation that moves the variables against them.
  tf::GradientDescentOptimizer optimizer(0.1);
  auto train = optimizer.Minimize(loss);

  // 5. A session runs parts of the graph. Session::Create returns the first mistake made above, such as shapes that do
  // not fit.
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g));
  TF_RETURN_IF_ERROR(session->Run({tf::GlobalVariablesInitializer(g)}).status());

  // 6. Points near y = 3 x + 2, a hundred new ones in each step.
  std::mt19937 random(1);
  std::uniform_real_distribution<float> where(-1, 1);
  std::normal_distribution<float> noise(0, 0.1f);
  for (int step = 1; step <= 200; ++step) {
    std::vector<float> xs(100), ys(100);
    for (int i = 0; i < 100; ++i) {
      xs[i] = where(random);
      ys[i] = 3 * xs[i] + 2 + noise(random);
    }
    // Run returns one tensor per fetch, in order; an operation such as `train` only runs.
    TF_ASSIGN_OR_RETURN(auto results,
                        session->Run({loss, train}, {{x, tf::Tensor::Vector(xs)}, {y, tf::Tensor::Vector(ys)}}));
    if (step % 50 == 0) std::printf("step %3d  loss %.4f\n", step, results[0].scalar<float>());
  }

  TF_ASSIGN_OR_RETURN(auto line, session->Run({slope, offset}));
  std::printf("y = %.2f x + %.2f\n", line[0].scalar<float>(), line[1].scalar<float>());
  return session->Close();
}

int main(int argc, char** argv) {
  tf::Flags("Fits a line to points.").ParseOrExit(argc, argv);  // there are no flags
  return tf::ExitCode(Main());
}
