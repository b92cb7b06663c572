"""What stands on the page of `duologue label`: `page` is called anew after each click.

Texts of conversations stand in HTML of our own, which escapes them. Nothing of a conversation is given to Streamlit as
Markdown, and names, values and what people write are escaped in its buttons, which read Markdown. A label's page is
Markdown, of which images are left out: the page loads nothing from elsewhere.

The key of each control contains the item that is labelled. So a late second click, or one in another window, belongs to
a control that has gone, and never labels the next item.
"""

import os
import re
from collections.abc import Sequence
from secrets import compare_digest
from typing import Any, Literal, get_args

import streamlit as st

from ..data.identity import digest
from ..data.labels.definition import LabelDefinition
from ..data.labels.table import Item, LabelAnswer
from ..errors import DuologueError
from ..studies.labelling import LabellingSettings, PersonWork, View, work_of
from ..views.labelling import Shown, labelling_page
from . import SETTINGS, TOKEN

HEIGHT = 720
"""Pixels of the conversation's frame, where the style of the page does not say another height."""
MOST_TYPED = 20_000
"""Characters of a text that can be typed or pasted into a box: a longer one would fill the person's file."""
MOST_SHOWN = 80
"""Characters of a value on the button that opens its part again."""
_MARKS = re.compile(r"[\\`*\[\]<>|~$]|(?<!\w)_|_(?!\w)|:(?=\S)|&(?=[#\w]+;)|(?<=\d)[.)](?=\s|$)|^[-+#=]")
"""What Markdown does not leave as it is."""
_IMAGE_OR_FORMULA = re.compile(r"!(?=\[)|(?<!\\)\$")
"""Where an image begins in Markdown, or what Streamlit takes for a formula."""


def page() -> None:
    """The page as it stands after the last click; nothing without the token of the printed address."""
    st.set_page_config(page_title="Duologue: label", layout="wide")
    if not compare_digest(str(st.query_params.get("token", "")).encode(), os.environ[TOKEN].encode()):
        st.error("Open the address that the command printed, with its token.")
        return
    try:
        _shown_work(_work())
    except DuologueError as error:  # another page of this person is open, the disk is full: one line, no traceback
        st.error(plain(str(error)))


def _shown_work(work: PersonWork) -> None:
    item = _item(work)
    view = _head(work)
    if refusal := work.refusal():
        st.warning(refusal)
        return
    if item is None:
        st.success(f"All {len(work.items)} are labelled. Thank you." if work.items else "Nothing is left to label.")
        _last(work)
        _undo(work)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left, st.container(height=HEIGHT, key="conversation"):
        st.html(work.html(item, view))
    with right:
        part = _form(work, item, work.definition(item))
    st.html(labelling_page(key_of(item), work.question(item, part)), unsafe_allow_javascript=True)


@st.cache_resource(show_spinner=False)
def _work() -> PersonWork:
    """The work of this server, opened once: it holds the lock of the person's file."""
    return work_of(LabellingSettings.model_validate_json(os.environ[SETTINGS]))


def _item(work: PersonWork) -> Item | None:
    """The current item: the one chosen by a click, else the first that has no answer."""
    waiting = work.waiting
    item_key = st.session_state.get("item")
    item = next(
        (waiting_item for waiting_item in waiting if waiting_item.key == item_key), waiting[0] if waiting else None
    )
    key = item.key if item is not None else None
    if st.session_state.get("item") != key or "value" not in st.session_state:
        st.session_state.update(item=key, value={}, part=None)
    return item


def _head(work: PersonWork) -> View:
    """Progress, and what of a conversation is shown."""
    done = len(work.items) - len(work.waiting)
    view = View(user_only=False, language="as stored")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(done / max(1, len(work.items)), text=f"{done} of {len(work.items)} labelled as {work.answers.by}")
        if work.has_views:
            languages: list[Shown] = list(get_args(Shown))
            with st.popover("View"):
                chosen = st.selectbox("Language", languages, index=languages.index("as stored"), key="language")
                alone = st.toggle("Only the user's messages", key="user_only")
            view = View(user_only=alone, language=chosen)
    return view


def _form(work: PersonWork, item: Item, label: LabelDefinition) -> str | None:
    """The form of the questions and of changes to answers; returns the part that is open."""
    value: dict[str, Any] = st.session_state["value"]
    about = key_of(item)
    open_parts = [name for name in label.parts if label.applies(name, value)]
    for name in set(value) - set(open_parts):  # what it depended on was changed
        del value[name]
    missing = [name for name in open_parts if name not in value]
    current = st.session_state["part"] if st.session_state["part"] in open_parts else next(iter(missing), None)
    if current is None and is_choice(label, open_parts[-1]):  # stays open: another key puts a slip right
        current = open_parts[-1]
    st.subheader(plain(label.title), anchor=False)
    if work.show_model == "before" and (model_value := work.model_value(item)):
        st.text(f"Label in the data: {_in_words(model_value)}")
    if current is not None:
        _part(current, label, value, about)
    ready = not missing and (current is None or is_choice(label, current))
    with st.container(horizontal=True):  # on a narrow page they stand below each other
        shortcut = "Enter" if ready else None
        pressed = st.button("Save", key=f"{about} save", type="primary", disabled=not ready, shortcut=shortcut)
        if pressed and ready:
            work.answer(item, {name: value[name] for name in open_parts})
            st.rerun()
        _undo(work)
        if st.button("Later", key=f"{about} later", shortcut="S"):
            work.later(item)
            st.session_state["item"] = None
            st.rerun()
    with st.container(gap=None):  # below what is asked now, which stays at its place however many there are
        for name in open_parts:
            if name != current and st.button(_shown(name, value), key=f"{about} open {name}", type="tertiary"):
                st.session_state["part"] = name
                st.rerun()
    _last(work)
    apart = any(label.about(name) != label.definition for name in label.parts)  # what they mean stands above each part
    with st.expander("What the values mean", expanded=not apart):
        st.markdown(as_written(label.definition))
    st.caption("Keys: digits choose, Enter saves and shows the next, U takes back, S comes back to it later.")
    return current


def _part(name: str, label: LabelDefinition, value: dict[str, Any], item: str) -> None:
    """The controls of the part that is open; a choice opens the next one."""
    part = label.parts[name]
    if len(label.parts) > 1 and (about := label.about(name)) != label.definition:
        st.markdown(as_written(about))
    elif len(label.parts) > 1:
        st.text(name)
    if part.text:
        # A form takes what is in the box when the button is pressed; alone, the box would have to be left before.
        with st.form(f"{item} form {name}", border=False):
            key = f"{item} text {name}"
            typed = st.text_area(
                plain(name), value.get(name, ""), max_chars=MOST_TYPED, key=key, label_visibility="collapsed"
            )
            written = typed or ""
            pressed = st.form_submit_button("Next  (Ctrl+Enter)", key=f"{item} next {name}")
        if pressed and written.strip():
            _choose(name, written.strip())
        return
    chosen = list(value.get(name, [])) if part.several else []
    for choice, digit in zip(part.choices, digits(part.choices), strict=True):
        words = "yes" if choice is True else "no" if choice is False else with_gloss(choice, label.definition)
        place = f" ({chosen.index(choice) + 1})" if choice in chosen else ""
        kind: Literal["primary", "secondary"] = (
            "primary" if choice in chosen or value.get(name) == choice else "secondary"
        )
        if st.button(plain(words) + place, key=f"{item} {name}={choice}", shortcut=digit, type=kind, width="stretch"):
            if not part.several:
                _choose(name, choice)
            st.session_state["value"][name] = _toggled(chosen, choice)
            st.session_state["part"] = name
            st.rerun()
    if part.several:
        problem = part.problem(chosen)
        if problem:
            st.caption(f"Choose {part.several[0]} to {part.several[1]}, the surest first.")
        key = f"{item} next {name}"
        if st.button("Next", key=key, disabled=bool(problem), shortcut=None if problem else "Enter") and not problem:
            _choose(name, chosen)


def _choose(name: str, choice: Any) -> None:
    st.session_state["value"][name] = choice
    st.session_state["part"] = None
    st.rerun()


def _toggled(chosen: list[Any], choice: Any) -> list[Any]:
    return [value for value in chosen if value != choice] if choice in chosen else [*chosen, choice]


def _undo(work: PersonWork) -> None:
    last = work.last
    key = f"{'' if last is None else key_of(last)} undo"
    if st.button("Undo", key=key, shortcut="U", disabled=last is None) and last is not None:
        item = work.undo()
        if item is not None:
            st.session_state.update(item=item.key, value=work.form_value(item, last.value), part=None)
        st.rerun()


def _last(work: PersonWork) -> None:
    """The last answer, and only now the value that the data holds."""
    last = work.last
    if last is None or work.show_model == "never":
        return
    item = next((item for item in work.items if item.key == last.key), None)
    model_value = None if item is None else work.model_value(item)
    if item is not None and model_value is not None:
        st.text(f"Your last answer: {_in_words(last.value)}\nLabel in the data: {_in_words(model_value)}")


def key_of(item: Item | LabelAnswer) -> str:
    """The beginning of the keys of an item's controls."""
    return digest("controls", *item.key)[:12]


def plain(text: str) -> str:
    """A text in a place that reads Markdown, as it is: every mark is escaped."""
    return _MARKS.sub(lambda mark: "\\" + mark[0], " ".join(text.split()))


def is_choice(label: LabelDefinition, name: str) -> bool:
    """Whether one value is chosen here, by a key or a click, and no more is to be done."""
    return not label.parts[name].text and label.parts[name].several is None


def as_written(text: str) -> str:
    """The Markdown of a label's page, whose images are links, and whose `$` is a dollar and begins no formula."""
    return _IMAGE_OR_FORMULA.sub(lambda mark: "\\" + mark[0], text)


def with_gloss(choice: object, definition: str) -> str:
    """A value, and behind it what stands in brackets after it where it is defined: its translation.

    >>> with_gloss("否", "- **否** (no): nothing in it is known to be wrong.")
    '否 (no)'
    """
    gloss = re.search(rf"\*\*{re.escape(str(choice))}\*\* (\([^()]+\))", definition)
    return f"{choice} {gloss[1]}" if gloss else str(choice)


def digits(choices: Sequence[object]) -> list[str | None]:
    """The key of each choice: a number of one digit is its own key.

    Otherwise the first nine choices are counted from 1.
    """
    if all(type(choice) is int and 0 <= choice <= 9 for choice in choices):
        return [str(choice) for choice in choices]
    return [str(number) if number <= 9 else None for number in range(1, len(choices) + 1)]


def _shown(name: str, value: dict[str, Any]) -> str:
    """A part with its value, on the button that opens it again."""
    words = " ".join(_in_words(value.get(name, "…")).split())
    return plain(f"{name}: {words if len(words) <= MOST_SHOWN else f'{words[:MOST_SHOWN]}…'}")


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} {_in_words(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "yes" if value is True else "no" if value is False else str(value)
