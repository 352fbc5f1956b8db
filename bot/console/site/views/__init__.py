"""The pages themselves, one module a view: `routes(site, its ports) -> list[Route]`.

Invariant: a view reads its forms through `Site.form` alone, and knows of the house what its ports say.
"""
