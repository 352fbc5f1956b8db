"""The second server: pages for the operator, on this machine alone."""
