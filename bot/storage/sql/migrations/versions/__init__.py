"""One file a revision, forward only."""
