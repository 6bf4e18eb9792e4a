"""Building, opening, selecting, writing."""

import random
from pathlib import Path

import goldilocks_cbt as gl
import pytest

TALE = "Tom saw the little hen in the wood. The hen gave the fox a cup of tea in the garden of the king. " * 20
RULES = {"context_sentences": 5, "n_candidates": 4}


def test_questions_are_a_sequence(tales: gl.Questions) -> None:
    assert len(tales) == 8064 and sum(tales.counts.values()) == 8064
    assert [q.id for q in tales[3:6]] == [tales[i].id for i in (3, 4, 5)]
    assert tales[-1].id == tales[8063].id and len(tales[::-1000]) == 9
    assert [q.id for q in tales[:2]] == [q.id for _, q in zip(range(2), tales)]
    assert set(tales.filter(split=["valid", "test"], word_class="v").counts) == {("valid", "V"), ("test", "V")}
    assert tales.find(tales[77].id).query == tales[77].query and tales.find("0") is None
    assert repr(tales) == "Questions(8,064 from 14 books; train 5,802, valid 1,062, test 1,200)"


def test_a_question_says_what_it_asks(tales: gl.Questions) -> None:
    question = tales[0]
    assert len(question.context) == 20 and question.query.split().count("XXXXX") == 1
    assert question.answer in question.candidates and question.word_class in ("NE", "CN", "V", "P")
    assert question.split == "train" and question.book
    for candidate in question.candidates:
        for context in (True, False):
            text = question.fill(candidate, context=context)
            start, end = question.span(candidate, context=context)
            assert text[start:end].strip() == candidate and "XXXXX" not in text
    assert len(question.fill(candidate)) > 5 * len(question.fill(candidate, context=False))
    with pytest.raises(ValueError, match="expected one of the candidates"):
        question.fill("zebra")


def test_books_come_from_texts_files_and_patterns(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(TALE)
    texts = gl.build({"one": TALE, "two": TALE}, rules=RULES, splits={"one": "train", "two": "test"})
    files = gl.build(str(tmp_path / "*.txt"), rules=RULES, splits={"one": "train", "two": "test"})
    assert texts.fingerprint == files.fingerprint and len(texts) > 10
    assert gl.build(tmp_path, rules=RULES).books[0][0] == "one"
    assert gl.build(gl.read_books()).books == gl.build().books
    (tmp_path / "splits.tsv").write_text("train\tone.txt\nvalid\ttwo.txt\n")
    split = gl.build(tmp_path, rules=RULES, splits=tmp_path / "splits.tsv")
    assert split.books == [("one", "train"), ("two", "valid")]


def test_every_form_is_read_as_it_was_written(few: gl.Questions, tmp_path: Path) -> None:
    for name in ("set", "set.jsonl", "set.parquet"):
        few.write(tmp_path / name)
        read = gl.open(tmp_path / name)
        assert [q.id for q in read] == [q.id for q in few]
        with pytest.raises(FileExistsError):
            few.write(tmp_path / name)
        few.write(tmp_path / name, overwrite=True)
    assert gl.open(tmp_path / "set").fingerprint == few.fingerprint
    assert gl.convert(tmp_path / "set", tmp_path / "test.jsonl", split="test") == len(few.filter(split="test"))
    assert len(gl.open(tmp_path / "set.jsonl", word_class=["NE", "V"], split="test")) > 0


def test_wrong_input_is_refused_with_what_to_do(few: gl.Questions, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        gl.open(tmp_path / "nowhere")
    assert isinstance(missing.value, gl.Error) and missing.value.hint and "hint:" in str(missing.value)
    with pytest.raises(FileNotFoundError, match="no such file"):
        gl.read_books(str(tmp_path / "*.epub"))
    with pytest.raises(ValueError, match="no_such_rule"):
        gl.build(rules={"no_such_rule": 1})
    with pytest.raises(ValueError, match="expected one of `train`, `valid`, `test`"):
        few.filter(split="tests")
    with pytest.raises(ValueError, match="did you mean `word-distance`"):
        gl.train("word-distanc", few)
    with pytest.raises(ValueError, match="max_penalty"):
        gl.train("word-distance", few, settings={"max_penalty": -1})
    with pytest.raises(ValueError, match="expected at least one"):
        gl.build([])
    with pytest.raises(ValueError, match="less than 1 together"):
        gl.build(valid=0.5, test=0.5)
    with pytest.raises(ValueError, match="expected 'author'"):
        gl.build(by="title")
    with pytest.raises(IndexError, match="there are 202"):
        few[202]
    for wrong in ("0", None, 1.5):
        with pytest.raises(TypeError):
            few[wrong]
    with pytest.raises(TypeError, match="expected texts by name, found str and int"):
        gl.build({"bears": 3})
    with pytest.raises(TypeError, match="expected Questions"):
        gl.train("word-distance", [few[0]])
    with pytest.raises(TypeError, match="expected True or a function"):
        gl.build(progress=3)
    with pytest.raises(ValueError, match="expected 1 or more"):
        gl.build(threads=0)
    with pytest.raises(ValueError, match="expected `auto`, `cpu` or `cuda`"):
        gl.load(tmp_path, device="gpu")


def test_splits_are_drawn_as_one_likes(tmp_path: Path) -> None:
    for author in "ABCDEFGHIJ":
        for title in ("One", "Two"):
            # Tales that share no eight words.
            draw = random.Random(author + title)
            nouns = draw.choices(["hen", "fox", "garden", "kettle", "river", "goose", "king", "lamp"], k=200)
            names = ["".join(draw.choices("abcdefgh", k=8)).title() for _ in nouns]
            sentences = zip(nouns, nouns[1:], names)
            text = " ".join(f"The {one} saw the {other} and {name}." for one, other, name in sentences)
            (tmp_path / f"{author}___{title}.txt").write_text(text)
    splits = dict(gl.build(tmp_path, rules=RULES, valid=0, test=0.3, by="author").books)
    assert sorted(splits.values()).count("test") == 6 and "valid" not in splits.values()
    assert all(splits[f"{author}___One"] == splits[f"{author}___Two"] for author in "ABCDEFGHIJ")


def test_words_are_tagged() -> None:
    [sentence] = gl.tag("The little hen saw Tom.")
    assert [word.text for word in sentence] == ["The", "little", "hen", "saw", "Tom", "."]
    assert sentence[4].entity == "PERSON"
