"""The implementation that the public modules share: graphs, sessions, variables. Not part of the public API."""
