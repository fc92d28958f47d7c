"""Function words of German, French and Spanish: questions are full of them, and they tell texts apart badly.

Only words that are not also a content word or a name in English or in computing ("die", "war", "man", "hat", "mit",
"oder", "des", "sans", "comment", "pour", "est", "un"): documents and questions are read without asking for their
language. The commonest of the words left out stand in most German or French passages, so BM25 gives them little weight.
"""

_GERMAN = """
    aber alle allem aller alles auch auf aus bei beim bereits bis dabei dadurch dafür dagegen daher damit danach
    dann daran darauf daraus darf darin darüber darum dass davon davor dazu dein deine deinem deinen deiner dem
    denen denn der deren deshalb dessen dich diese diesem diesen dieser dieses doch dort durch dürfen eigentlich
    ein eine einem einen einer eines etwas euch euer für gegen gibt habe haben hatte hatten ich ihm ihn ihnen
    ihr ihre ihrem ihren ihrer indem ins ist jede jedem jeden jeder jedes jetzt kann kannst kein keine keinem
    keinen keiner können konnte könnte mein meine meinem meinen meiner meines mich muss musste müssen nach nicht
    nichts noch nur ob ohne schon sehr seinem seinen seiner sich sie sind sobald soll sollen sollte sondern
    sonst sowie über um und uns unser unsere unter viel viele vom von vor wann warum wegen weil welche welchem
    welchen welcher welches wenn wer werde werden weshalb wie wieder wieso wieviel wird wo wobei wodurch wofür
    woher wohin womit worin wurde wurden würde zu zum zur zwischen
"""
_FRENCH = """
    afin alors après aucun aucune auquel aussi autre autres avait avant avec avez avoir avons ayant cela celle
    celles celui cet cette ceux chaque combien dans de depuis dois doit donc dont elle elles entre et était être
    eux faire fait faut furent ils je jusque la laquelle le lequel les lesquelles lesquels leur leurs lorsque
    lui mais même mêmes moins ne notre nous ont où parce peut peuvent peux pourquoi pouvez puis puisque qu quand
    que quel quelle quelles quels qui quoi selon seront sont tes tous tout toute toutes très une vers vos votre
    vous à été
"""
_SPANISH = """
    cuál cuáles cuándo cuánta cuántas cuánto cuántos cuanta cuantas cuanto cuantos cómo debe debo del dónde donde el
    ella ellas ellos ese esta estas este estos está están más muy para pero poder por porque puede pueden puedo quién
    quiénes qué ser sobre sus tengo tiene tienen también una unas unos
"""
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
"""How umlauts and ß are written without them."""
FUNCTION_WORDS = frozenset(f"{_GERMAN} {_FRENCH} {_SPANISH} {_GERMAN.translate(UMLAUTS)}".split())
"""In lower case; German ones with umlauts and without."""
VERBS = frozenset(
    """
    bekomme bekommen bekommt brauche brauchen braucht coûte coûtent cuesta cuestan darf einmal geht heisst heißt
    kostet kosten liegt machen macht necesita necesito sagt steht
    """.split()  # noqa: SIM905
)
"""Words of questions in these languages that say more than a function word; lower case."""
BOTH = frozenset({"also", "was", "will"})
"""English function words that are German words, too."""
