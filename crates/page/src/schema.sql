-- A store of studies (§4.5). Every statement that reads or writes it is in `src/study/`.

-- What seals are made with; one row. It stays with the file, so that a form on somebody's screen is good after a restart.
CREATE TABLE secret (key BLOB NOT NULL) STRICT;

-- A study with the questions that were drawn for it, as JSON lines.
CREATE TABLE study (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    questions TEXT NOT NULL,
    is_open INTEGER NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1)),
    created REAL NOT NULL
) STRICT;

-- What one annotator is to answer.
CREATE TABLE share (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES study
) STRICT;

-- A question of a share; the same question never stands twice in it, in whatever mode. Its id is the same in every study.
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    share INTEGER NOT NULL REFERENCES share,
    position INTEGER NOT NULL,
    question INTEGER NOT NULL,
    question_id TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('query', 'context-query')),
    UNIQUE (share, position),
    UNIQUE (share, question)
) STRICT;

CREATE INDEX share_of_study ON share (study);
CREATE INDEX item_of_question ON item (question_id);

-- A person, with the hash of the token that lets them in again.
CREATE TABLE annotator (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES study,
    share INTEGER NOT NULL UNIQUE REFERENCES share,
    name TEXT NOT NULL COLLATE NOCASE,
    token_hash BLOB NOT NULL UNIQUE,
    joined REAL NOT NULL,
    UNIQUE (study, name)
) STRICT;

-- An item is answered once.
CREATE TABLE answer (
    item INTEGER PRIMARY KEY REFERENCES item,
    annotator INTEGER NOT NULL REFERENCES annotator,
    chosen INTEGER NOT NULL CHECK (chosen >= 0),
    seconds REAL NOT NULL CHECK (seconds >= 0),
    answered REAL NOT NULL
) STRICT;

CREATE INDEX answer_of_annotator ON answer (annotator);
