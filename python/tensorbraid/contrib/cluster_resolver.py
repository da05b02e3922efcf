"""tf.contrib.cluster_resolver: it finds the servers of a cloud, which programs for TPUs do when they use TPUs."""

__all__ = ["TPUClusterResolver"]


class TPUClusterResolver:
    """Refused when it is used."""

    def __init__(self, tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None,
                 coordinator_address=None, credentials="default", service=None, discovery_url=None):
        raise NotImplementedError("tf.contrib.cluster_resolver.TPUClusterResolver: there are no TPUs in this package; "
                                  "set use_tpu to False")
