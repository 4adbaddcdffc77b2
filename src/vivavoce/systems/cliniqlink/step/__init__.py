"""Steps of ClinIQLink's recipe: passages in, questions of seven formats out, each with its quote."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
