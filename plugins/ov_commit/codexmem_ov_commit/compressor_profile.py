"""Which model shortens what was recalled: decided at each start of a session, noted down, and read at each prompt.

Off until the user picks one, by switching it on or by naming a model. The order is that of OpenViking DESIGN (recall
compressor profile); a model counts as there when Codex lists it in its cache of models, which costs no program. A
failure while shortening switches it off until the next start.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.services import Folder, Services

    from codexmem_ov_commit.settings import Settings

FILE: Final = "recall-compressor-profile.json"
"""In Codex's state folder, in the form that the original plugin gives it."""
SCHEMA: Final = 3
MODELS: Final = "models_cache.json"
"""Of Codex, in its home."""
DEFAULT: Final = "default"
"""The effort that a model has by itself: none is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One model with its effort."""

    model: str
    thinking: str = DEFAULT


FIRST: Final = "gpt-5.3-codex-spark"
FALLBACKS: Final = (Profile(model=FIRST), Profile(model="gpt-5.6-luna", thinking="low"))


def is_wanted(settings: Settings) -> bool:
    """Whether the user picked one. A model that is named is a choice; ``off`` as model or effort is one too."""
    model, thinking = settings.text("recall_compress_model"), settings.text("recall_compress_thinking")
    if "off" in (model.lower(), thinking.lower()):
        return False
    chosen = settings.origins["recall_compress"] != "default"
    return settings.flag("recall_compress") if chosen else bool(model)


def candidates(settings: Settings) -> Sequence[Profile]:
    """In the order in which they are tried, each once."""
    model, thinking = settings.text("recall_compress_model"), settings.text("recall_compress_thinking")
    configured = [Profile(model=model or FIRST, thinking=thinking or DEFAULT)] if model or thinking else []
    return tuple(dict.fromkeys((*configured, *FALLBACKS)))


def renew(settings: Settings, services: Services, folder: Folder) -> Profile | None:
    """Decide anew, at the start of a session; None: it is off. What cannot be noted down is decided at each prompt."""
    if not is_wanted(settings):
        _write(settings, services, folder, {"enabled": False, "source": "configured_off"})
        return None
    possible, there = candidates(settings), _models(services)
    profile = next((one for one in possible if one.model in there), possible[0])
    source = "listed" if profile.model in there else "assumed"
    _write(settings, services, folder, {"enabled": True, "source": source, **_as_json(profile)})
    return profile


def current(settings: Settings, services: Services, folder: Folder) -> Profile | None:
    """What the last start decided for these settings; without that the first candidate. None: it is off."""
    if not is_wanted(settings):
        return None
    try:
        found = json.loads(folder.read(FILE, 64 * 1024))
        noted = found["profile"] if found["schemaVersion"] == SCHEMA and found["configKey"] == _key(settings) else None
        if noted is not None:
            return Profile(model=str(noted["model"]), thinking=str(noted["thinking"])) if noted["enabled"] else None
    except (OSError, ValueError, RecursionError, TypeError, KeyError, Refused) as error:
        services.log.info("the compressor's profile cannot be read", reason=str(error))
    return candidates(settings)[0]


def failed(settings: Settings, services: Services, folder: Folder) -> None:
    """Nobody waits for it again before the next start of a session."""
    _write(settings, services, folder, {"enabled": False, "source": "runtime_failed"})


def _write(settings: Settings, services: Services, folder: Folder, profile: Mapping[str, object]) -> None:
    found = {
        "schemaVersion": SCHEMA,
        "checkedAt": services.clock.now_ms(),
        "configKey": _key(settings),
        "profile": profile,
    }
    try:
        folder.write(FILE, json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    except (OSError, Refused) as error:
        services.log.info("the compressor's profile cannot be written", reason=str(error))


def _key(settings: Settings) -> str:
    """Another one belongs to other settings."""
    wanted = {
        "version": SCHEMA,
        "recallCompress": is_wanted(settings),
        "recallCompressModel": settings.text("recall_compress_model"),
        "recallCompressThinking": settings.text("recall_compress_thinking") or DEFAULT,
        "recallCompressConfigured": settings.origins["recall_compress"] != "default",
    }
    return json.dumps(wanted, ensure_ascii=False, separators=(",", ":"))


def _as_json(profile: Profile) -> dict[str, object]:
    return {"model": profile.model, "thinking": profile.thinking}


def _models(services: Services) -> frozenset[str]:
    """What Codex lists; empty when it lists nothing that can be understood."""
    home = services.environ.get("CODEX_HOME") or os.path.join(services.environ.get("HOME", "/"), ".codex")
    try:
        listed = json.loads(services.open_folder(home).read(MODELS))["models"]
        return frozenset(str(one["slug"]) for one in listed if isinstance(one, dict) and "slug" in one)
    except (OSError, ValueError, RecursionError, TypeError, KeyError, Refused):
        return frozenset()
