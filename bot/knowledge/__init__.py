"""Knowledge: the operator's documents, cut into passages and retrieved. The same for everyone."""
