"""The project's folder as the store of campaigns.

Belongs here: putting a campaign's file there, whole or not at all. Does not: what may be in one.
The folder's making is the claim of the name: the file system lets one alone make it.
"""

import json
import shutil
from pathlib import Path
from typing import Final

from fireflyassets.adapters import lock_file
from fireflyassets.adapters.campaign_files import FILE_NAME
from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.ports.campaign_store import Added, CampaignStore, NameTaken, Unusable

_ROOT: Final = "campaigns"


class FileCampaignStore(CampaignStore):
    """Writes under ``campaigns/``, and judges a file as everybody does who reads it."""

    def __init__(self, project: Path, *, v4: bool = False) -> None:
        """Write to *project*; *v4*: version 4 of generate may be called."""
        self._project = project
        self._v4 = v4

    def add(
        self, config: CampaignConfig, *, like: str | None = None
    ) -> Added | NameTaken | Unusable:
        """Put a campaign there; whoever dies meanwhile leaves a file that is shown as bad."""
        home = self._project / _ROOT / config.customer
        lock = home / like / lock_file.FILE_NAME if like else None
        return self._add(config, [lock] if lock and lock.is_file() else [])

    def add_with(self, config: CampaignConfig, folder: Path) -> Added | NameTaken | Unusable:
        """As `add`, with the files that lie beside the campaign's own in *folder*."""
        named = (*config.templates.values(), *config.fonts, *config.recipe.action_files())
        beside = [folder / name for name in (*named, lock_file.FILE_NAME)]
        return self._add(config, [path for path in beside if path.is_file()], folder)

    def _add(
        self, config: CampaignConfig, files: list[Path], root: Path | None = None
    ) -> Added | NameTaken | Unusable:
        folder = self._project / _ROOT / config.customer / config.campaign
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:
            return NameTaken()
        try:
            for path in files:
                self._copy(path, folder, root or path.parent)
            (folder / FILE_NAME).write_text(_text(config), encoding="utf-8")
            answer = self._looked_at(f"{config.customer}/{config.campaign}")
        except OSError as error:
            answer = Unusable(f"Its files can't be written ({error.strerror}).")
        if not isinstance(answer, Added):
            shutil.rmtree(folder)
        return answer

    @staticmethod
    def _copy(path: Path, folder: Path, root: Path) -> None:
        """Copy what lies under *root*; what is named from elsewhere stays where it is."""
        if not path.resolve().is_relative_to(root.resolve()):
            return
        target = folder / path.resolve().relative_to(root.resolve())
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)

    def _looked_at(self, slug: str) -> Added | Unusable:
        catalogue = FileCatalogue(self._project, v4=self._v4)
        found = catalogue.campaigns().get(slug)
        return Added(found) if found else Unusable(catalogue.fault(slug) or "")


def _text(config: CampaignConfig) -> str:
    said = config.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"  # JSON is YAML too.
