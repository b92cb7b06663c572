"""Prompt templates as GEPA sees them: which may be rewritten, what is allowed in them, and their results."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...data.attempts import Record
from ...data.people.splits import UserPart
from ...data.tuning import Judgement
from ...errors import SettingError, of_extra
from ...prompts import Library, Page, PromptError
from .search_space import EXTRA

REFUSED = -1_000.0
"""Score of pages that cannot be used: below that of any that can."""
REMEMBERED = 3
"""How many texts that could not be used the feedback names, the last ones."""
FEEDBACK = 8
"""Maximum of measures in the feedback on a prompt template."""
MOST_CHARACTERS = 20_000
"""Maximum of characters of a prompt template that a model writes."""

REFLECTION_PROMPT = """A model plays a user who talks to an assistant. This is one of the pages of its instructions:
```
<curr_param>
```

Conversations were simulated with it and compared with those of people. What came of it:
```
<side_info>
```

Write the page anew, so that the user writes more like people do. Keep every gap such as {{ name }} and every mark such as
<name> and </name> exactly as it is, and add none. Say in plain words how people write; copy no message.

Answer with the whole new page within ``` marks."""


class EvaluatedPages(Record):
    """Pages that were tried on the people of a part, or a reply of the model that writes them."""

    key: str
    judgement: Judgement | None = None
    refused: str = ""
    """Why the pages cannot be used."""
    messages: tuple[str, ...] = ()
    """Some of the user's messages."""
    reply: str = ""


def tunable(library: Library, names: Sequence[str]) -> dict[str, Page]:
    """The prompt templates to search for, by name.

    SettingError for an unknown one, or one that is more than text with template variables.
    """
    for name in names:
        if name not in library:
            raise SettingError(
                f"--template-name {name}: there is no such template, only {', '.join(sorted(library.pages))}"
            )
        if not library[name].is_plain:
            raise SettingError(f"--template-name {name}: is more than text with variables: choose another template")
    page_names = names or [
        name
        for name, page in library.pages.items()
        if name.startswith("user/") and not name.startswith(("user/repair_", "user/post_")) and page.is_plain
    ]
    return {name: library[name] for name in sorted(page_names)}


def refusal(page: Page, text: str) -> str:
    """The reason why a text cannot replace a prompt template; empty if it can.

    It may have only text, the template's variables and its marks.
    """
    candidate = Page(page.name, text)
    if not text.strip():
        return "the page is empty"
    if len(text) > MOST_CHARACTERS:
        return f"the page has {len(text):,} characters, more than {MOST_CHARACTERS:,}"
    try:
        candidate.check()
        if not candidate.is_plain:
            return "the page has template syntax other than plain {{ gaps }}"
        if candidate.gaps != page.gaps:
            return f"the page must have these gaps and no others: {', '.join(sorted(page.gaps)) or 'none'}"
        if set(candidate.marks) != set(page.marks):
            return f"the page must have these marks and no others: {', '.join(page.marks) or 'none'}"
        candidate.try_out()
    except PromptError as error:
        return str(error)
    return ""


class Adapter:
    """GEPA's view of a simulator: a candidate is a text for each page, an instance a part of the people."""

    propose_new_texts = None
    """GEPA's own proposer writes the texts."""

    def __init__(
        self, pages: Mapping[str, Page], evaluated: Callable[[dict[str, str], UserPart], EvaluatedPages]
    ) -> None:
        self.pages = pages
        self._evaluated = evaluated
        self._refused: dict[str, list[str]] = {}
        """Why texts for a page could not be used, the last one at the end."""
        self._batch: Any = of_extra("gepa.core.adapter", EXTRA).EvaluationBatch

    def evaluate(self, batch: list[UserPart], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        """The result of runs with the candidate's prompt templates.

        The score is the negative value of the judgement; templates that cannot be used have the worst score.
        """
        outcomes = [self._one(candidate, part) for part in batch]
        scores = [REFUSED if outcome.judgement is None else -outcome.judgement.value for outcome in outcomes]
        return self._batch(outputs=outcomes, scores=scores, trajectories=outcomes if capture_traces else None)

    def _one(self, candidate: dict[str, str], part: UserPart) -> EvaluatedPages:
        for name, page in self.pages.items():
            if why := refusal(page, candidate[name]):
                self._refused.setdefault(name, []).append(why)
                return EvaluatedPages(key="", refused=f"{name}: {why}")
        return self._evaluated(candidate, part)

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """The results for each prompt template: some messages, and the report's rows in words."""
        return {
            name: [
                _record(outcome, self.pages[name], self._refused.get(name, [])[-REMEMBERED:])
                for outcome in eval_batch.trajectories or eval_batch.outputs
            ]
            for name in components_to_update
        }


def _record(outcome: EvaluatedPages, page: Page, refused: Sequence[str]) -> dict[str, Any]:
    keep = f"Keep these gaps: {', '.join(f'{{{{ {gap} }}}}' for gap in sorted(page.gaps)) or 'none'}."
    keep = "\n".join([*(f"A text that was tried could not be used: {why}." for why in refused), keep])
    if outcome.judgement is None:
        return {"Generated Outputs": "none", "Feedback": f"The page cannot be used: {outcome.refused}. {keep}"}
    words = outcome.judgement.words[:FEEDBACK] or ("No measure is further from people than people from each other.",)
    return {"Generated Outputs": list(outcome.messages), "Feedback": "\n".join([*words, keep])}
