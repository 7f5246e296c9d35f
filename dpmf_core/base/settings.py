"""The settings of a server's operator, read once from the environment and one TOML file.

A setting comes from its environment variable (`DPMF_` and its name in capitals), else from the file
in DPMF_SETTINGS (or `settings.toml` in the data folder), else from the profile. A profile is a set
of defaults: `local` for one person at one machine, `class` for a server that strangers use.
"""

import functools
import os
import stat
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from dpmf_core.base.errors import BadInput, closest
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.paths import data_folder
from dpmf_core.base.program import program

FILE = "settings.toml"
NAMES_FILE = "DPMF_SETTINGS"
PREFIX = "DPMF_"
SECRET = frozenset({"lesson_key"})  # settings whose value is never printed
WITHOUT_LIMIT = "unlimited"  # TOML and the environment have no None
WHOSE = "The operator of this server set this limit."


def _limit(value: Any) -> Any:
    if value == WITHOUT_LIMIT:
        return None
    return value


def _names(value: Any) -> Any:
    """Names, which commas separate in the environment."""
    if isinstance(value, str) and value != WITHOUT_LIMIT:
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return _limit(value)


def _lower_case(value: Any) -> Any:
    names = _names(value)
    if isinstance(names, tuple | list):
        return tuple(str(name).lower() for name in names)
    return names


Host = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9_][a-z0-9_-]*(\.[a-z0-9_-]+)*$")
]
Hosts = Annotated[tuple[Host, ...], BeforeValidator(_lower_case)]
Origin = Annotated[
    str, StringConstraints(pattern=r"^https?://[a-z0-9._-]+(:\d{1,5})?$")
]
Origins = Annotated[tuple[Origin, ...], BeforeValidator(_lower_case)]
Limit = Annotated[int | None, BeforeValidator(_limit)]
Megabytes = Annotated[int, Field(ge=100)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
NamesOrAll = Annotated[tuple[str, ...] | None, BeforeValidator(_names)]

CLASS: dict[str, Any] = {
    "data_sets": (
        "cinema", "cinema-small", "lowrank", "lowrank-5k", "lowrank-10k", "rankone-20k",
        "rankone-900-20k", "ml-100k", "ml-1m", "jester", "news", "faces", "digits", "olivetti",
        "20newsgroups", "tdt2", "yaleb",
        "cbcl", "orl", "guardian", "uci-news",
    ),
    "largest_audit": 5_000, "largest_sweep": 5_000, "largest_search": 100,
    "downloads": "operator", "deletes": "operator", "most_runs": 20_000, "most_lessons": 1_000,
    "upload_mb_per_session": 200, "upload_mb_total": 600, "runs_in_flight": 8,
    "estimated_seconds": 1_800, "seconds_per_run": 600, "memory_per_run": 1_500,
}  # fmt: skip
PROFILES: dict[str, dict[str, Any]] = {"local": {}, "class": CLASS}


class Settings(Frozen):
    """Every setting, with the values of the `local` profile as defaults, and its description."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    profile: Literal["local", "class"] = "local"
    """defaults for all other settings: local (one person, one machine) or class"""
    operators: Names = ()
    """logins that see the Operator page and may do everything: an e-mail address verified by the
    login provider, or the provider's address, a space and the subject it gives"""
    hosts: Hosts = ()
    """host names that the server answers to, in addition to this machine's, without https:// and
    port: dpmf.example.org"""
    embed_in: Origins = ()
    """sites that may show pages in a frame: https://course.example.org"""
    open: Literal["", "on-purpose"] = ""
    """on-purpose: listen without a login at an address that others can reach"""
    metrics: Literal["", "open"] = ""
    """open: answer at /_stcore/metrics"""
    data_sets: NamesOrAll = None
    """ids of the data sets that may be used; a session's own files are always allowed"""
    largest_audit: Limit = Field(None, ge=1)
    """most training runs in one audit"""
    largest_sweep: Limit = Field(None, ge=1)
    """most runs in one sweep, and on one page at a time"""
    largest_search: Limit = Field(None, ge=1)
    """most trials in one search"""
    downloads: Literal["everybody", "operator"] = "everybody"
    """who may make the server download a published data set"""
    deletes: Literal["owner", "operator"] = "owner"
    """who may delete a stored run: the person who started it, or only the operator"""
    pages_without_lesson: NamesOrAll = None
    """addresses of the pages that open without a lesson link, e.g. lessons, glossary"""
    most_runs: Limit = Field(None, ge=1)
    """most stored runs; beyond that the oldest unpinned run is removed"""
    most_lessons: int = Field(10_000, ge=1)
    """most classes whose answers are kept; beyond that the oldest are removed that no teacher has
    opened or that have no answer"""
    room_code_hours: int = Field(24, ge=1, le=168)
    """hours for which a room code opens its class"""
    lesson_key: SecretStr | None = Field(None, min_length=32)
    """secret of at least 32 letters that signs lesson links and completion codes; if unset, a key
    in the data folder signs them, and links expire when it is lost"""
    upload_mb_per_session: int = Field(400, ge=1)
    """most megabytes that one session may upload and keep"""
    upload_mb_total: int = Field(1_600, ge=1)
    """most megabytes that all sessions together may upload and keep"""
    users_per_upload: int = Field(1_000_000, ge=2)
    """most users, documents or images of one upload"""
    items_per_upload: int = Field(100_000, ge=1)
    """most items of one upload"""
    ratings_per_upload: int = Field(20_000_000, ge=2)
    """most ratings of one upload"""
    memory_per_upload: Megabytes = 512
    """most megabytes that reading one upload may take, in addition to its libraries"""
    seconds_per_upload: int = Field(60, ge=1)
    """most seconds of processor time that reading one upload may take"""
    runs_in_flight: Limit = Field(None, ge=1)
    """most runs that one person (a login or a browser) may compute at the same time"""
    estimated_seconds: Limit = Field(7_200, ge=1)
    """most estimated seconds of computing that one person may have waiting"""
    seconds_per_run: Limit = Field(1_800, ge=1)
    """seconds after which one run that a page asked for is stopped"""
    memory_per_run: Annotated[
        Megabytes | Literal["half"] | None, BeforeValidator(_limit)
    ] = "half"
    """most megabytes of one worker before its run is stopped; half: half of the memory this server
    may use"""
    confirm_seconds: int = Field(120, ge=1)
    """estimated seconds above which an audit, a sweep or a search needs confirmation by a button"""
    warm: bool = True
    """whether idle workers compute what pages show first, at every epsilon of their grids"""


def file() -> Path:
    """The path of the settings file, which need not exist."""
    name = os.environ.get(NAMES_FILE)
    if name:
        return Path(name).expanduser()
    return data_folder() / FILE


def _origins() -> dict[str, tuple[Any, str]]:
    """The values in the file and in the environment, which takes precedence, with their sources."""
    path = file()
    origins = {name: (value, str(path)) for name, value in _in_file(path).items()}
    for name in Settings.model_fields:
        variable = f"{PREFIX}{name.upper()}"
        if variable in os.environ:
            origins[name] = os.environ[variable], variable
    return origins


def read() -> Settings:
    """Read the settings.

    Raises
    ------
    BadInput
        If a setting is not valid. The message names the file, the setting, what is allowed and what
        was found.
    """
    origins = _origins()
    values = {name: value for name, (value, _) in origins.items()}
    profile = PROFILES.get(str(values.get("profile")), {})
    try:
        return Settings(**profile | values)
    except ValidationError as error:
        problems = error.errors()[:3]
        raise BadInput(
            " ".join(_sentence(problem, origins) for problem in problems)
        ) from None


@functools.lru_cache(1)
def settings() -> Settings:
    """The settings of this process, read on first use.

    Raises
    ------
    BadInput
        As `read`.
    """
    return read()


def _in_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        if os.environ.get(NAMES_FILE):
            raise BadInput(
                f"There is no settings file {path}, which {NAMES_FILE} names. Create it, or unset"
                f" {NAMES_FILE}."
            )
        return {}
    _require_own_file(path)
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(
            f"The settings file {path} cannot be read: {error}. It is a TOML file with lines such"
            " as largest_audit = 2000."
        ) from None


def _require_own_file(path: Path) -> None:
    """Raise BadInput if another account of this machine could have written the file.

    Systems without POSIX accounts are not checked.
    """
    if not hasattr(os, "geteuid"):
        return
    status = path.stat()
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH:
        raise BadInput(
            f"The settings file {path} can be changed by others on this machine. Run chmod o-w on"
            " it and start again."
        )


def _sentence(problem: ErrorDetails, origins: dict[str, tuple[Any, str]]) -> str:
    name = str(problem["loc"][0])
    advice = f"`{program()} app --settings`"
    source = origins[name][1]
    if problem["type"] == "extra_forbidden":
        near = closest(name, Settings.model_fields)
        return f"{source}: there is no setting '{name}'.{near} {advice} lists all."
    if name in SECRET:
        got = ""
    else:
        got = f" Got {problem['input']!r}."
    why = f" ({problem['msg']})"
    if problem["type"] == "string_pattern_mismatch":
        why = f". It takes {_words(Settings.model_fields[name])}"
    return f"{source}: the setting '{name}' cannot be used{why}.{got} {advice} explains it."


def _words(info: FieldInfo) -> str:
    return " ".join((info.description or "").split())


def setting_rows() -> list[dict[str, Any]]:
    """Every setting: name, value, source of the value, meaning."""
    now = read()
    origins = _origins()
    rows = []
    for name, info in Settings.model_fields.items():
        value = getattr(now, name)
        if isinstance(value, SecretStr):
            value = "set"
        _, source = origins.get(name, (None, f"profile {now.profile}"))
        rows.append(
            {"name": name, "value": value, "from": source, "words": _words(info)}
        )
    return rows
