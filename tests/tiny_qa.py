"""A tiny extractive question answering model, trained here in seconds on the examples it is given."""

import random

import pytest

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def word_tokenizer(transformers, texts, *, metaspace=False):
    """A tokenizer whose tokens are the words and marks of `texts`; [CLS] question [SEP] text [SEP].

    `metaspace`: words are cut as DeBERTa's tokenizer cuts them, which counts the space before a word to it.
    """
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Metaspace, Whitespace
    from tokenizers.processors import TemplateProcessing

    split = Metaspace() if metaspace else Whitespace()
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate([*SPECIAL, *words])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = split
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def save_qa_model(folder, draw, texts, *, positions=64, steps=200, batch=32):
    """Train on `steps` batches of examples (question, text, answer or "") from `draw(rng)`; save to `folder`.

    `texts` hold the vocabulary. "" stands for no answer: both ends are the first token.
    """
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = word_tokenizer(transformers, texts)
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the model is too small for more
    rng = random.Random(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=positions,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = transformers.BertForQuestionAnswering(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        examples = [draw(rng) for _ in range(batch)]
        inputs = tokenizer([e[0] for e in examples], [e[1] for e in examples], padding=True, truncation="only_second",
                           max_length=positions, return_offsets_mapping=True, return_tensors="pt")  # fmt: skip
        offsets = inputs.pop("offset_mapping").tolist()
        ends = torch.tensor(
            [_token_ends(inputs.sequence_ids(n), offsets[n], e) for n, e in enumerate(examples)]
        )
        loss = model(**inputs, start_positions=ends[:, 0], end_positions=ends[:, 1]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tokenizer.save_pretrained(folder)
    model.eval().save_pretrained(folder)
    return loss.item()


def _token_ends(sides, offsets, example):
    """The tokens of the answer that are first and last; (0, 0) where there is none in the text."""
    _, text, answer = example
    start = text.index(answer) if answer else 0
    tokens = [
        token
        for token, (a, b) in enumerate(offsets)
        if answer and sides[token] == 1 and a < start + len(answer) and start < b
    ]
    return (tokens[0], tokens[-1]) if tokens else (0, 0)
