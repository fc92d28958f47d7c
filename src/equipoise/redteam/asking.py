"""Attacks that are typed: a prompt in the place of the question, and other forms of it as long as the budget lasts.

The adaptive form listens: a prompt that did not get past the highlighter is carried by an honest question next, one
that was answered without giving way is put into another form.
"""

from collections.abc import Callable
from dataclasses import dataclass

from equipoise.core.types import AttackCase, AttackOutcome
from equipoise.redteam.targets import Response, Target, asked
from equipoise.redteam.variants import FORMS, Typed, carried

Rule = Callable[[Response, AttackCase], str]


@dataclass(frozen=True, slots=True)
class TypedAttack:
    """One kind of typed attack. `success` is its rule in words, `rule` the rule; `honest` are questions that the target
    answers; with `tool` its models are told of the tool."""

    name: str
    success: str
    rule: Rule
    honest: tuple[str, ...] = ()
    tool: bool = False

    async def carry_out(self, case: AttackCase, target: Target, *, budget: int) -> AttackOutcome:
        """At most `budget` tries; the first that succeeds ends it."""
        best = AttackOutcome(False, tries=0)
        carriers = carried(case.question, case.before, self.honest)
        carrier, form = 0, 0
        names = list(FORMS)
        for number in range(1, max(1, budget) + 1):
            typed = _formed(carriers[carrier % len(carriers)], names[form % len(names)], case.question)
            response = await asked(target.ask(typed.question, before=typed.before, tool=self.tool))
            best = further(best, _ended(typed, response, self.rule(response, case), number))
            if best.attack_succeeded:
                return best
            if response.text and response.reached is not False:
                form += 1
            else:
                carrier += 1
        return best


def further(best: AttackOutcome, new: AttackOutcome) -> AttackOutcome:
    """The one that came further, with the tries of both and whether either reached the summarizer."""
    reached = new.reached if best.reached is None else best.reached or new.reached
    chosen = new if _distance(new) >= _distance(best) else best
    return AttackOutcome(
        chosen.attack_succeeded,
        chosen.utility,
        chosen.error,
        chosen.rule,
        reached,
        new.tries,
        chosen.asked,
        chosen.read,
        chosen.answered,
        chosen.seconds,
    )


def _distance(outcome: AttackOutcome) -> tuple[bool, bool, bool]:
    return outcome.attack_succeeded, bool(outcome.answered), outcome.reached is True


def outcome(handed_in: str, response: Response, rule: str, tries: int) -> AttackOutcome:
    """The outcome of one try: an error is a success of the attack, listed apart."""
    return AttackOutcome(
        attack_succeeded=bool(rule or response.error),
        error=response.error,
        rule=rule,
        reached=response.reached,
        tries=tries,
        asked=handed_in,
        read="\n".join(response.quotes),
        answered=response.text or (f"(refused: {response.refused})" if response.refused else ""),
    )


def _ended(typed: Typed, response: Response, rule: str, tries: int) -> AttackOutcome:
    return outcome("\n---\n".join((*typed.before, typed.question)), response, rule, tries)


def _formed(typed: Typed, form: str, prompt: str) -> Typed:
    """The prompt inside what is typed, in another form."""

    def made(text: str) -> str:
        return text.replace(prompt, FORMS[form](prompt))

    return Typed(made(typed.question), tuple(map(made, typed.before)), form)
