"""The tables of a run file, as numbered migrations. A released migration is never edited; a new one is added.

Facts (scores) hold integer keys; text stands in the dimension tables. The four views spell the tables out
in the words of the records: `sqlite3 run.viva 'select * from score_rows'` needs no program of ours.
"""

APPLICATION_ID = 0x76697661  # "viva"
STATUSES = ("ok", "unanswered", "unreadable", "failed", "set_aside")  # the position is the key

_FIRST = """
CREATE TABLE benchmarks (
    benchmark_id INTEGER PRIMARY KEY,
    benchmark    TEXT NOT NULL UNIQUE,
    spec         TEXT NOT NULL,
    signature    TEXT NOT NULL,
    card         TEXT NOT NULL
) STRICT;

CREATE TABLE items (
    item_id      INTEGER PRIMARY KEY,
    benchmark_id INTEGER NOT NULL REFERENCES benchmarks,
    item         TEXT NOT NULL,
    variant      TEXT NOT NULL,
    version      INTEGER NOT NULL,
    current      INTEGER NOT NULL CHECK (current IN (0, 1)),
    hash         TEXT NOT NULL,
    alias        TEXT,
    "group"      TEXT NOT NULL,
    category     TEXT,
    format       TEXT NOT NULL,
    question     TEXT NOT NULL,
    options      TEXT NOT NULL,
    answer       TEXT NOT NULL,
    "references" TEXT NOT NULL,
    context      TEXT,
    source       TEXT,
    meta         TEXT NOT NULL,
    UNIQUE (benchmark_id, item, variant, version)
) STRICT;
CREATE UNIQUE INDEX one_current_version ON items (benchmark_id, item, variant) WHERE current = 1;

CREATE TABLE candidates (
    candidate_id INTEGER PRIMARY KEY,
    candidate    TEXT NOT NULL UNIQUE,
    role         TEXT NOT NULL CHECK (role IN ('candidate', 'floor', 'ceiling'))
) STRICT;

CREATE TABLE edits (edit_id INTEGER PRIMARY KEY, edit TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO edits VALUES (0, '');

CREATE TABLE responses (
    response_id   INTEGER PRIMARY KEY,
    item_id       INTEGER NOT NULL REFERENCES items,
    candidate_id  INTEGER NOT NULL REFERENCES candidates,
    repeat        INTEGER NOT NULL,
    edit_id       INTEGER NOT NULL REFERENCES edits,
    status        TEXT NOT NULL CHECK (status IN ('ok', 'filtered', 'failed')),
    text          TEXT,
    reasoning     TEXT,
    finish_reason TEXT,
    tokens        INTEGER,
    seconds       REAL,
    cost          REAL,
    error         TEXT,
    UNIQUE (item_id, candidate_id, repeat, edit_id),
    CHECK ((status = 'ok') = (text IS NOT NULL))
) STRICT;

CREATE TABLE units (
    unit_id INTEGER PRIMARY KEY,
    unit    TEXT NOT NULL,
    text    TEXT NOT NULL,
    weight  REAL,
    UNIQUE (unit, text)
) STRICT;
INSERT INTO units VALUES (0, '', '', NULL);

CREATE TABLE ballots (ballot_id INTEGER PRIMARY KEY, ballot TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO ballots VALUES (0, '');

CREATE TABLE measures (
    measure_id          INTEGER PRIMARY KEY,
    metric              TEXT NOT NULL,
    signature           TEXT NOT NULL,
    criterion           TEXT NOT NULL,
    rater               TEXT NOT NULL,
    low                 REAL,
    high                REAL,
    direction           TEXT NOT NULL CHECK (direction IN ('higher', 'lower')),
    if_unanswered       TEXT NOT NULL CHECK (if_unanswered IN ('worst', 'set_aside', 'correct')),
    pool                TEXT NOT NULL,
    smallest_difference REAL,
    UNIQUE (signature, criterion, rater)
) STRICT;

CREATE TABLE statuses (status_id INTEGER PRIMARY KEY, status TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO statuses VALUES (0, 'ok'), (1, 'unanswered'), (2, 'unreadable'), (3, 'failed');

CREATE TABLE scores (
    measure_id  INTEGER NOT NULL REFERENCES measures,
    response_id INTEGER NOT NULL REFERENCES responses,
    unit_id     INTEGER NOT NULL REFERENCES units,
    ballot_id   INTEGER NOT NULL REFERENCES ballots,
    pass_no     INTEGER NOT NULL,
    position    INTEGER,
    value       REAL,
    status_id   INTEGER NOT NULL REFERENCES statuses,
    parts       TEXT,
    note        TEXT,
    PRIMARY KEY (measure_id, response_id, unit_id, ballot_id, pass_no),
    CHECK ((status_id = 0) = (value IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    event_id INTEGER PRIMARY KEY,
    made_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    kind     TEXT NOT NULL,
    body     TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'events are append-only');
END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN
    SELECT RAISE(ABORT, 'events are append-only');
END;

CREATE TABLE findings (
    finding_id INTEGER PRIMARY KEY,
    made_at    TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    study      TEXT NOT NULL,
    settings   TEXT NOT NULL,
    rows       TEXT NOT NULL
) STRICT;

CREATE TABLE provenance (
    provenance_id INTEGER PRIMARY KEY,
    made_at       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    verb          TEXT NOT NULL,
    body          TEXT NOT NULL
) STRICT;

CREATE VIEW item_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, i.question, i.options,
       i.answer, i."references", i.context, i.source, i.meta
FROM items i JOIN benchmarks b USING (benchmark_id) WHERE i.current = 1;

CREATE VIEW response_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, c.candidate, c.role,
       r.repeat, e.edit, r.status, r.text, r.reasoning, r.finish_reason, r.tokens, r.seconds, r.cost, r.error
FROM responses r JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) WHERE i.current = 1;

CREATE VIEW score_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", c.candidate, c.role, r.repeat, e.edit,
       m.metric, m.criterion, m.rater, s.pass_no, u.unit, l.ballot, s.position, s.value, t.status
FROM scores s JOIN measures m USING (measure_id) JOIN responses r USING (response_id)
     JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) JOIN units u USING (unit_id)
     JOIN ballots l USING (ballot_id) JOIN statuses t USING (status_id) WHERE i.current = 1;
"""

_STEPS = """
ALTER TABLE items ADD COLUMN steps TEXT NOT NULL DEFAULT '[]';
ALTER TABLE items ADD COLUMN step INTEGER;
ALTER TABLE items ADD COLUMN false_answer TEXT;

DROP VIEW item_rows;
CREATE VIEW item_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, i.question, i.options,
       i.answer, i."references", i.steps, i.step, i.false_answer, i.context, i.source, i.meta
FROM items i JOIN benchmarks b USING (benchmark_id) WHERE i.current = 1;
"""

_CALLS = """
ALTER TABLE items ADD COLUMN weight REAL NOT NULL DEFAULT 1.0;
ALTER TABLE responses ADD COLUMN meta TEXT NOT NULL DEFAULT '{}';

CREATE TABLE calls (
    call_id       INTEGER PRIMARY KEY,
    made_at       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    key           TEXT NOT NULL,
    model         TEXT NOT NULL,
    endpoint      TEXT NOT NULL,
    repeat        INTEGER NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('generate', 'loglikelihood')),
    purpose       TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('ok', 'filtered', 'failed')),
    attempts      INTEGER NOT NULL,
    seconds       REAL NOT NULL,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cost          REAL,
    error         TEXT,
    reply         TEXT,
    response_id   INTEGER REFERENCES responses
) STRICT;
CREATE INDEX asked_before ON calls (key, model, repeat) WHERE status != 'failed';

CREATE TABLE leases (work TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL) STRICT;

DROP VIEW item_rows;
CREATE VIEW item_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, i.question, i.options,
       i.answer, i."references", i.steps, i.step, i.false_answer, i.context, i.source, i.weight, i.meta
FROM items i JOIN benchmarks b USING (benchmark_id) WHERE i.current = 1;

DROP VIEW response_rows;
CREATE VIEW response_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, c.candidate, c.role,
       r.repeat, e.edit, r.status, r.text, r.reasoning, r.finish_reason, r.tokens, r.seconds, r.cost, r.error,
       r.meta
FROM responses r JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) WHERE i.current = 1;
"""

_JUDGED = """
ALTER TABLE items ADD COLUMN rubric TEXT NOT NULL DEFAULT '[]';
ALTER TABLE items ADD COLUMN origin TEXT;
CREATE INDEX told_before ON calls (purpose, key, model, repeat)
    WHERE reply IS NOT NULL AND status != 'failed';

DROP VIEW item_rows;
CREATE VIEW item_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, i.question, i.options,
       i.answer, i."references", i.steps, i.step, i.false_answer, i.rubric, i.context, i.source, i.origin,
       i.weight, i.meta
FROM items i JOIN benchmarks b USING (benchmark_id) WHERE i.current = 1;
"""

# An answer in words, an edit of it, and what was told of its probabilities are forms of one answer: `edits`
# tells them apart, and the key of responses need not change.
_LIKELY = """
ALTER TABLE edits ADD COLUMN probe TEXT NOT NULL DEFAULT '';
ALTER TABLE items ADD COLUMN must TEXT NOT NULL DEFAULT '[]';
ALTER TABLE items ADD COLUMN nice TEXT NOT NULL DEFAULT '[]';

DROP VIEW item_rows;
CREATE VIEW item_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, i.question, i.options,
       i.answer, i."references", i.must, i.nice, i.steps, i.step, i.false_answer, i.rubric, i.context,
       i.source, i.origin, i.weight, i.meta
FROM items i JOIN benchmarks b USING (benchmark_id) WHERE i.current = 1;

DROP VIEW response_rows;
CREATE VIEW response_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, c.candidate, c.role,
       r.repeat, iif(e.probe = '', e.edit, '') AS edit, e.probe, r.status, r.text, r.reasoning,
       r.finish_reason, r.tokens, r.seconds, r.cost, r.error, r.meta
FROM responses r JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) WHERE i.current = 1;

DROP VIEW score_rows;
CREATE VIEW score_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", c.candidate, c.role, r.repeat,
       iif(e.probe = '', e.edit, '') AS edit, m.metric, m.criterion, m.rater, s.pass_no, u.unit, l.ballot,
       s.position, s.value, t.status
FROM scores s JOIN measures m USING (measure_id) JOIN responses r USING (response_id)
     JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) JOIN units u USING (unit_id)
     JOIN ballots l USING (ballot_id) JOIN statuses t USING (status_id) WHERE i.current = 1;
"""

# A record of log-likelihoods is no text. The first format asks for a text wherever the status is ok, and
# SQLite changes no such check: beside a record the text is empty in the table, and null in the view.
_LOGPROBS = """
ALTER TABLE responses ADD COLUMN logprobs TEXT CHECK (logprobs IS NULL OR text IS '');
UPDATE responses SET logprobs = text, text = ''
WHERE text IS NOT NULL AND edit_id IN (SELECT edit_id FROM edits WHERE probe != '');

DROP VIEW response_rows;
CREATE VIEW response_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, c.candidate, c.role,
       r.repeat, iif(e.probe = '', e.edit, '') AS edit, e.probe, r.status,
       iif(r.logprobs IS NULL, r.text, NULL) AS text, r.reasoning, r.finish_reason, r.tokens, r.seconds,
       r.cost, r.error, r.meta, r.logprobs
FROM responses r JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) WHERE i.current = 1;
"""

_SET_ASIDE = "INSERT INTO statuses VALUES (4, 'set_aside');\n"

# `scores`, `details` and `declaration` are unsigned 64-bit numbers, stored as SQLite's signed ones.
_HASHES = """
ALTER TABLE responses ADD COLUMN hash TEXT;

CREATE TABLE score_checksums (
    measure_id   INTEGER NOT NULL REFERENCES measures,
    candidate_id INTEGER NOT NULL REFERENCES candidates,
    rows         INTEGER NOT NULL,
    scores       INTEGER NOT NULL,
    details      INTEGER NOT NULL,
    declaration  INTEGER NOT NULL,
    PRIMARY KEY (measure_id, candidate_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE table_hashes (name TEXT PRIMARY KEY, hash TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""

# Of a benchmark that is read by several specs each has a list. `row` is a number or an id.
_EXCLUSIONS = """
CREATE TABLE exclusion_lists (
    list_id      INTEGER PRIMARY KEY,
    benchmark_id INTEGER NOT NULL REFERENCES benchmarks,
    spec         TEXT NOT NULL,
    signature    TEXT NOT NULL,
    items        INTEGER NOT NULL,
    UNIQUE (benchmark_id, spec)
) STRICT;

CREATE TABLE exclusions (
    exclusion_id INTEGER PRIMARY KEY,
    list_id      INTEGER NOT NULL REFERENCES exclusion_lists,
    file         TEXT NOT NULL,
    "row"        ANY NOT NULL CHECK (typeof("row") IN ('integer', 'text')),
    reason       TEXT NOT NULL
) STRICT;
CREATE INDEX exclusions_of_list ON exclusions (list_id);
"""

# Evidence goes with its score. Many units rest on one passage, whose text stands once, found by its hash.
_EVIDENCE = """
CREATE TABLE passages (
    passage_id INTEGER PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,
    source     TEXT NOT NULL,
    version    TEXT NOT NULL,
    file       TEXT NOT NULL,
    page       INTEGER,
    "offset"   INTEGER,
    quote      TEXT NOT NULL
) STRICT;

CREATE TABLE evidence (
    measure_id  INTEGER NOT NULL,
    response_id INTEGER NOT NULL,
    unit_id     INTEGER NOT NULL,
    ballot_id   INTEGER NOT NULL,
    pass_no     INTEGER NOT NULL,
    place       INTEGER NOT NULL,
    passage_id  INTEGER NOT NULL REFERENCES passages,
    bearing     TEXT NOT NULL CHECK (bearing IN ('supports', 'contradicts', 'shown')),
    PRIMARY KEY (measure_id, response_id, unit_id, ballot_id, pass_no, place),
    FOREIGN KEY (measure_id, response_id, unit_id, ballot_id, pass_no) REFERENCES scores ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_of_passage ON evidence (passage_id);

CREATE VIEW evidence_rows AS
SELECT b.benchmark, i.item, i.variant, c.candidate, r.repeat, iif(e.probe = '', e.edit, '') AS edit,
       m.metric, m.criterion, m.rater, v.pass_no, u.unit, l.ballot, v.place, p.source, p.version, p.file,
       p.page, p."offset", p.quote, v.bearing
FROM evidence v JOIN passages p USING (passage_id) JOIN measures m USING (measure_id)
     JOIN responses r USING (response_id) JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) JOIN units u USING (unit_id)
     JOIN ballots l USING (ballot_id) WHERE i.current = 1;
"""

# A link that signs a person in to the pages of a panel. It is the run's own: no copy, export or merge has it.
_LINKS = """
CREATE TABLE sign_in_links (
    role     TEXT NOT NULL CHECK (role IN ('rater', 'organiser')),
    name     TEXT NOT NULL,
    hash     TEXT NOT NULL UNIQUE,
    drawn_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (role, name)
) STRICT, WITHOUT ROWID;
"""

# Steps of a build in their order, and what became of each part that a step had: a passage or an item, whose
# text stands once, however many steps it goes through.
_BUILD = """
CREATE TABLE build_steps (
    step_id   INTEGER PRIMARY KEY,
    made_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    recipe    TEXT NOT NULL,
    step      TEXT NOT NULL,
    spec      TEXT NOT NULL,
    signature TEXT NOT NULL,
    input     TEXT NOT NULL,
    facts     TEXT NOT NULL,
    UNIQUE (recipe, step)
) STRICT;

CREATE TABLE build_texts (text_id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL) STRICT;

CREATE TABLE build_parts (
    step_id INTEGER NOT NULL REFERENCES build_steps ON DELETE CASCADE,
    place   INTEGER NOT NULL,
    text_id INTEGER NOT NULL REFERENCES build_texts,
    fate    TEXT NOT NULL CHECK (fate IN ('kept', 'dropped', 'failed')),
    reason  TEXT NOT NULL,
    detail  TEXT NOT NULL,
    PRIMARY KEY (step_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX steps_of_text ON build_parts (text_id);
"""

# Messages of a conversation, and the turn that one goes on from.
_CONVERSATIONS = """
ALTER TABLE items ADD COLUMN messages TEXT NOT NULL DEFAULT '[]';
ALTER TABLE items ADD COLUMN follows TEXT;

DROP VIEW item_rows;
CREATE VIEW item_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, i.question, i.messages,
       i.follows, i.options, i.answer, i."references", i.must, i.nice, i.steps, i.step, i.false_answer,
       i.rubric, i.context, i.source, i.origin, i.weight, i.meta
FROM items i JOIN benchmarks b USING (benchmark_id) WHERE i.current = 1;
"""

# What candidates were asked for, whether answers came or not: in words, or by a probe.
_REQUESTS = """
CREATE TABLE requests (
    item_id      INTEGER NOT NULL REFERENCES items,
    candidate_id INTEGER NOT NULL REFERENCES candidates,
    probe        TEXT NOT NULL,
    repeats      INTEGER NOT NULL CHECK (repeats > 0),
    PRIMARY KEY (item_id, candidate_id, probe)
) STRICT, WITHOUT ROWID;
"""

# The parts of an answer in words, made once where it arrives: `final` is null where the text has no thinking,
# and both are null in answers that an older version stored, whose parts are made when they are read.
_PARTS = """
ALTER TABLE responses ADD COLUMN final TEXT;
ALTER TABLE responses ADD COLUMN ending TEXT
    CHECK (ending IS NULL OR ending IN ('complete', 'cut', 'thinking', 'filtered'));

DROP VIEW response_rows;
CREATE VIEW response_rows AS
SELECT b.benchmark, i.item, i.variant, i.alias, i."group", i.category, i.format, c.candidate, c.role,
       r.repeat, iif(e.probe = '', e.edit, '') AS edit, e.probe, r.status,
       iif(r.logprobs IS NULL, r.text, NULL) AS text,
       iif(r.logprobs IS NULL, coalesce(r.final, r.text), NULL) AS final, r.ending, r.reasoning,
       r.finish_reason, r.tokens, r.seconds, r.cost, r.error, r.meta, r.logprobs
FROM responses r JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
     JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) WHERE i.current = 1;
"""

# The groups that a group lies in, outermost first; an older run has one level.
_LEVELS = "ALTER TABLE items ADD COLUMN outer_groups TEXT NOT NULL DEFAULT '[]';\n" + _CONVERSATIONS[
    _CONVERSATIONS.index("DROP VIEW") :].replace('i."group",', 'i."group", i.outer_groups,')  # fmt: skip

MIGRATIONS = (
    *(_FIRST, _STEPS, _CALLS, _JUDGED, _LIKELY, _LOGPROBS, _SET_ASIDE, _HASHES, _EXCLUSIONS),
    *(_EVIDENCE, _LINKS, _BUILD, _CONVERSATIONS, _REQUESTS, _PARTS, _LEVELS),
)
HASHES = 8
"""The format from which responses have hashes and scores have checksums: older files get them once."""
LINKS = 11
"""The format from which a run has links that sign people in."""
