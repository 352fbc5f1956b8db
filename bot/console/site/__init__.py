"""The pages of the second server: what a view is made from, who may see one, and the views.

Invariant: nothing is shown without a session; a page loads nothing from elsewhere and holds no script or style.
"""
