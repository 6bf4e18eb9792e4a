"""Arrow tables, with the packages that take them."""

import json
from pathlib import Path

import goldilocks_cbt as gl
import pytest

COLUMNS = ["sentences", "question", "answer", "options", "id", "class", "split", "book"]


@pytest.fixture(scope="session")
def rows(few: gl.Questions, tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """The rows that the program writes."""
    path = tmp_path_factory.mktemp("rows") / "few.jsonl"
    few.write(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_pyarrow(few: gl.Questions, model: gl.Model, rows: list[dict]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(few)
    assert table.column_names == COLUMNS and table.to_pylist() == rows
    for layout in ("list", "view", "dictionary"):
        assert few.to_arrow(layout).to_pylist() == rows
    with pytest.raises(ValueError, match="expected one of `list`, `view`, `dictionary`"):
        few.to_arrow("views")
    predictions = model.answer(few)
    assert predictions.to_arrow().to_pylist() == list(predictions)
    batches = pyarrow.RecordBatchReader.from_stream(few.filter(split="test"))
    assert sum(batch.num_rows for batch in batches) == len(few.filter(split="test"))


def test_parquet_of_the_program(few: gl.Questions, rows: list[dict], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    few.write(tmp_path / "few.parquet")
    assert parquet.read_table(tmp_path / "few.parquet").select(COLUMNS).to_pylist() == rows


def test_pandas(few: gl.Questions, rows: list[dict]) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame.from_arrow(few)
    assert list(frame.columns) == COLUMNS and list(frame["id"]) == [row["id"] for row in rows]
    assert [list(sentences) for sentences in frame["sentences"]] == [row["sentences"] for row in rows]


def test_polars(few: gl.Questions, rows: list[dict]) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(few)
    assert frame.columns == COLUMNS and frame.to_dicts() == rows


def test_duckdb(few: gl.Questions, rows: list[dict], tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    few.write(tmp_path / "few.parquet")
    file = str(tmp_path / "few.parquet")
    counted = duckdb.sql(f"select class, count(*) from '{file}' where split = 'test' group by class").fetchall()
    assert dict(counted) == {c: n for (s, c), n in few.counts.items() if s == "test"}
    assert duckdb.sql("select id from few").fetchall() == [(row["id"],) for row in rows]


def test_datasets(few: gl.Questions, rows: list[dict]) -> None:
    datasets = pytest.importorskip("datasets")
    pyarrow = pytest.importorskip("pyarrow")
    dataset = datasets.Dataset(pyarrow.table(few))
    assert dataset.column_names == COLUMNS and dataset[:] == {key: [row[key] for row in rows] for key in COLUMNS}
