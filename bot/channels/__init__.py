"""The platforms people write from: one adapter and one mapping file each.

Invariant: a platform's event becomes a frozen `Message` here, and no platform's type goes further in.
"""
