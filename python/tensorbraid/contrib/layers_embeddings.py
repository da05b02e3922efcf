"""Embeddings of sequences of symbols, and sparse tensors from dense ones."""

import tensorbraid as tf
from tensorbraid.contrib.arg_scope import add_arg_scope
from tensorbraid.contrib.framework.variables import model_variable
from tensorbraid.contrib.layers_base import collected

__all__ = ["dense_to_sparse", "embed_sequence", "embedding_lookup_unique", "fused_safe_embedding_lookup_sparse",
           "safe_embedding_lookup_sparse"]

fused_safe_embedding_lookup_sparse = tf.nn.fused_safe_embedding_lookup_sparse


def embed_sequence(ids, vocab_size=None, embed_dim=None, unique=False, initializer=None, regularizer=None,
                   trainable=True, scope=None, reuse=None):
    """The embeddings of integer symbols, whose variable is "embeddings". It must exist if `reuse` is set."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing. Got "
                         f"vocab_size={vocab_size} and embed_dim={embed_dim}")
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if not (vocab_size and embed_dim) else [vocab_size, embed_dim]
        embeddings = model_variable("embeddings", shape, initializer=initializer, regularizer=regularizer,
                                    trainable=trainable)
        return embedding_lookup_unique(embeddings, ids) if unique else tf.nn.embedding_lookup(embeddings, ids)


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """embedding_lookup that looks each symbol up once."""
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        unique, positions = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.gather(tf.nn.embedding_lookup(params, unique, partition_strategy), positions)
        result = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], 0))
        result.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return result


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner=None, default_id=None,
                                 name=None, partition_strategy="div", max_norm=None):
    """tf.nn.safe_embedding_lookup_sparse, by default with the combiner "mean"."""
    return tf.nn.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner or "mean",
                                              default_id, name, partition_strategy, max_norm)


@add_arg_scope
def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    """A SparseTensor of the elements that are not `eos_token`."""
    with tf.variable_scope(scope, "dense_to_sparse", [tensor]) as opened:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        made = tf.SparseTensor(indices, tf.gather_nd(tensor, indices), tf.shape(tensor, out_type=tf.int64))
        return collected(outputs_collections, opened.name, made)
