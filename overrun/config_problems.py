"""What is wrong with a configuration, said so that it can be mended: where, which key, why, what to write instead.

Problems of one file are collected and raised together as `ConfigError`. Values are repeated only where a key cannot
hold a secret, and control characters in them are shown escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from overrun.config_places import KeyPath, line_of
from overrun.redaction import looks_secret
from sql.text import shortened, visible

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

_CHECK_HINT = "mend the file, then try overrun check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing to mend, or with `ConfigError` apart, one warning."""

    place: str
    """`file:line`, or the environment variable or option that gave the value."""
    key: str
    """Dotted key, empty where the file as a whole is meant."""
    message: str
    """One lower-case clause."""
    hint: str | None = None

    def __str__(self) -> str:
        """Return `place: key: message`."""
        return ": ".join(part for part in (self.place, self.key, self.message) if part)


class ConfigError(Exception):
    """The configuration cannot be used; `problems` are all that were found, in the order of the file."""

    def __init__(self, problems: Collection[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        if len(self.problems) == 1:
            super().__init__(str(first))
            self.hint: str | None = first.hint or _CHECK_HINT
            return
        lines = [f"the configuration has {len(self.problems)} problems", *map(_indented, self.problems)]
        super().__init__("\n".join(lines))
        self.hint = _CHECK_HINT


def _indented(problem: Problem) -> str:
    return f"  {problem} ({problem.hint})" if problem.hint else f"  {problem}"


@dataclass(slots=True, kw_only=True)
class Findings:
    """Collects the problems and warnings of one file."""

    file: str
    places: Mapping[KeyPath, int]
    origins: Mapping[KeyPath, str] = field(default_factory=dict)
    """Where a value that does not come from the file comes from."""
    problems: list[tuple[KeyPath, Problem]] = field(default_factory=list)
    warnings: list[tuple[KeyPath, Problem]] = field(default_factory=list)

    def refuse(self, path: KeyPath, message: str, hint: str | None = None) -> None:
        """Note a problem of the key at `path`."""
        self.problems.append((path, self._problem(path, message, hint)))

    def warn(self, path: KeyPath, message: str, hint: str | None = None) -> None:
        """Note something that works but is hardly meant."""
        self.warnings.append((path, self._problem(path, message, hint)))

    def raise_problems(self) -> None:
        """Raise ConfigError where there is any problem."""
        if self.problems:
            raise ConfigError(self._in_order(self.problems))

    def ordered_warnings(self) -> tuple[Problem, ...]:
        """Return the warnings in the order of the file."""
        return tuple(self._in_order(self.warnings))

    def _in_order(self, findings: list[tuple[KeyPath, Problem]]) -> list[Problem]:
        in_order = sorted(findings, key=lambda finding: line_of(self.places, finding[0]))
        return list(dict.fromkeys(problem for _, problem in in_order))

    def _problem(self, path: KeyPath, message: str, hint: str | None) -> Problem:
        place = self.origins.get(path) or f"{self.file}:{line_of(self.places, path)}"
        return Problem(place=place, key=dotted(path), message=message, hint=hint)


def dotted(path: KeyPath) -> str:
    """Return the key as people say it; positions in lists are left out, since the line tells them."""
    return visible(".".join(part for part in path if isinstance(part, str)))


def shown_value(value: object) -> str:
    """Return a value in quotes, short and without control characters."""
    return f'"{shortened(visible(str(value)), 60)}"'


def nearest(word: str, known: Collection[str]) -> str | None:
    """Return the known word that was probably meant."""
    folded = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(word.lower().replace("-", "_"), folded, n=1, cutoff=0.6)
    matches = matches or get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def note_errors(
    findings: Findings, errors: list[ErrorDetails], *, model: type[BaseModel], path: KeyPath, raw: object
) -> None:
    """Turn pydantic's errors about `raw`, the table at `path`, into problems."""
    for error in errors:
        local = _known_path(error["loc"], raw)
        if error["type"].startswith("union_tag_"):
            local = (*local, "kind")
        message, hint = _explained(error, local, model, raw)
        findings.refuse((*path, *local), message, hint)


def _known_path(location: tuple[int | str, ...], raw: object) -> KeyPath:
    """Drop the parts of a pydantic location that are names of branches, not keys of the file."""
    path: list[str | int] = []
    for position, part in enumerate(location):
        is_last = position == len(location) - 1
        is_key = isinstance(raw, dict) and (part in raw or (is_last and part != "[key]"))
        is_index = isinstance(raw, list) and isinstance(part, int) and part < len(raw)
        if is_key or is_index:
            path.append(part)
            raw = raw[part] if is_index or part in raw else None  # type: ignore[index, operator]
    return tuple(path)


def _explained(error: ErrorDetails, path: KeyPath, model: type[BaseModel], raw: object) -> tuple[str, str | None]:
    """Return the message and hint for one error."""
    match error["type"]:
        case "extra_forbidden":
            return "unknown key", _near_key_hint(str(path[-1]), known_keys(model, path[:-1]))
        case "missing":
            return "is missing", None
        case "union_tag_not_found" | "union_tag_invalid":
            tag = error["ctx"].get("tag")
            return _unknown_choice(tag, known_kinds(model))
        case "literal_error":
            return _explained_choice(error, path, raw)
        case "value_error":
            return str(error["ctx"]["error"]), None
    return _TYPE_MESSAGES.get(error["type"], _lowered(error["msg"])), None


_TYPE_MESSAGES = {
    "string_type": "must be a text in quotes",
    "int_type": "must be a whole number",
    "list_type": "must be a list, in square brackets",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}


def _lowered(message: str) -> str:
    return message.removeprefix("Input ").replace("should", "must", 1)


def _explained_choice(error: ErrorDetails, path: KeyPath, raw: object) -> tuple[str, str | None]:
    value = _value_at(raw, path)
    if not isinstance(value, str) or any(looks_secret(part) for part in path if isinstance(part, str)):
        return f"must be {error['ctx']['expected']}".replace("'", '"'), None
    known = [word for word in error["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ") if word]
    return _unknown_choice(value, known)


def _unknown_choice(value: str | None, known: Collection[str]) -> tuple[str, str]:
    if value is None:
        return "is missing", f"known: {', '.join(known)}"
    near = nearest(value, known)
    advice = f'did you mean "{near}"? ' if near else ""
    return f"{shown_value(value)} is not known", f"{advice}known: {', '.join(known)}"


def _value_at(raw: object, path: KeyPath) -> object:
    for part in path:
        raw = raw[part]  # type: ignore[index]
    return raw


def _near_key_hint(key: str, known: Collection[str]) -> str:
    near = nearest(key, known)
    return f"did you mean {near}?" if near else f"known keys: {', '.join(known)}"


def known_keys(model: type[BaseModel], path: KeyPath = ()) -> list[str]:
    """Return the keys that the table at `path` below `model` may have, as they are spelt in the file."""
    models = [model]
    for part in path:
        if isinstance(part, str):
            models = [inner for outer in models for inner in _models_of(_fields(outer).get(part))]
    return list(dict.fromkeys(key for found in models for key in _fields(found)))


def known_kinds(channel: Any) -> list[str]:  # noqa: ANN401 - an annotated union is no class
    """Return the kinds that a union of tables with a `kind` tells apart."""
    return [kind for model in _models_of(channel) for kind in get_args(_fields(model)["kind"])]


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {info.alias or name: info.annotation for name, info in model.model_fields.items()}


def _models_of(annotation: Any) -> list[type[BaseModel]]:  # noqa: ANN401 - any type expression
    """Return the models inside a type expression such as `list[Model] | None`."""
    if hasattr(annotation, "model_fields"):
        return [annotation]
    inner = get_args(annotation)[:1] if get_origin(annotation) is Annotated else get_args(annotation)
    return [model for part in inner for model in _models_of(part)]


def sentence_as_clause(text: str) -> str:
    """Return a sentence of a library as a lower-case clause without full stop."""
    return (text[:1].lower() + text[1:]).rstrip(".")
