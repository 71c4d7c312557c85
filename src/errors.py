"""Named failures that reach the person at the terminal as one sentence.

Everything the software expects to go wrong derives from :class:`FrontierError`; the commands print its text and exit
with a non-zero code. Any other exception is a bug and keeps its traceback.
"""


class FrontierError(Exception):
    """A failure that a person can act on: what happened, the value, what is allowed, what to do."""


class ConfigError(FrontierError):
    """A configured value is missing, of the wrong kind or out of range."""


class DataMissing(FrontierError):
    """A file that a run needs is not there or is not the pinned one."""


class EndpointError(FrontierError):
    """An endpoint cannot be used at all: unreachable, unauthorised, wrong model name, refused parameter."""


class EmbeddingError(FrontierError):
    """An encoder answered with too few vectors, another dimension or values that are not finite."""


class ContextExceeded(FrontierError):
    """A prompt does not fit the model's context window; nothing is cut to make it fit."""


class BudgetReached(FrontierError):
    """A limit on calls, tokens or money would be passed by the next request."""


class LedgerMiss(FrontierError):
    """Replay was asked for, and the ledger holds no answer to this request."""


class PromptError(FrontierError):
    """A template is missing, or names a value that was not given."""
