"""Texts that metrics of words and characters must read as the libraries do."""

from hypothesis import strategies as st

_WORDS = st.sampled_from(
    [
        *(
            "HIV",
            "hiv",
            "infected",
            "infections",
            "dying",
            "dies",
            "2.5",
            "mg,",
            "(y)",
            "...",
            "5-10",
            "a.b,c",
        ),
        *(
            "é",
            "e\u0301",
            "İ",
            "\u212a",
            "ß",
            "ﬁ",
            "日本語",
            "тест",
            "\u0661\u0662",
            "👩🏽\u200d⚕️",
            "🫀",
            "𝔸",
            "\U0010ffff",
        ),
        *(
            "\ud800",
            "\udfff",
            "&amp;",
            "&amp;lt;",
            "<skip<skipped>ped>.",
            "-\n",
            "\u3000",
            "\u2028",
            "\x1c",
            "\x00",
        ),
        *("x" * 3000, "ab" * 400, "a.", "1,", "\N{RIGHT SINGLE QUOTATION MARK}s", "don't", '"'),
    ]
)
WORDS = st.lists(_WORDS, max_size=12).map(" ".join)
REPEATED = st.builds(lambda word, n, rest: " ".join([word] * n + [rest]), _WORDS, st.integers(0, 30), WORDS)
BLANK = st.sampled_from(["", " ", "\n\t ", "\u00a0", "\u2003"])
ANY = st.one_of(WORDS, REPEATED, BLANK, st.text(st.characters(exclude_categories=()), max_size=60))
"""Words that recur, emoji, combining marks, lone surrogates, long words, blanks, and any text at all."""
