"""Training of the small heads that judge what is kept."""
