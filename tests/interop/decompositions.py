"""Computes the unique properties of decompositions, to compare two decompositions of one matrix: eigenvectors and
singular vectors may differ by a factor of modulus 1, and the eigenvalues of Eig by their order."""
import numpy as np

AMBIGUOUS = ("Eig", "SelfAdjointEigV2", "Svd")


def unambiguous(op, values):
    """Eigenvalues in order, and v v^H of each vector, or u v^H of each pair of singular vectors."""
    e = np.asarray(values[0], np.complex128)
    if e.size == 0:
        return [e]
    order = np.argsort(np.round(e.real, 3) + 1e-6j * e.imag, axis=-1, kind="stable")
    if not np.all(np.isfinite(e)):
        order[...] = np.arange(e.shape[-1])
    unique = [np.take_along_axis(e, order, -1)]
    if values[1].ndim < 2:
        return unique
    columns = order[..., None, :]
    u, v = (np.take_along_axis(np.asarray(m, np.complex128), columns, -1)
            for m in ((values[1], values[2]) if op == "Svd" else (values[1], values[1])))
    unique.append(np.einsum("...ik,...jk->...kij", u, v.conj()))
    return unique
