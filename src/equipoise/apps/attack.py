"""`equipoise attack`: attacks on a deployment of your own."""

from equipoise.apps import attack_run
from equipoise.apps.options import group

app = group("Attack a store of your own, to measure its defences.")
app.command("run")(attack_run.attack_run)
