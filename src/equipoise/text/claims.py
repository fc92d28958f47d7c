"""stub"""


def agree(question: str, first: str, second: str) -> bool:
    return first == second


def contradict(question: str, first: str, second: str) -> bool:
    return first != second
