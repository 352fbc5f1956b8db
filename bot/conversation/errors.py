"""Every error of the house.

JideError
├── TransientError            wait, retry or degrade
│   ├── StoreUnavailable      the database or Redis did not answer in time
│   ├── PlatformUnavailable   a platform's API did not answer, or cannot be asked now
│   ├── EmbedderUnavailable   no vector now: keyword recall serves
│   │   └── VectorsOfAnotherModel  what is stored can't be compared with it: the same
│   └── ModelUnavailable      no model answer now: extraction serves
│       └── ModelUnpaid       out of money or a bad key: no retry, tell the operator
├── ViewChanged               somebody linked or parted meanwhile: decide once more
├── RejectedInput             tell the person, in words
│   └── ModelRefused          the provider declined the content
└── ConfigurationError        stop at start, naming the key and the fix

`None` means "nothing found"; raising means "could not look".
"""


class JideError(Exception):
    """Anything the house raises on purpose."""


class TransientError(JideError):
    """It may work later."""


class StoreUnavailable(TransientError):
    """The store did not answer in time."""


class PlatformUnavailable(TransientError):
    """A platform's API did not answer, or cannot be asked now."""


class EmbedderUnavailable(TransientError):
    """The embedder could not make a vector in time."""


class VectorsOfAnotherModel(EmbedderUnavailable):
    """The stored vectors were made by another model, or have another dimension."""


class ModelUnavailable(TransientError):
    """The chat model did not answer."""

    def __init__(self, said: str = "", *, status: int | None = None) -> None:
        """`status`: the HTTP status of the provider's answer; 0: it could not be reached; None: neither is known."""
        super().__init__(said)
        self.status = status


class ModelUnpaid(ModelUnavailable):
    """The provider refuses until the operator pays or corrects the key (401, 402)."""


class ViewChanged(JideError):
    """What was answered was seen as another person than its asker is now."""


class RejectedInput(JideError):
    """The input cannot be served; `str(error)` is a 简体中文 sentence for the person."""


class ModelRefused(RejectedInput):
    """The provider declined the content."""


class ConfigurationError(JideError):
    """A setting is wrong. Says which, what was found, and how to mend it."""

    def __init__(self, key: str, problem: str, fix: str) -> None:
        super().__init__(f"设置 {key} 有误：{problem}。修正：{fix}")
        self.key = key
        self.problem = problem
        self.fix = fix
