"""What is taken out of a message without a model, measured against public lists and peers."""
