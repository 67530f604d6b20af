"""Any model that pydantic-ai speaks to: ``pip install "signoff[pydantic-ai]"``.

    PydanticAIModel("openai:gpt-5")

Only pydantic-ai's model layer is used: one request, one streamed response. The loop, the gate and
the history are signoff's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from ...errors import ConfigurationError
from .base import ModelEvent, ModelRequest

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings


class PydanticAIModel:
    """A ``signoff`` model over a pydantic-ai one.

    Args:
        model: ``provider:name``, as ``openai:gpt-5``, or a pydantic-ai ``Model``.
        settings: pydantic-ai's model settings: temperature, timeout and so on.

    Raises:
        ConfigurationError: pydantic-ai or the provider's package is missing, or there is no such
            model, or its key is not set.
    """

    def __init__(self, model: Model | str, *, settings: ModelSettings | None = None) -> None:
        try:
            from pydantic_ai.exceptions import UserError
            from pydantic_ai.models import infer_model

            from .pydantic_ai_stream import respond
        except ImportError as error:
            raise _missing(error) from None
        try:
            self._model = infer_model(model)
        except ImportError as error:
            raise _missing(error) from None
        except UserError as error:
            raise ConfigurationError(str(error)) from None
        self._settings = settings
        self._respond = respond

    def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """See ``Model``. Raises what pydantic-ai raises when the provider fails."""
        return self._respond(self._model, self._settings, request)


def _missing(error: ImportError) -> ConfigurationError:
    return ConfigurationError(
        f"{error.name or 'A package'} is missing. "
        'Install the extra: pip install "signoff[pydantic-ai]".'
    )
