"""tf.distributions."""

import numpy as np
from registry import Result, case

QUIET = {"names": False}
X = np.array([0.3, 0.7], np.float32)


def continuous(tf, make, **options):
    """Functions of values, statistics and samples of a distribution of numbers between 0 and 1, or of all numbers."""
    x = tf.constant(X)
    d = make(tf, **options)
    found = [d.log_prob(x), d.prob(x), d.cdf(x), d.log_cdf(x), d.survival_function(x), d.log_survival_function(x),
             d.entropy(), d.mean(), d.variance(), d.stddev(), d.sample(3, seed=5), d.sample([2, 2], seed=6),
             d.sample(seed=7),
             d.batch_shape, d.event_shape, d.batch_shape_tensor(), d.event_shape_tensor(), d.is_scalar_batch(),
             d.is_scalar_event(), d.dtype, d.kl_divergence(d) if options.get("kl", True) else 0]
    return Result(found)


def normal(tf, **options):
    return tf.distributions.Normal([0.5, -1.0], 2.0, **options)


def student(tf, **options):
    return tf.distributions.StudentT([3.0, 0.9], 0.5, [1.0, 2.0], **options)


for name, make in (("Normal", normal), ("Uniform", lambda tf, **o: tf.distributions.Uniform([0.1, 0.4], 0.6, **o)),
                   ("Laplace", lambda tf, **o: tf.distributions.Laplace([0.1, 0.4], 0.6, **o)), ("StudentT", student),
                   ("Gamma", lambda tf, **o: tf.distributions.Gamma([2.0, 0.5], 1.5, **o)),
                   ("Exponential", lambda tf, **o: tf.distributions.Exponential([2.0, 0.5], **o)),
                   ("Beta", lambda tf, **o: tf.distributions.Beta([2.0, 3.5], [1.5, 0.5], **o))):
    def statistics(tf, make=make, **options):
        return continuous(tf, lambda tf, **o: make(tf, **o), **options)

    if name in ("Uniform", "Laplace", "StudentT"):  # these have no divergence
        case(f"distributions.{name}", lambda tf, make=make: make(tf).kl_divergence(make(tf)), **QUIET)

        def statistics(tf, make=make, **options):  # noqa
            d = make(tf, name="given", **options)
            x = tf.constant(X)
            return [d.log_prob(x), d.prob(x), d.cdf(x), d.log_cdf(x), d.survival_function(x),
                    d.log_survival_function(x),
                    d.entropy(), d.mean(), d.variance(), d.sample(3, seed=5), d.sample([2, 2], seed=6), d.batch_shape]
    case(f"distributions.{name}", lambda tf, f=statistics: f(tf), **QUIET)
    case(f"distributions.{name}", lambda tf, f=statistics: f(tf, validate_args=True), **QUIET)
    case(f"distributions.{name}", lambda tf, make=make: [
        str(make(tf, name="given")), repr(make(tf)), sorted(make(tf, allow_nan_stats=False).parameters),
        make(tf).copy(name="other").name])
LATE = "the failed assertion is an error of the step: the library knows fewer values before it"
ROWS = "TensorFlow 2.21 chooses columns; TensorFlow 1 chose the rows whose mode is defined, as the library does"
for make, late, rows in (
        (normal, "", ""), (student, "", ""), (lambda tf, **o: tf.distributions.Gamma([2.0, 0.5], 1.5, **o), LATE, ""),
        (lambda tf, **o: tf.distributions.Beta([2.0, 1.5], [1.5, 0.5], **o), "", ""),
        (lambda tf, **o: tf.distributions.Dirichlet([[2.0, 1.5], [1.5, 0.5]], **o), "", ROWS)):
    case("distributions.Distribution", lambda tf, f=make: [f(tf).mode(), f(tf).mean()], known=rows, **QUIET)
    case("distributions.Distribution", lambda tf, f=make: f(tf, allow_nan_stats=False).mode(), known=late, **QUIET)
case("distributions.Normal", lambda tf: normal(tf).quantile([0.2, 0.9]), **QUIET)
case("distributions.Normal", lambda tf: [normal(tf).log_cdf([-60.0, 30.0]), normal(tf).cdf([-60.0, 30.0])], **QUIET)
case("distributions.Normal", lambda tf: tf.distributions.Normal(0, 1), **QUIET)
case("distributions.Normal", lambda tf: tf.distributions.Normal(0.0, -1.0, validate_args=True).mean(), **QUIET)
case("distributions.Normal", lambda tf: normal(tf).log_prob(tf.constant([1, 2])), **QUIET)
case("distributions.Normal", lambda tf: tf.distributions.Normal.param_static_shapes([3, 2]))
case("distributions.Normal", lambda tf: list(tf.distributions.Normal.param_shapes([3, 2]).values()), **QUIET)


def gradient(tf):
    loc, scale = tf.constant([0.5, 1.0]), tf.constant(2.0)
    d = tf.distributions.Normal(loc, scale)
    return Result([d.sample(4, seed=3), d.log_prob(X), d.entropy()], wrt=[loc, scale])


case("distributions.Normal", gradient, **QUIET)
for n in ([2], [[2]], []):
    case("distributions.Normal", lambda tf, n=n: normal(tf).sample(n, seed=1), **QUIET)
case("distributions.Normal", lambda tf: Result(
    [normal(tf).sample(tf.placeholder_with_default(np.array([2, 1], np.int32), [None]), seed=1)]), **QUIET)

LOGITS = np.array([[0.1, 2.0, -1.0], [1.0, 0.0, 0.5]], np.float32)


def with_dtype(tf, options):
    return {key: getattr(tf, value) if key == "dtype" else value for key, value in options.items()}


def classes(tf, d, values):
    return [d.log_prob(values), d.prob(values), d.entropy(), d.sample(4, seed=2), d.sample(seed=3), d.mode(),
            d.batch_shape, d.event_shape, d.batch_shape_tensor(), d.logits, d.probs, d.kl_divergence(d),
            d.cross_entropy(d), d.dtype]


for options in ({"logits": LOGITS}, {"probs": np.abs(LOGITS) / np.abs(LOGITS).sum(1, keepdims=True)},
                {"logits": LOGITS, "dtype": "float32", "validate_args": True}, {"logits": LOGITS, "dtype": "int64"},
                {"logits": np.stack([LOGITS, -LOGITS])}):
    for values in (np.array([2, 0]), np.array([[2, 0], [1, 1]])):
        case("distributions.Categorical", lambda tf, o=options, v=values: classes(
            tf, tf.distributions.Categorical(**with_dtype(tf, o)), v), **QUIET)
case("distributions.Categorical", lambda tf: tf.distributions.Categorical(LOGITS).cdf([2, 1]), **QUIET)
case("distributions.Categorical", lambda tf: tf.distributions.Categorical(LOGITS, LOGITS))
case("distributions.Categorical", lambda tf: tf.distributions.Categorical([1, 2]))
case("distributions.Categorical", lambda tf: tf.distributions.Categorical(LOGITS).mean())
case("distributions.Categorical", lambda tf: [str(tf.distributions.Categorical(LOGITS)), repr(
    tf.distributions.Categorical(LOGITS, name="c"))])
for options in ({"logits": LOGITS[0]}, {"probs": np.abs(LOGITS[0]) / 3, "validate_args": True},
                {"logits": LOGITS[0], "dtype": "bool"}):
    case("distributions.Bernoulli", lambda tf, o=options: [
        value for value in classes(tf, tf.distributions.Bernoulli(**with_dtype(tf, o)),
                                   np.array([1, 0, 1], o.get("dtype", "int32")))], **QUIET)
case("distributions.Bernoulli", lambda tf: [f(tf.distributions.Bernoulli(LOGITS)) for f in (
    lambda d: d.mean(), lambda d: d.variance(), lambda d: d.stddev(), lambda d: d.log_prob(1.0))], **QUIET)


def counts(tf, d, values):
    return [d.log_prob(values), d.prob(values), d.mean(), d.variance(), d.covariance(), d.sample(2, seed=4),
            d.batch_shape,
            d.event_shape, d.event_shape_tensor()]


for validate in (False, True):
    case("distributions.Multinomial", lambda tf, v=validate: counts(tf, tf.distributions.Multinomial(
        4.0, logits=LOGITS, validate_args=v), np.array([[1.0, 1.0, 2.0], [0.0, 4.0, 0.0]], np.float32)), **QUIET)
    case("distributions.DirichletMultinomial", lambda tf, v=validate: counts(tf, tf.distributions.DirichletMultinomial(
        4.0, np.exp(LOGITS), validate_args=v), np.array([[1.0, 1.0, 2.0], [0.0, 4.0, 0.0]], np.float32)), **QUIET)
    case("distributions.Dirichlet", lambda tf, v=validate: counts(tf, tf.distributions.Dirichlet(
        np.exp(LOGITS), validate_args=v), np.array([[0.25, 0.25, 0.5], [0.1, 0.8, 0.1]], np.float32)), **QUIET)
case("distributions.Dirichlet", lambda tf: [f(tf.distributions.Dirichlet(np.exp(LOGITS))) for f in (
    lambda d: d.entropy(), lambda d: d.kl_divergence(tf.distributions.Dirichlet([1.0, 2.0, 3.0])))], **QUIET)
for name, second in (("Normal", (1.0, 3.0)), ("Gamma", (1.0, 3.0)), ("Beta", (1.0, 3.0)), ("Bernoulli", (0.2,)),
                     ("Categorical", ([0.2, 0.4],)), ("Exponential", (2.0,))):
    first = ([[0.3, 0.1], [0.2, 2.0]],) if name == "Categorical" else tuple(v * 2.0 for v in second)
    case("distributions.kl_divergence", lambda tf, n=name, a=first, b=second: tf.distributions.kl_divergence(
        getattr(tf.distributions, n)(*a), getattr(tf.distributions, n)(*b), allow_nan_stats=False, name="kl"), **QUIET)
case("distributions.kl_divergence", lambda tf: tf.distributions.kl_divergence(normal(tf), student(tf)))


def own(tf):
    class Coin(tf.distributions.Distribution):
        def __init__(self):
            super().__init__(tf.float32, tf.distributions.NOT_REPARAMETERIZED, False, True, name="Coin")

        def _log_prob(self, value):
            return tf.log(0.5) * tf.ones_like(value)

        def _batch_shape(self):
            return tf.TensorShape([])

        def _event_shape(self):
            return tf.TensorShape([])

    @tf.distributions.RegisterKL(Coin, Coin)
    def divergence(a, b, name=None):
        return tf.constant(0.25)

    coin = Coin()
    return [coin.prob([1.0, 0.0]), coin.kl_divergence(Coin()), str(coin), str(tf.distributions.FULLY_REPARAMETERIZED),
            str(coin.reparameterization_type)]


case("distributions.Distribution distributions.RegisterKL distributions.ReparameterizationType", own, **QUIET)
