"""`equipoise init`: a settings file to begin with."""

from equipoise.apps.config import init
from equipoise.apps.options import group

app = group()
app.command("init")(init)
