"""The two demo pages as a person uses them. Both carry the same test ids (web-demo/README.md)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from playwright.sync_api import Locator, Page, expect

Kind: TypeAlias = Literal["vercel", "copilotkit"]
KINDS: tuple[Kind, Kind] = ("vercel", "copilotkit")

# What the model is told of a rejected call (design §6.4).
REJECTED = (
    "TOOL NOT EXECUTED. The user rejected this action. User instruction: {}. "
    "Do not attempt this tool again. Follow the user's instruction or reconsider your plan."
)
NO_REASON = "No specific instruction provided"


def other(kind: Kind) -> Kind:
    return "copilotkit" if kind == "vercel" else "vercel"


class ChatPage:
    """One open tab on one thread."""

    def __init__(self, page: Page, kind: Kind, thread: str) -> None:
        self.page = page
        self.kind = kind
        self.thread = thread

    # --- what a person does -------------------------------------------------------------------

    def visit(self) -> None:
        self.page.goto(f"/{self.kind}/?thread={self.thread}")
        expect(self.input).to_be_visible()

    def reload(self) -> None:
        self.page.reload()
        expect(self.input).to_be_visible()

    def say(self, text: str) -> None:
        self.send(text)
        expect(self.page.get_by_test_id("message-user").last).to_contain_text(text)

    def send(self, text: str) -> None:
        """Write it and send it, whatever becomes of it."""
        self._to_front()
        self.type(text)
        self.page.get_by_test_id("send").click()

    def type(self, text: str) -> None:
        expect(self.input).to_be_enabled()
        self.input.fill(text)

    def ask(self, text: str, *call_ids: str) -> None:
        """Say something that makes the agent ask, and wait for its cards."""
        self.say(text)
        self.expect_open(*call_ids)

    def approve(self, call_id: str) -> None:
        self._to_front()
        self.card(call_id).get_by_test_id("approve").click()

    def reject(self, call_id: str, reason: str = "") -> None:
        self._to_front()
        card = self.card(call_id)
        card.get_by_test_id("reject").click()
        card.get_by_test_id("reject-reason").fill(reason)
        card.get_by_test_id("confirm-reject").click()

    def stop(self) -> None:
        """Cancel the run. CopilotKit's send button is the stop button while a run goes on."""
        self.page.get_by_test_id("stop" if self.kind == "vercel" else "send").click()

    # --- what a person sees -------------------------------------------------------------------

    @property
    def input(self) -> Locator:
        return self.page.get_by_test_id("chat-input")

    @property
    def refusal(self) -> Locator:
        return self.page.get_by_test_id("refusal")

    @property
    def problem(self) -> Locator:
        return self.page.get_by_test_id("problem")

    @property
    def failure(self) -> Locator:
        """Why the run failed; behind answers CopilotKit's page is told as of a refusal."""
        return self.problem.or_(self.refusal)

    @property
    def unfinished(self) -> Locator:
        """What a page that loads the thread is told of a run that failed."""
        return self.page.get_by_test_id("unfinished")

    def card(self, call_id: str) -> Locator:
        return self._of_call("approval-card", call_id)

    def settled(self, call_id: str) -> Locator:
        return self._of_call("settled-call", call_id)

    def expect_open(self, *call_ids: str) -> None:
        """Exactly these calls wait for an answer, and nothing can be written meanwhile."""
        cards = self.page.locator('[data-testid="approval-card"][data-state="open"]')
        expect(cards).to_have_count(len(call_ids))
        for call_id in call_ids:
            expect(self.card(call_id)).to_have_attribute("data-state", "open")
            expect(self.settled(call_id)).to_have_count(0)
        expect(self.input).to_be_disabled()

    def expect_settled(self, **outcomes: str) -> None:
        """These calls, and no others, stand decided in the transcript; nothing is open."""
        for call_id, outcome in outcomes.items():
            expect(self.settled(call_id)).to_have_count(1)
            expect(self.settled(call_id)).to_have_attribute("data-outcome", outcome)
        expect(self.page.get_by_test_id("settled-call")).to_have_count(len(outcomes))
        expect(self.page.get_by_test_id("approval-card")).to_have_count(0)

    def expect_said(self, text: str) -> None:
        expect(self.page.get_by_test_id("message-assistant").filter(has_text=text)).to_have_count(1)

    def expect_usable(self) -> None:
        """Nothing is open, nothing runs: the next message can be written and sent."""
        self.type("hello")
        expect(self.page.get_by_test_id("send")).to_be_enabled()
        self.input.fill("")

    def expect_unfinished(self) -> None:
        """The last run failed: the page says so quietly, and the next message can be written."""
        expect(self.unfinished).to_be_visible()
        expect(self.failure).to_have_count(0)
        self.expect_usable()

    def facts(self, call_id: str) -> str:
        """Everything a card tells of its call."""
        card = self.card(call_id)
        card.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
        return card.inner_text()

    def _to_front(self) -> None:
        """As a person does; in a tab behind, the browser draws one frame a second."""
        self.page.bring_to_front()

    def _of_call(self, test_id: str, call_id: str) -> Locator:
        return self.page.locator(f'[data-testid="{test_id}"][data-call-id="{call_id}"]')
