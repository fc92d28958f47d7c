"""How the prompts of the tool hijack are put (H&S, section 8.1); the tool itself is `equipoise_lab.redteam.hijack`."""

from dataclasses import dataclass

from equipoise_lab import prompts
from equipoise_lab.redteam.attack_types import AttackCase, Crafted
from equipoise_lab.redteam.hijack import CHALLENGE, Aim, written

REQUEST_PROMPT = "hijack-request-v1"


@dataclass(frozen=True, slots=True)
class AsWritten:
    """For prompts that want the tool called by themselves, such as those of LLMail-Inject."""

    async def craft(self, case: AttackCase) -> Crafted:
        """The question as it is; nothing is planted."""
        return Crafted(case.question)


@dataclass(frozen=True, slots=True)
class WithRequest:
    """For prompts made for something else, such as jailbreaks: asks for the call of `aim` in addition."""

    aim: Aim = CHALLENGE

    async def craft(self, case: AttackCase) -> Crafted:
        """The question with the request of prompt `hijack-request-v1`; nothing is planted."""
        call = written(self.aim.to, self.aim.body)
        return Crafted(prompts.load(REQUEST_PROMPT, prompt=case.question, call=call)[0].content)


@dataclass(frozen=True, slots=True)
class BehindQuestion:
    """Puts an honest question in front: there is something to highlight, so the attack gets past the highlighter."""

    question: str

    async def craft(self, case: AttackCase) -> Crafted:
        """The honest question, an empty line, the prompt; nothing is planted."""
        return Crafted(f"{self.question}\n\n{case.question}")
