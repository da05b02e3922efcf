// A wide and deep model of clicks: a linear model that remembers users, items and their pairs, and a network of
// embeddings, which generalises. All rows are in tables that grow with the keys of the log.
//
//   build/release/examples/wide_deep
//   tensorbraid launch --ps=2 --workers=2 -- build/release/examples/wide_deep --train_steps=2000
#include "clicks.h"

namespace tf = tensorbraid;
namespace layers = tensorbraid::layers;

namespace {

constexpr int64_t kUsers = 500, kItems = 300, kPlaces = 10, kTastes = 3, kDim = 8;

// A click depends on the tastes of the user, the qualities of the item, and the place of the item on the page.
examples::ClickLog MakeLog(int64_t lines) {
  std::mt19937_64 random(1);
  std::normal_distribution<> normal;
  const auto draw = [&](int64_t count) {
    std::vector<double> numbers(static_cast<size_t>(count));
    for (double& number : numbers) number = normal(random);
    return numbers;
  };
  const auto tastes = draw(kUsers * kTastes), qualities = draw(kItems * kTastes);
  const auto of_user = draw(kUsers), of_item = draw(kItems), of_place = draw(kPlaces);
  std::uniform_real_distribution<> uniform;
  const auto key_below = [&](int64_t count) {  // the first keys are frequent
    return static_cast<int64_t>(static_cast<double>(count) * std::pow(uniform(random), 2));
  };
  examples::ClickLog log(3);
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t user = key_below(kUsers), item = key_below(kItems), place = key_below(kPlaces);
    double odds = of_user[user] + of_item[item] + of_place[place] - 1;
    for (int64_t k = 0; k < kTastes; ++k) odds += tastes[user * kTastes + k] * qualities[item * kTastes + k] / 2;
    log.Add({user, item, place}, odds, random);
  }
  return log;
}

tf::Output Model(const tf::Output& keys, const tf::Partitioner& parts) {
  tf::Graph& g = *keys.graph();
  std::vector<tf::Operand> wide, deep;
  const std::vector<tf::Output> columns = tf::Unstack(keys, 1);
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string name = "column" + std::to_string(i);
    const tf::EmbeddingVariable weights(g, 1,
                                        {.name = name + "/weights", .initializer = tf::Zeros(), .partitioner = parts});
    const tf::EmbeddingVariable vectors(
        g, kDim, {.name = name + "/vectors", .initializer = tf::TruncatedNormal(0, 0.3), .partitioner = parts});
    wide.emplace_back(tf::nn::EmbeddingLookup(weights, columns[i]));
    deep.emplace_back(tf::nn::EmbeddingLookup(vectors, columns[i]));
  }
  auto x = tf::Concat(deep, 1);
  for (const int64_t units : {64, 32}) x = layers::Dense(x, {.units = units, .activation = layers::Activation::kRelu});
  wide.emplace_back(layers::Dense(x, {.units = 1, .name = "score"}));
  return tf::ReduceSum(tf::Concat(wide, 1), {1});
}

}  // namespace

int main(int argc, char** argv) {
  return tf::ExitCode(examples::RunOnClicks(
      argc, argv,
      {.help = "Trains a wide and deep model on clicks, with tables that grow. A cluster can be given as well.",
       .steps = 1000,
       .learning_rate = 0.002,
       .make_log = MakeLog,
       .model = Model}));
}
