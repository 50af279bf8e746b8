-- The index of the search: which words stand in which property of which record.

-- For which properties the index of a set was built, and how far.
CREATE TABLE search_sets (
    set_name TEXT PRIMARY KEY,
    -- The properties and the way in which texts are folded, as JSON.
    declaration TEXT NOT NULL,
    -- Counts the declarations: what was written for an earlier one at the end of a build is of records that are gone.
    generation BIGINT NOT NULL,
    is_built BOOLEAN NOT NULL,
    -- The key behind which a build goes on; none before its first step.
    after_key TEXT
);

-- The records of one set and organisation are numbered.
CREATE TABLE search_spaces (
    space BIGINT PRIMARY KEY,
    set_name TEXT NOT NULL,
    last_number BIGINT NOT NULL
);

CREATE TABLE search_records (
    space BIGINT NOT NULL,
    -- The greater, the more recently changed.
    number BIGINT NOT NULL,
    set_name TEXT NOT NULL,
    record_key TEXT NOT NULL,
    generation BIGINT NOT NULL,
    -- The identifiers of its words by property, as JSON.
    words TEXT NOT NULL,
    PRIMARY KEY (space, number)
);
CREATE UNIQUE INDEX search_records_key ON search_records (set_name, record_key);

-- only sqlite
-- The words of each property of each set and organisation, once.
CREATE TABLE search_words (
    id INTEGER PRIMARY KEY,
    scope BIGINT NOT NULL,
    -- 0 a word, 1 a beginning of words, 2 how many words a text has, 3 a piece of a long word.
    kind SMALLINT NOT NULL,
    word TEXT NOT NULL
);

-- The trigrams of words and pieces, behind three private characters that stand for the scope.
CREATE VIRTUAL TABLE search_trigrams USING fts5(
    body, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);

-- The records of a word, 4,096 numbers to a row.
CREATE TABLE search_postings (
    word_id BIGINT NOT NULL,
    block BIGINT NOT NULL,
    records BLOB NOT NULL,
    PRIMARY KEY (word_id, block)
) WITHOUT ROWID;
-- only postgres
CREATE TABLE search_words (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope BIGINT NOT NULL,
    kind SMALLINT NOT NULL,
    word TEXT COLLATE "C" NOT NULL,
    trigrams TSVECTOR
);

-- Without a list of what is pending, which every search would have to read.
CREATE INDEX search_words_trigrams ON search_words USING gin (trigrams) WITH (fastupdate = off);

CREATE TABLE search_postings (
    word_id BIGINT NOT NULL,
    block BIGINT NOT NULL,
    records BYTEA NOT NULL,
    PRIMARY KEY (word_id, block)
);
-- both

CREATE UNIQUE INDEX search_words_word ON search_words (scope, kind, word);
