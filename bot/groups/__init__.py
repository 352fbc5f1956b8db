"""What a group chat asks of a bot beyond answering: when to speak, when to be silent, what was just said there."""
