"""The namespace tf.random."""

import types

from tensorbraid.internal.graphs import set_random_seed  # noqa: F401
from tensorbraid.nn.embeddings import (  # noqa: F401
    all_candidate_sampler, fixed_unigram_candidate_sampler, learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler, uniform_candidate_sampler)
from tensorbraid.ops.random_ops import (  # noqa: F401
    categorical, get_seed, multinomial, random_crop, random_gamma as gamma, random_normal as normal, random_poisson as
    poisson, random_shuffle as shuffle, random_uniform as uniform, stateless_categorical, stateless_fold_in,
    stateless_multinomial, stateless_random_gamma as stateless_gamma, stateless_random_normal as stateless_normal,
    stateless_random_poisson as stateless_poisson, stateless_random_uniform as stateless_uniform, stateless_split,
    stateless_truncated_normal, truncated_normal)

__all__ = [
    "all_candidate_sampler", "categorical", "fixed_unigram_candidate_sampler", "gamma", "get_seed",
    "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler", "multinomial", "normal", "poisson",
    "random_crop", "set_random_seed", "shuffle", "stateless_categorical", "stateless_fold_in", "stateless_gamma",
    "stateless_multinomial", "stateless_normal", "stateless_poisson", "stateless_split", "stateless_truncated_normal",
    "stateless_uniform", "truncated_normal", "uniform", "uniform_candidate_sampler"]

fold_in, split = stateless_fold_in, stateless_split
experimental = types.SimpleNamespace(stateless_fold_in=stateless_fold_in, stateless_split=stateless_split)
