"""Every refusal signoff can give, as one tree.

    SignoffError
    ├── Refusal                    something a client asked for cannot be done; nothing was staged
    │   ├── InvalidBody            400 invalid_body
    │   ├── AmbiguousBody          400 ambiguous_body
    │   ├── UnknownCall            400 unknown_call
    │   ├── InvalidDecision        400 invalid_decision
    │   ├── NothingPending         400 nothing_pending
    │   ├── WrongKind              400 wrong_kind
    │   ├── IncompleteResume       400 incomplete_resume
    │   ├── Unauthenticated        401 unauthenticated
    │   ├── Forbidden              403 forbidden
    │   ├── NotFound               404 not_found
    │   ├── AwaitingDecision       409 awaiting_decision
    │   ├── AlreadyDecided         409 already_decided
    │   ├── RunInProgress          409 run_in_progress
    │   ├── TooLarge               413 too_large
    │   ├── UnsupportedMediaType   415 unsupported_media_type
    │   ├── TooManyRequests        429 too_many_requests
    │   └── Unavailable            503 unavailable
    ├── ConfigurationError         the program that uses signoff is wrong; raised at construction
    ├── ToolFailed                 a tool says why it failed, in words fit for model and person
    ├── InvalidArguments           a model sent inputs that the tool's schema does not take
    ├── NotApproved                a tool was about to run without an approval of exactly this call
    └── CorruptRecord              something stored cannot be read; it is never guessed

``code`` is stable and part of the HTTP contract (design §8); ``status`` is the HTTP status it has
as problem JSON. Texts are neutral: no exception text, no path, nothing of another thread.
"""

from __future__ import annotations

from typing import ClassVar


class SignoffError(Exception):
    """Base of everything signoff raises on purpose."""


class Refusal(SignoffError):
    """A request that cannot be taken as it is.

    Attributes:
        code: stable name of the refusal, for programs.
        status: HTTP status as problem JSON.
        message: one neutral sentence, for people.
        call_id: the callId that the refusal is about, if it is about one.
        retry_after_seconds: when to try again, for refusals that pass by themselves.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    default_message: ClassVar[str]

    def __init__(
        self,
        message: str | None = None,
        *,
        call_id: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        self.message: str = message or self.default_message
        self.call_id = call_id
        self.retry_after_seconds = retry_after_seconds
        super().__init__(self.message)


class InvalidBody(Refusal):
    code: ClassVar[str] = "invalid_body"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = "The request body is not what this route takes."


class AmbiguousBody(Refusal):
    code: ClassVar[str] = "ambiguous_body"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = "Send exactly one of message, decisions, results and inputs."


class UnknownCall(Refusal):
    code: ClassVar[str] = "unknown_call"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = "No call with this id waits for an answer."


class InvalidDecision(Refusal):
    code: ClassVar[str] = "invalid_decision"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = 'A decision is "approve", "reject" or ["reject", "reason"].'


class NothingPending(Refusal):
    code: ClassVar[str] = "nothing_pending"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = "Nothing waits for an answer in this thread."


class WrongKind(Refusal):
    code: ClassVar[str] = "wrong_kind"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = "The thread waits for another kind of answer."


class IncompleteResume(Refusal):
    code: ClassVar[str] = "incomplete_resume"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = "The resume does not answer every open interrupt."


class Unauthenticated(Refusal):
    code: ClassVar[str] = "unauthenticated"
    status: ClassVar[int] = 401
    default_message: ClassVar[str] = "Sign in first."


class Forbidden(Refusal):
    code: ClassVar[str] = "forbidden"
    status: ClassVar[int] = 403
    default_message: ClassVar[str] = "You may not do this."


class NotFound(Refusal):
    code: ClassVar[str] = "not_found"
    status: ClassVar[int] = 404
    default_message: ClassVar[str] = "There is nothing here."


class AwaitingDecision(Refusal):
    code: ClassVar[str] = "awaiting_decision"
    status: ClassVar[int] = 409
    default_message: ClassVar[str] = "The thread waits for a decision. Answer it first."


class AlreadyDecided(Refusal):
    code: ClassVar[str] = "already_decided"
    status: ClassVar[int] = 409
    default_message: ClassVar[str] = "This call has been decided already."


class RunInProgress(Refusal):
    code: ClassVar[str] = "run_in_progress"
    status: ClassVar[int] = 409
    default_message: ClassVar[str] = "The thread is busy with an earlier message."


class TooLarge(Refusal):
    code: ClassVar[str] = "too_large"
    status: ClassVar[int] = 413
    default_message: ClassVar[str] = "The request body is too large."


class UnsupportedMediaType(Refusal):
    code: ClassVar[str] = "unsupported_media_type"
    status: ClassVar[int] = 415
    default_message: ClassVar[str] = "Send application/json."


class TooManyRequests(Refusal):
    code: ClassVar[str] = "too_many_requests"
    status: ClassVar[int] = 429
    default_message: ClassVar[str] = "Too many requests. Wait a moment."


class Unavailable(Refusal):
    code: ClassVar[str] = "unavailable"
    status: ClassVar[int] = 503
    default_message: ClassVar[str] = "The service cannot answer now. Try again shortly."


class ConfigurationError(SignoffError):
    """A tool, policy, source or setting that cannot work; raised where it is constructed."""


class ToolFailed(SignoffError):
    """Raised by a tool to say why it failed. ``str()`` goes to the model and to the person.

    The text of any other exception goes to neither: it may hold a secret or a path, and results are
    shown in a browser. Those calls end in "The tool failed.".
    """


class InvalidArguments(SignoffError):
    """Inputs that a tool's schema does not take. ``str()`` is fit for the model to read."""


class NotApproved(SignoffError):
    """A gated call was about to run without a recorded approval of its exact inputs.

    It means that a source is wrong, never that a person is: the call does not run.
    """


class CorruptRecord(SignoffError):
    """A stored record of the wrong shape. Guessing could turn a rejection into consent."""
