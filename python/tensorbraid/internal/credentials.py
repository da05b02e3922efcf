"""Certificates and tokens of servers and sessions.

Programs of TensorFlow 1 have no arguments for them, so they come from environment variables with the names of the flags
of `tensorbraid serve`: TENSORBRAID_TLS_CERT is --tls_cert. Their values are names of files, never secrets.
"""

import os

__all__ = []

_OF_SESSIONS = ("tls_cert", "tls_key", "tls_ca", "token_file", "insecure")
_OF_SERVERS = _OF_SESSIONS + ("client_token_file",)


def _given(names):
    values = {name: os.environ.get("TENSORBRAID_" + name.upper(), "") for name in names}
    return {name: value for name, value in values.items() if value}


def of_session(target):
    """The credentials of a session for the server at this target.

    With the environment variable TENSORBRAID_INSECURE=1, the session also uses servers of other users of this machine.
    """
    return _given(_OF_SESSIONS) if target else {}


def in_words_of_python(message):
    """A message about a server, with the environment variables of this page in place of flags."""
    for name in _OF_SERVERS:
        message = message.replace("--" + name, "TENSORBRAID_" + name.upper() + "=1" * (name == "insecure"))
    return message


def of_server():
    """The options of a server. TENSORBRAID_INSECURE=1 lets it listen for other machines without certificates."""
    return _given(_OF_SERVERS)
