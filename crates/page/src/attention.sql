-- Attention checks and whether they were passed; since format 2.
CREATE TABLE attention (
    annotator INTEGER NOT NULL REFERENCES annotator,
    number INTEGER NOT NULL,
    passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
    answered REAL NOT NULL,
    PRIMARY KEY (annotator, number)
) STRICT;
