"""A tiny BERT with a vocabulary of its own, for tests of training: 2 layers, 32 dimensions."""

from pathlib import Path
from random import Random

WORDS = (
    "the bridge river town baker bees honey mill who what when built sold found wrote is was in by of and it"
)
THINGS, VERBS = ("bridge", "mill", "honey", "town"), ("built", "sold", "found", "wrote")
NAMES = ("kardon", "monko", "tasel", "lumira", "reko", "visel")
YEARS = ("1801", "1812", "1823", "1834", "1845", "1856")


def save(folder: Path, words: str = WORDS) -> Path:
    """Write config, weights (always the same) and tokenizer to `folder`; the vocabulary has `words`."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: n for n, word in enumerate([*special, *words.split(), *NAMES, *YEARS, ".", "?", ","])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    torch.manual_seed(1)
    BertModel(config).save_pretrained(folder)
    return folder


def rows(count: int) -> list[dict]:
    """`count` questions "Who ...?" and "When ...?" in turn; a third of the texts says only
    the asked thing, a third only the other one."""
    random = Random(1)
    made = []
    for n in range(count):
        who = n % 2 == 0
        name, year = random.choice(NAMES).title(), random.choice(YEARS)
        by, at, bare = (f"{random.choice(THINGS)} was {random.choice(VERBS)}" for _ in range(3))
        facts = [f"The {by} by {name}.", f"The {at} in {year}.", f"The {bare}."]
        answer = name if who else year
        if n % 3:
            facts.pop((0 if who else 1) if n % 3 == 2 else (1 if who else 0))
        random.shuffle(facts)
        text = " ".join(facts)
        start = text.find(answer)
        question = f"{'Who' if who else 'When was'} {random.choice(VERBS)} the {random.choice(THINGS)}?"
        gold = {"answers": [[start, start + len(answer)]]} if start >= 0 else {}
        made.append({"question": question, "text": text, "document": f"d{n}", **gold})
    return made
