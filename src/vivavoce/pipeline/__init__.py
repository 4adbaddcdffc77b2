"""The former name of `vivavoce.run`, under which plugins may import what the documentation named."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Renamed(MetaPathFinder, Loader):
    """Imports `vivavoce.pipeline.build.parts` as the module `vivavoce.run.building.parts`, and so on."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.startswith(f"{__name__}.") else None

    def exec_module(self, module: ModuleType) -> None:
        folders = module.__name__.removeprefix(f"{__name__}.").split(".")
        if folders[0] == "build":
            folders[0] = "building"
        sys.modules[module.__name__] = import_module(".".join(("vivavoce.run", *folders)))


sys.meta_path.insert(0, _Renamed())  # before the finder by paths, which would load the files a second time
